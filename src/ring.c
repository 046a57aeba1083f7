/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.c -- see ring.h.
 */
#include "ring.h"

#include "mem.h"

#include <stdlib.h>

/* A miss is made of a key and one byte more. */
enum { MISS_BYTES = 1 };

void sb_ring_init(struct sb_ring *ring, const struct sb_dataset *data)
{
    size_t key_room_bytes = data->key_bytes + (data->own ? MISS_BYTES : 0);
    size_t slots = SB_RING_SLOTS_MAX;

    while (slots > SB_RING_SLOTS_MIN && (slots * data->value_bytes > SB_RING_BYTES_MAX ||
                                         slots * key_room_bytes > SB_RING_BYTES_MAX))
        slots /= 2;
    *ring = (struct sb_ring){
        .slots = slots,
        .key_bytes = data->key_bytes,
        .value_bytes = data->value_bytes,
        .own_keys = data->own != NULL,
        .own_values = data->own_values,
        .ids = sb_alloc(slots, sizeof(uint64_t)),
        .seeds = sb_alloc(slots, sizeof(uint64_t)),
        .keys = sb_alloc(slots, sizeof(struct sb_slice)),
        .values = sb_alloc(slots, sizeof(struct sb_slice)),
        .key_room = sb_alloc(slots, key_room_bytes),
        .key_room_bytes = key_room_bytes,
        .value_room = sb_alloc(slots, data->value_bytes),
        .ops = sb_alloc(slots, 1),
        .copy = sb_alloc(1, data->value_bytes),
    };
}

void sb_ring_release(struct sb_ring *ring)
{
    free(ring->ids);
    free(ring->seeds);
    free(ring->keys);
    free(ring->values);
    free(ring->key_room);
    free(ring->value_room);
    free(ring->ops);
    free(ring->copy);
    *ring = (struct sb_ring){0};
}

static void set_key(struct sb_ring *ring, size_t slot, const struct sb_dataset *data, uint64_t id)
{
    ring->ids[slot] = id;
    ring->keys[slot] = sb_dataset_key(data, id, sb_ring_key_room(ring, slot));
}

void sb_ring_set_read(struct sb_ring *ring, size_t slot, const struct sb_dataset *data, uint64_t id)
{
    set_key(ring, slot, data, id);
    if (ring->own_values)
        ring->values[slot] = sb_dataset_value(data, id, 0, NULL);
    ring->seeds[slot] = sb_dataset_value_seed(data, id);
}

void sb_ring_set_write(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                       uint64_t id, uint64_t version)
{
    set_key(ring, slot, data, id);
    ring->ops[slot] = SB_OP_PUT;
    ring->values[slot] =
        sb_dataset_value(data, id, version, ring->value_room + slot * ring->value_bytes);
}

void sb_ring_set_delete(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                        uint64_t id)
{
    set_key(ring, slot, data, id);
    ring->ops[slot] = SB_OP_DELETE;
}

/* Letters follow digits: "0000000000000123" is missed as "000000000000012d". A user's key is missed
 * as itself and one byte more; of the 256 such keys one that is not in the file is taken. */
void sb_ring_set_miss(struct sb_ring *ring, size_t slot, const struct sb_dataset *data, uint64_t id)
{
    char *room = sb_ring_key_room(ring, slot);
    struct sb_slice key;
    uint64_t found;

    set_key(ring, slot, data, id);
    if (!ring->own_keys) {
        room[ring->key_bytes - 1] = (char)(room[ring->key_bytes - 1] - '0' + 'a');
        return;
    }
    key = ring->keys[slot];
    memcpy(room, key.data, key.size_bytes);
    for (int last = 0; last < 256; last++) {
        room[key.size_bytes] = (char)last;
        ring->keys[slot] = (struct sb_slice){room, key.size_bytes + 1};
        if (!sb_dataset_find(data, ring->keys[slot], &found))
            return;
    }
}
