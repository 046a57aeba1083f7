/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dataset.h -- which records a store holds at a point of a chain, in O(1) memory.
 *
 * A chain fills the store with keys 0..records-1 at version 0 and may then overwrite keys in the
 * order of a permutation, going round as often as needed: the version of a key is the number of
 * times the overwrites have reached it. Last it may delete keys, in the order of another
 * permutation: the keys left are the tail of that order.
 */
#ifndef SB_DATASET_H
#define SB_DATASET_H

#include "data.h"
#include "digest.h"
#include "keyfile.h"
#include "params.h"
#include "permutation.h"

struct sb_dataset {
    uint64_t seed;
    uint64_t records;              /* keys in the store before any are deleted */
    size_t key_bytes, value_bytes; /* of every key and value; the largest of a user's own */
    const struct sb_keyfile *own;  /* a user's own keys, in byte order; NULL: keys by formula */
    bool own_values;               /* the values are the user's too: every version is the same */
    struct sb_permutation fill_order;
    struct sb_permutation overwrite_order;
    uint64_t overwrites; /* puts done in overwrite_order so far */
    struct sb_permutation delete_order;
    uint64_t deletes; /* keys deleted, from the start of delete_order */
};

/* `own` may be NULL; else it must outlive the data set and have params->records records or more,
 * of which the first ones are taken. */
void sb_dataset_init(struct sb_dataset *data, const struct sb_params *params, uint64_t seed,
                     const struct sb_keyfile *own);

/* The key, and the value of that version: written into the room given (key_bytes and value_bytes),
 * or in the mapping of the user's file. */
struct sb_slice sb_dataset_key(const struct sb_dataset *data, uint64_t id, void *room);
struct sb_slice sb_dataset_value(const struct sb_dataset *data, uint64_t id, uint64_t version,
                                 void *room);

/* The number of a key that a store returned. False if it is none of the data set's. */
bool sb_dataset_find(const struct sb_dataset *data, struct sb_slice key, uint64_t *idp);

/* The version of key `id` once `overwrites` puts were made. */
static inline uint64_t sb_dataset_version(const struct sb_dataset *data, uint64_t id)
{
    uint64_t turns = data->overwrites / data->records;

    if (!data->overwrites)
        return 0;
    return turns + (sb_permutation_index(&data->overwrite_order, id) <
                    data->overwrites - turns * data->records);
}

/* What the measured loop compares a value with: its start word, or the signature of a user's own.
 */
uint64_t sb_dataset_own_signature(const struct sb_dataset *data, uint64_t id);

static inline uint64_t sb_dataset_value_seed(const struct sb_dataset *data, uint64_t id)
{
    if (data->own_values)
        return sb_dataset_own_signature(data, id);
    return sb_value_seed(data->seed, id, sb_dataset_version(data, id));
}

/* Keys that are in the store. */
static inline uint64_t sb_dataset_live(const struct sb_dataset *data)
{
    return data->records - data->deletes;
}

static inline bool sb_dataset_is_live(const struct sb_dataset *data, uint64_t id)
{
    return !data->deletes || sb_permutation_index(&data->delete_order, id) >= data->deletes;
}

/* Live key number `index` of some fixed order; index < sb_dataset_live. */
static inline uint64_t sb_dataset_live_at(const struct sb_dataset *data, uint64_t index)
{
    return data->deletes ? sb_permutation_at(&data->delete_order, data->deletes + index) : index;
}

/* The digest that a store with these records must have. Time grows with the records. */
void sb_dataset_digest(const struct sb_dataset *data, struct sb_digest *digest);

#endif
