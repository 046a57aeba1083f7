/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dataset.c -- see dataset.h.
 */
#include "dataset.h"

#include "mem.h"

#include <stdlib.h>

/* Seeds of the orders differ, or reads and overwrites would follow the order of the load. */
enum { FILL_ORDER = 1, OVERWRITE_ORDER = 2, DELETE_ORDER = 3 };

void sb_dataset_init(struct sb_dataset *data, const struct sb_params *params, uint64_t seed)
{
    *data = (struct sb_dataset){
        .seed = seed,
        .records = params->records,
        .key_bytes = params->key_bytes,
        .value_bytes = params->value_bytes,
    };
    sb_permutation_init(&data->fill_order, data->records, sb_mix64(seed + FILL_ORDER));
    sb_permutation_init(&data->overwrite_order, data->records, sb_mix64(seed + OVERWRITE_ORDER));
    sb_permutation_init(&data->delete_order, data->records, sb_mix64(seed + DELETE_ORDER));
}

void sb_dataset_digest(const struct sb_dataset *data, struct sb_digest *digest)
{
    char *key = sb_alloc(1, data->key_bytes);
    char *value = sb_alloc(1, data->value_bytes);

    *digest = (struct sb_digest){0};
    for (uint64_t id = 0; id < data->records; id++) {
        if (!sb_dataset_is_live(data, id))
            continue;
        sb_key_write(key, data->key_bytes, id);
        sb_value_write(value, data->value_bytes, sb_dataset_value_seed(data, id));
        sb_digest_add(digest, key, data->key_bytes, value, data->value_bytes);
    }
    free(key);
    free(value);
}
