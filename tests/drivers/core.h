/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * core.h -- the correct store under the misbehaving drivers of this folder: records in a sorted
 * array in memory. Nothing here ever goes wrong on purpose; the drivers break one thing each on top
 * of it.
 */
#ifndef SB_TEST_CORE_H
#define SB_TEST_CORE_H

#include "../../drivers/driver.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct core_record {
    bool marked; /* the driver's own: this is the record that comes out wrong */
    size_t key_bytes, value_bytes;
    unsigned char bytes[]; /* the key, then the value */
};

/* In byte order of the keys. */
struct core {
    struct core_record **records;
    size_t count, capacity;
};

static inline struct sb_slice core_key(const struct core_record *record)
{
    return (struct sb_slice){record->bytes, record->key_bytes};
}

static inline struct sb_slice core_value(const struct core_record *record)
{
    return (struct sb_slice){record->bytes + record->key_bytes, record->value_bytes};
}

static inline int core_compare(struct sb_slice a, struct sb_slice b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    if (order)
        return order;
    return a.size_bytes < b.size_bytes ? -1 : a.size_bytes > b.size_bytes;
}

/* Index of the first record whose key is not below `key`; *foundp tells whether it is that key. */
static inline size_t core_find(const struct core *core, struct sb_slice key, bool *foundp)
{
    size_t low = 0, high = core->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (core_compare(core_key(core->records[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *foundp = low < core->count && core_compare(core_key(core->records[low]), key) == 0;
    return low;
}

/* False when there is no memory: nothing has changed then. */
static inline bool core_put(struct core *core, struct sb_slice key, struct sb_slice value)
{
    struct core_record *record = malloc(sizeof(*record) + key.size_bytes + value.size_bytes);
    bool found;
    size_t at = core_find(core, key, &found);

    if (record && !found && core->count == core->capacity) {
        size_t capacity = core->capacity ? core->capacity * 2 : 64;
        struct core_record **grown =
            realloc(core->records, capacity * sizeof(struct core_record *));

        if (grown) {
            core->records = grown;
            core->capacity = capacity;
        }
    }
    if (!record || (!found && core->count == core->capacity)) {
        free(record);
        return false;
    }
    *record = (struct core_record){.key_bytes = key.size_bytes, .value_bytes = value.size_bytes};
    if (key.size_bytes)
        memcpy(record->bytes, key.data, key.size_bytes);
    if (value.size_bytes)
        memcpy(record->bytes + key.size_bytes, value.data, value.size_bytes);
    if (found) {
        free(core->records[at]);
    } else {
        memmove(core->records + at + 1, core->records + at,
                (core->count - at) * sizeof(struct core_record *));
        core->count++;
    }
    core->records[at] = record;
    return true;
}

static inline bool core_delete(struct core *core, struct sb_slice key)
{
    bool found;
    size_t at = core_find(core, key, &found);

    if (!found)
        return false;
    free(core->records[at]);
    core->count--;
    memmove(core->records + at, core->records + at + 1,
            (core->count - at) * sizeof(struct core_record *));
    return true;
}

static inline void core_release(struct core *core)
{
    for (size_t i = 0; i < core->count; i++)
        free(core->records[i]);
    free(core->records);
    *core = (struct core){.count = 0};
}

#endif
