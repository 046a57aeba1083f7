/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.h -- a small block of prepared operations: keys, expected values, values to write. It is
 * filled outside the clock and used up inside it, and small enough to stay in the near caches.
 */
#ifndef SB_RING_H
#define SB_RING_H

#include "../drivers/driver.h"
#include "dataset.h"

enum {
    SB_RING_SLOTS_MAX = 1024, /* 24 KiB of 16-byte keys and seeds */
    SB_RING_SLOTS_MIN = 16,
    SB_RING_BYTES_MAX = 256 * 1024, /* of keys, and of values: a quarter of a second-level cache */
};

/* What a slot does in a span that mixes operations. */
enum sb_op { SB_OP_PUT, SB_OP_DELETE };

struct sb_ring {
    size_t slots;
    size_t key_bytes, value_bytes; /* of every key and value; the largest of a user's own */
    bool own_keys, own_values;     /* keys, or keys and values, of a user's file: sizes vary */
    uint64_t *ids;
    uint64_t *seeds;         /* start words of the values: expected by reads, found by scans */
    struct sb_slice *keys;   /* of each slot; into key_room, or into the user's file */
    struct sb_slice *values; /* likewise */
    char *key_room;          /* slots * key_room_bytes */
    size_t key_room_bytes;
    char *value_room;   /* slots * value_bytes */
    unsigned char *ops; /* enum sb_op; mixed spans only */
    char *copy;         /* value_bytes: where `--read=copy` copies to */
};

void sb_ring_init(struct sb_ring *ring, const struct sb_dataset *data);
void sb_ring_release(struct sb_ring *ring);

/* Prepares slot `slot` for key `id`; for a write also the value of `version`; for a miss a key that
 * sorts right behind that of `id` and is in no data set. */
void sb_ring_set_read(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                      uint64_t id);
void sb_ring_set_write(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                       uint64_t id, uint64_t version);
void sb_ring_set_delete(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                        uint64_t id);
void sb_ring_set_miss(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                      uint64_t id);

/* Where a scan keeps the key of a slot. */
static inline char *sb_ring_key_room(const struct sb_ring *ring, size_t slot)
{
    return ring->key_room + slot * ring->key_room_bytes;
}

#endif
