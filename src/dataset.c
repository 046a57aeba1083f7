/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dataset.c -- see dataset.h.
 */
#include "dataset.h"

#include "mem.h"

#include <stdlib.h>

/* Seeds of the orders differ, or reads and overwrites would follow the order of the load. */
enum { FILL_ORDER = 1, OVERWRITE_ORDER = 2, DELETE_ORDER = 3 };

void sb_dataset_init(struct sb_dataset *data, const struct sb_params *params, uint64_t seed,
                     const struct sb_keyfile *own)
{
    *data = (struct sb_dataset){
        .seed = seed,
        .records = params->records,
        .key_bytes = params->key_bytes,
        .value_bytes = params->value_bytes,
        .own = own,
        .own_values = own && own->header->has_values,
    };
    sb_permutation_init(&data->fill_order, data->records, sb_mix64(seed + FILL_ORDER));
    sb_permutation_init(&data->overwrite_order, data->records, sb_mix64(seed + OVERWRITE_ORDER));
    sb_permutation_init(&data->delete_order, data->records, sb_mix64(seed + DELETE_ORDER));
}

struct sb_slice sb_dataset_key(const struct sb_dataset *data, uint64_t id, void *room)
{
    if (data->own)
        return sb_keyfile_record(data->own, id, NULL);
    sb_key_write(room, data->key_bytes, id);
    return (struct sb_slice){room, data->key_bytes};
}

struct sb_slice sb_dataset_value(const struct sb_dataset *data, uint64_t id, uint64_t version,
                                 void *room)
{
    struct sb_slice value;

    if (data->own_values) {
        (void)sb_keyfile_record(data->own, id, &value);
        return value;
    }
    sb_value_write(room, data->value_bytes, sb_value_seed(data->seed, id, version));
    return (struct sb_slice){room, data->value_bytes};
}

bool sb_dataset_find(const struct sb_dataset *data, struct sb_slice key, uint64_t *idp)
{
    if (data->own)
        return sb_keyfile_find(data->own, key, idp) && *idp < data->records;
    return key.size_bytes == data->key_bytes && sb_key_read(key.data, key.size_bytes, idp) &&
           *idp < data->records;
}

uint64_t sb_dataset_own_signature(const struct sb_dataset *data, uint64_t id)
{
    struct sb_slice value;

    (void)sb_keyfile_record(data->own, id, &value);
    return sb_value_signature(value.data, value.size_bytes);
}

void sb_dataset_digest(const struct sb_dataset *data, struct sb_digest *digest)
{
    char *key_room = sb_alloc(1, data->key_bytes);
    char *value_room = sb_alloc(1, data->value_bytes);

    *digest = (struct sb_digest){0};
    for (uint64_t id = 0; id < data->records; id++) {
        struct sb_slice key, value;

        if (!sb_dataset_is_live(data, id))
            continue;
        key = sb_dataset_key(data, id, key_room);
        value = sb_dataset_value(data, id, sb_dataset_version(data, id), value_room);
        sb_digest_add(digest, key.data, key.size_bytes, value.data, value.size_bytes);
    }
    free(key_room);
    free(value_room);
}
