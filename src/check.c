/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check.c -- see check.h.
 */
#include "check.h"

#include <inttypes.h>

static int corrupt(const char *what, uint64_t id, size_t at, size_t of)
{
    return sb_error_set(SB_ERR_CORRUPT, 0, "wrong data: key %" PRIu64 " %s (byte %zu of %zu)", id,
                        what, at, of);
}

/* Bytes at the start that are the same. */
static size_t same_bytes(struct sb_slice a, struct sb_slice b)
{
    const char *x = a.data, *y = b.data;
    size_t same = 0;

    while (same < a.size_bytes && x[same] == y[same])
        same++;
    return same;
}

/* Reads one slot again. 0 if it is right this time. */
static int explain_slot(struct sb_span *span, size_t slot)
{
    const struct sb_ring *ring = span->ring;
    struct sb_slice value = {NULL, 0};
    size_t good, expected_bytes;
    int rc = sb_store_get(span->handle, span->session, ring->keys[slot], &value);

    if (rc == SB_NOTFOUND)
        return sb_error_set(SB_ERR_CORRUPT, 0, "missing data: key %" PRIu64 " is not found",
                            ring->ids[slot]);
    if (rc)
        return rc;
    expected_bytes = ring->own_values ? ring->values[slot].size_bytes : ring->value_bytes;
    if (value.size_bytes != expected_bytes)
        return sb_error_set(SB_ERR_CORRUPT, 0,
                            "wrong data: key %" PRIu64 " has a value of %zu bytes, not %zu",
                            ring->ids[slot], value.size_bytes, expected_bytes);
    good = ring->own_values ? same_bytes(value, ring->values[slot])
                            : sb_value_check(value.data, value.size_bytes, ring->seeds[slot]);
    if (good == value.size_bytes)
        return 0;
    return corrupt(good ? "has a torn value" : "has another value than was put", ring->ids[slot],
                   good, value.size_bytes);
}

int sb_check_explain(struct sb_span *span)
{
    int rc = 0;

    if (!span->in_batch)
        rc = sb_store_begin(span->handle, span->session, SB_READ);
    for (size_t slot = 0; slot < span->count && !rc; slot++)
        rc = explain_slot(span, slot);
    if (!rc)
        (void)sb_error_set(SB_ERR_CORRUPT, 0,
                           "wrong data: %" PRIu64 " missing and %" PRIu64
                           " wrong values in a span, which are right when read again",
                           span->missing, span->wrong);
    return SB_ERR_CORRUPT;
}

static bool same_start(uint64_t found, uint64_t expected, size_t value_bytes)
{
    if (value_bytes >= sizeof(found))
        return found == expected;
    return memcmp(&found, &expected, value_bytes) == 0;
}

int sb_check_explain_miss(struct sb_span *span)
{
    for (size_t slot = 0; slot < span->done; slot++) {
        struct sb_slice value = {NULL, 0};
        const struct sb_slice key = span->ring->keys[slot];
        int rc = span->in_batch ? 0 : sb_store_begin(span->handle, span->session, SB_READ);

        if (!rc)
            rc = sb_store_get(span->handle, span->session, key, &value);
        if (!span->in_batch)
            (void)sb_store_commit(span->handle, span->session, SB_READ);
        if (rc == 0)
            return sb_error_set(SB_ERR_CORRUPT, 0,
                                "wrong data: key '%.*s' is found but was never put",
                                (int)key.size_bytes, (const char *)key.data);
    }
    return sb_error_set(SB_ERR_CORRUPT, 0, "wrong data: a key that was never put was found once");
}

int sb_check_scan(struct sb_scan_check *check, const struct sb_span *span,
                  const struct sb_dataset *data)
{
    const struct sb_ring *ring = span->ring;

    for (size_t slot = 0; slot < span->done; slot++) {
        uint64_t id;

        if (!sb_dataset_find(data, ring->keys[slot], &id) || !sb_dataset_is_live(data, id))
            return sb_error_set(SB_ERR_CORRUPT, 0,
                                "wrong data: record %" PRIu64 " of a scan should not be there",
                                check->records);
        if (check->ordered && check->started && id <= check->previous_id)
            return sb_error_set(SB_ERR_CORRUPT, 0,
                                "disorder: key %" PRIu64 " comes after key %" PRIu64, id,
                                check->previous_id);
        if (!span->keys_alone && !same_start(ring->seeds[slot], sb_dataset_value_seed(data, id),
                                             ring->own_values ? 8 : ring->value_bytes))
            return corrupt("has another value than was put", id, 0, ring->value_bytes);
        check->started = true;
        check->previous_id = id;
        check->records++;
        check->id_sum += sb_mix64(id + 1);
    }
    if (span->wrong)
        return sb_error_set(SB_ERR_CORRUPT, 0,
                            "wrong data: %" PRIu64 " torn values before record %" PRIu64
                            " of a scan",
                            span->wrong, check->records);
    return 0;
}

int sb_check_scan_end(const struct sb_scan_check *check, const struct sb_dataset *data)
{
    uint64_t live = sb_dataset_live(data);
    uint64_t sum = 0;

    if (check->records != live)
        return sb_error_set(SB_ERR_CORRUPT, 0,
                            "%s data: a scan found %" PRIu64 " records of %" PRIu64,
                            check->records < live ? "missing" : "wrong", check->records, live);
    if (check->ordered)
        return 0; /* strictly ascending and complete */
    for (uint64_t id = 0; id < data->records; id++)
        if (sb_dataset_is_live(data, id))
            sum += sb_mix64(id + 1);
    if (sum != check->id_sum)
        return sb_error_set(SB_ERR_CORRUPT, 0,
                            "wrong data: a scan found some records twice and others not at all");
    return 0;
}
