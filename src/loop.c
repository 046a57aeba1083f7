/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loop.c -- see loop.h. Every loop is the same few lines around another operation; the operation is
 * a constant where they are inlined, so that each loop is compiled for itself.
 */
#include "loop.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum operation { PUT, APPEND, DELETE, MIXED, GET, GET_COPY, GET_OWN, MISS };

/* ---- one operation ------------------------------------------------------------------------ */

ALWAYS_INLINE int delete_one(struct sb_span *span, size_t slot)
{
    int rc = sb_store_del(span->handle, span->session, span->ring->keys[slot]);

    span->missing += rc == SB_NOTFOUND;
    return rc < 0 ? rc : 0;
}

ALWAYS_INLINE int put_one(struct sb_span *span, size_t slot)
{
    return sb_store_put(span->handle, span->session, span->ring->keys[slot],
                        span->ring->values[slot]);
}

ALWAYS_INLINE int get_one(struct sb_span *span, size_t slot, bool copy)
{
    const struct sb_ring *ring = span->ring;
    struct sb_slice value = {NULL, 0};
    const void *bytes;
    int rc = sb_store_get(span->handle, span->session, ring->keys[slot], &value);

    if (SB_UNLIKELY(rc)) {
        span->missing += rc == SB_NOTFOUND;
        return rc < 0 ? rc : 0;
    }
    if (SB_UNLIKELY(value.size_bytes != ring->value_bytes)) {
        span->wrong++;
        return 0;
    }
    bytes = value.data;
    if (copy)
        bytes = memcpy(ring->copy, value.data, ring->value_bytes);
    span->wrong += sb_value_touch(bytes, ring->value_bytes, ring->seeds[slot]) != 0;
    return 0;
}

/* The value is a user's own: it follows no formula. */
ALWAYS_INLINE int get_own(struct sb_span *span, size_t slot)
{
    const struct sb_ring *ring = span->ring;
    struct sb_slice value = {NULL, 0};
    int rc = sb_store_get(span->handle, span->session, ring->keys[slot], &value);

    if (SB_UNLIKELY(rc)) {
        span->missing += rc == SB_NOTFOUND;
        return rc < 0 ? rc : 0;
    }
    if (SB_UNLIKELY(value.size_bytes != ring->values[slot].size_bytes)) {
        span->wrong++;
        return 0;
    }
    if (span->copy)
        value.data = memcpy(ring->copy, value.data, value.size_bytes);
    span->wrong += sb_value_signature(value.data, value.size_bytes) != ring->seeds[slot];
    return 0;
}

ALWAYS_INLINE int miss_one(struct sb_span *span, size_t slot)
{
    struct sb_slice value = {NULL, 0};
    int rc = sb_store_get(span->handle, span->session, span->ring->keys[slot], &value);

    span->wrong += rc == 0;
    return rc < 0 ? rc : 0;
}

ALWAYS_INLINE int do_one(struct sb_span *span, size_t slot, enum operation operation)
{
    switch (operation) {
    case PUT:
        return put_one(span, slot);
    case APPEND:
        return sb_store_append(span->handle, span->session, span->ring->keys[slot],
                               span->ring->values[slot]);
    case DELETE:
        return delete_one(span, slot);
    case MIXED:
        return span->ring->ops[slot] == SB_OP_PUT ? put_one(span, slot) : delete_one(span, slot);
    case GET:
        return get_one(span, slot, false);
    case GET_COPY:
        return get_one(span, slot, true);
    case GET_OWN:
        return get_own(span, slot);
    default:
        return miss_one(span, slot);
    }
}

/* ---- brackets ----------------------------------------------------------------------------- */

/* Slots up to the end of the span or of the bracket, whichever comes first. */
ALWAYS_INLINE size_t stretch(const struct sb_span *span, size_t done)
{
    uint64_t left_in_batch = span->batch - span->in_batch;
    size_t left = span->count - done;

    return left_in_batch < left ? (size_t)left_in_batch : left;
}

ALWAYS_INLINE int close_bracket(struct sb_span *span, enum sb_txn kind)
{
    span->in_batch = 0;
    span->commits++;
    return sb_store_commit(span->handle, span->session, kind);
}

/* How operations are stamped; a constant where this is inlined. The commit belongs to the last
 * operation of its bracket, the begin to the first. */
enum stamping { NO_STAMPS, STAMP_OPS, STAMP_COMMITS };

ALWAYS_INLINE int use_slots(struct sb_span *span, enum operation operation, enum stamping stamping)
{
    enum sb_txn kind = operation >= GET ? SB_READ : SB_WRITE;
    struct sb_recorder *recorder = span->recorder;
    const uint64_t *ids = span->ring->ids;
    size_t i = 0;
    int rc = 0;

    span->done = 0;
    span->missing = span->wrong = 0;
    if (stamping != NO_STAMPS)
        sb_recorder_start(recorder);
    while (i < span->count) {
        size_t end = i + stretch(span, i);
        bool closes;

        if (!span->in_batch)
            rc = sb_store_begin(span->handle, span->session, kind);
        if (SB_UNLIKELY(rc))
            return rc;
        span->in_batch += end - i;
        closes = span->in_batch == span->batch;
        for (; i < end; i++) {
            rc = do_one(span, i, operation);
            if (SB_UNLIKELY(rc))
                return rc;
            if (stamping == STAMP_OPS && !(closes && i + 1 == end))
                sb_recorder_stamp(recorder, i, ids[i]);
        }
        if (closes)
            rc = close_bracket(span, kind);
        if (SB_UNLIKELY(rc))
            return rc;
        if (stamping != NO_STAMPS && closes)
            sb_recorder_stamp(recorder, end - 1, ids[end - 1]);
        span->done = i;
    }
    if (stamping == STAMP_COMMITS && span->in_batch)
        sb_recorder_carry(recorder);
    return 0;
}

ALWAYS_INLINE int use(struct sb_span *span, enum operation operation)
{
    if (!span->recorder)
        return use_slots(span, operation, NO_STAMPS);
    if (span->recorder->per_commit)
        return use_slots(span, operation, STAMP_COMMITS);
    return use_slots(span, operation, STAMP_OPS);
}

int sb_span_put(struct sb_span *span)
{
    return use(span, PUT);
}

int sb_span_append(struct sb_span *span)
{
    return use(span, APPEND);
}

int sb_span_delete(struct sb_span *span)
{
    return use(span, DELETE);
}

int sb_span_mixed(struct sb_span *span)
{
    return use(span, MIXED);
}

int sb_span_get(struct sb_span *span)
{
    if (span->ring->own_values)
        return use(span, GET_OWN);
    return span->copy ? use(span, GET_COPY) : use(span, GET);
}

int sb_span_miss(struct sb_span *span)
{
    return use(span, MISS);
}

int sb_span_finish(struct sb_span *span, enum sb_txn kind)
{
    bool open = span->in_batch != 0;

    span->in_batch = 0;
    return open ? sb_store_commit(span->handle, span->session, kind) : 0;
}

/* ---- scans -------------------------------------------------------------------------------- */

ALWAYS_INLINE void keep_key(struct sb_span *span, size_t slot, struct sb_slice key)
{
    struct sb_ring *ring = span->ring;
    char *kept = sb_ring_key_room(ring, slot);

    ring->keys[slot] = (struct sb_slice){kept, key.size_bytes};
    if (ring->key_bytes == 16 && key.size_bytes == 16) {
        memcpy(kept, key.data, 16); /* a constant size is two moves */
    } else if (key.size_bytes <= ring->key_bytes) {
        memcpy(kept, key.data, key.size_bytes);
    } else { /* none of ours: the check after the span sees it */
        span->wrong++;
        ring->keys[slot].size_bytes = 0;
    }
}

/* Keeps what tells whose value it is, and checks its lines against its own first word. */
ALWAYS_INLINE void keep_value(struct sb_span *span, size_t slot, struct sb_slice value)
{
    struct sb_ring *ring = span->ring;
    const void *bytes = value.data;
    uint64_t first = 0;

    if (ring->own_values) { /* compared after the span, when it is known whose it is */
        ring->values[slot].size_bytes = value.size_bytes;
        ring->seeds[slot] = sb_value_signature(value.data, value.size_bytes);
        return;
    }
    if (SB_UNLIKELY(value.size_bytes != ring->value_bytes)) {
        span->wrong++;
        ring->seeds[slot] = 0;
        return;
    }
    if (span->copy && ring->value_bytes)
        bytes = memcpy(ring->copy, value.data, ring->value_bytes);
    if (ring->value_bytes >= sizeof(first))
        first = sb_load64(bytes);
    else if (ring->value_bytes)
        memcpy(&first, bytes, ring->value_bytes);
    ring->seeds[slot] = first;
    span->wrong += sb_value_touch(bytes, ring->value_bytes, first) != 0;
}

ALWAYS_INLINE int scan_slots(struct sb_span *span, bool keys_alone, bool stamped)
{
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};

    span->done = 0;
    span->missing = span->wrong = 0;
    if (stamped)
        sb_recorder_start(span->recorder);
    for (size_t i = 0; i < span->count; i++) {
        int rc = sb_store_cursor_next(span->handle, span->cursor, &key, keys_alone ? NULL : &value);

        if (SB_UNLIKELY(rc))
            return rc;
        keep_key(span, i, key);
        if (!keys_alone)
            keep_value(span, i, value);
        if (stamped)
            sb_recorder_stamp(span->recorder, i, span->recorder->op_base + i);
        span->done = i + 1;
    }
    return 0;
}

int sb_span_scan(struct sb_span *span)
{
    if (span->recorder)
        return span->keys_alone ? scan_slots(span, true, true) : scan_slots(span, false, true);
    return span->keys_alone ? scan_slots(span, true, false) : scan_slots(span, false, false);
}
