/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loop.h -- the measured loops: what runs between two readings of the clock.
 *
 * A span uses up prepared slots of a ring. It calls the store, touches or copies what the store
 * returns, and counts; it allocates nothing, logs nothing, takes no lock and reads no clock. What
 * is wrong with a returned value is worked out after the span.
 */
#ifndef SB_LOOP_H
#define SB_LOOP_H

#include "recorder.h"
#include "ring.h"
#include "store.h"

struct sb_span {
    struct sb_store_handle *handle;
    struct sb_session *session;
    struct sb_cursor *cursor; /* scans only */
    struct sb_ring *ring;
    size_t count;                 /* slots to use, from the first */
    uint64_t batch;               /* operations of a bracket (see store.h) */
    bool copy;                    /* reads copy the value out before it is checked */
    bool keys_alone;              /* scans do not ask for values */
    struct sb_recorder *recorder; /* latency mode; NULL otherwise */

    /* Kept from span to span. */
    uint64_t in_batch; /* operations since the bracket was opened */
    uint64_t commits;  /* brackets of `batch` operations */

    /* Of this span alone. */
    size_t done; /* operations finished; less than `count` after an error or the end of a scan */
    uint64_t missing; /* keys that were not found where they should be */
    uint64_t wrong;   /* values or keys of another size or content than expected; keys that were
                         found where none should be */
};

/* Each returns 0, SB_NOTFOUND at the end of a scan, or a driver's negative code. All but the scan
 * open a bracket before the first of `batch` operations and commit it after the last. */

int sb_span_put(struct sb_span *span);
int sb_span_append(struct sb_span *span); /* puts through the driver's append-only path */
int sb_span_delete(struct sb_span *span);
int sb_span_mixed(struct sb_span *span); /* what ring->ops says */
int sb_span_get(struct sb_span *span);
int sb_span_miss(struct sb_span *span); /* gets of keys that are not there */

/* Moves the cursor once a slot and keeps each record's key and first word in the ring. */
int sb_span_scan(struct sb_span *span);

/* Closes a bracket that is still open; it does not count as a commit, since it is not a full one.
 */
int sb_span_finish(struct sb_span *span, enum sb_txn kind);

#endif
