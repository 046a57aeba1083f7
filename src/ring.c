/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ring.c -- see ring.h.
 */
#include "ring.h"

#include "mem.h"

#include <stdlib.h>

void sb_ring_init(struct sb_ring *ring, size_t key_bytes, size_t value_bytes)
{
    size_t slots = SB_RING_SLOTS_MAX;

    while (slots > SB_RING_SLOTS_MIN && slots * value_bytes > SB_RING_VALUE_BYTES_MAX)
        slots /= 2;
    *ring = (struct sb_ring){
        .slots = slots,
        .key_bytes = key_bytes,
        .value_bytes = value_bytes,
        .ids = sb_alloc(slots, sizeof(uint64_t)),
        .seeds = sb_alloc(slots, sizeof(uint64_t)),
        .keys = sb_alloc(slots, sizeof(struct sb_slice)),
        .key_room = sb_alloc(slots, key_bytes),
        .values = sb_alloc(slots, value_bytes),
        .ops = sb_alloc(slots, 1),
        .copy = sb_alloc(1, value_bytes),
    };
    for (size_t slot = 0; slot < slots; slot++)
        ring->keys[slot] = (struct sb_slice){sb_ring_key_room(ring, slot), key_bytes};
}

void sb_ring_release(struct sb_ring *ring)
{
    free(ring->ids);
    free(ring->seeds);
    free(ring->keys);
    free(ring->key_room);
    free(ring->values);
    free(ring->ops);
    free(ring->copy);
    *ring = (struct sb_ring){0};
}

static void set_key(struct sb_ring *ring, size_t slot, uint64_t id)
{
    ring->ids[slot] = id;
    sb_key_write(sb_ring_key_room(ring, slot), ring->key_bytes, id);
}

void sb_ring_set_read(struct sb_ring *ring, size_t slot, const struct sb_dataset *data, uint64_t id)
{
    ring->seeds[slot] = sb_dataset_value_seed(data, id);
    set_key(ring, slot, id);
}

void sb_ring_set_write(struct sb_ring *ring, size_t slot, const struct sb_dataset *data,
                       uint64_t id, uint64_t version)
{
    uint64_t seed = sb_value_seed(data->seed, id, version);

    ring->seeds[slot] = seed;
    ring->ops[slot] = SB_OP_PUT;
    set_key(ring, slot, id);
    sb_value_write(ring->values + slot * ring->value_bytes, ring->value_bytes, seed);
}

void sb_ring_set_delete(struct sb_ring *ring, size_t slot, uint64_t id)
{
    ring->ops[slot] = SB_OP_DELETE;
    set_key(ring, slot, id);
}

/* Letters follow digits: "0000000000000123" is missed as "000000000000012d". */
void sb_ring_set_miss(struct sb_ring *ring, size_t slot, uint64_t id)
{
    char *last = sb_ring_key_room(ring, slot) + ring->key_bytes - 1;

    set_key(ring, slot, id);
    *last = (char)(*last - '0' + 'a');
}
