/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * model.c -- what a store must hold, kept by the test itself: one version number a record.
 */
#include "conformance.h"

#include "../../src/mem.h"

#include <stdlib.h>
#include <string.h>

struct model model_new(struct test *t, uint64_t count, bool varied)
{
    return (struct model){
        .count = count,
        .seed = sb_mix64(t->seed),
        .varied = varied,
        .versions = sb_alloc(count, sizeof(uint32_t)),
    };
}

struct model model_copy(const struct model *model)
{
    struct model copy = *model;

    copy.versions = sb_alloc(model->count, sizeof(uint32_t));
    memcpy(copy.versions, model->versions, model->count * sizeof(uint32_t));
    return copy;
}

void model_free(struct model *model)
{
    free(model->versions);
    model->versions = NULL;
}

/* Mostly small, now and then several pages. */
size_t model_value_bytes(const struct model *model, uint64_t id, uint32_t version)
{
    uint64_t random = sb_mix64(model->seed ^ sb_mix64(id * SB_GOLDEN + version));

    if (!model->varied)
        return LOAD_VALUE_BYTES;
    return random % 32 ? (random >> 8) % 300 : (random >> 8) % MODEL_VALUE_BYTES_MAX;
}

struct sb_slice model_key(const struct test *t, uint64_t id, struct key_buffer *buffer)
{
    sb_key_write(buffer->bytes, t->key_bytes, id);
    return slice_of(buffer->bytes, t->key_bytes);
}

struct sb_slice model_value(const struct model *model, uint64_t id, uint32_t version,
                            struct value_buffer *buffer)
{
    size_t value_bytes = model_value_bytes(model, id, version);

    sb_value_write(buffer->bytes, value_bytes, sb_value_seed(model->seed, id, version));
    return slice_of(buffer->bytes, value_bytes);
}

bool model_value_is(const struct model *model, uint64_t id, uint32_t version, struct sb_slice value)
{
    return value.size_bytes == model_value_bytes(model, id, version) &&
           sb_value_check(value.data, value.size_bytes, sb_value_seed(model->seed, id, version)) ==
               value.size_bytes;
}

void model_put(struct test *t, struct model *model, uint64_t id)
{
    struct key_buffer key;
    struct value_buffer value;

    model->versions[id]++;
    test_put(t, model_key(t, id, &key), model_value(model, id, model->versions[id], &value));
}

void model_del(struct test *t, struct model *model, uint64_t id)
{
    struct key_buffer key;
    bool there = model->versions[id] != 0;
    int expected = there || !(t->handle.caps & SB_CAP_DELETE_MISS) ? SB_OK : SB_NOTFOUND;

    model->versions[id] = 0;
    RETURNS(t, expected, sb_store_del(&t->handle, t->session, model_key(t, id, &key)));
}

void model_load(struct test *t, struct model *model, uint64_t first, uint64_t end)
{
    struct sb_permutation order;

    sb_permutation_init(&order, end - first, t->seed);
    for (uint64_t i = 0; i < end - first;) {
        test_begin(t, SB_WRITE);
        do {
            model_put(t, model, first + sb_permutation_at(&order, i++));
        } while (i % LOAD_BATCH_RECORDS && i < end - first);
        test_commit(t, SB_WRITE);
    }
}

struct sb_digest model_digest(const struct test *t, const struct model *model)
{
    struct sb_digest digest = {0, 0, 0};
    struct key_buffer key;
    struct value_buffer value;

    for (uint64_t id = 0; id < model->count; id++) {
        struct sb_slice v;

        if (!model->versions[id])
            continue;
        v = model_value(model, id, model->versions[id], &value);
        (void)model_key(t, id, &key);
        sb_digest_add(&digest, key.bytes, t->key_bytes, v.data, v.size_bytes);
    }
    return digest;
}

void model_verify_gets(struct test *t, const char *place, const struct model *model)
{
    struct sb_permutation order;

    sb_permutation_init(&order, model->count, t->seed + 1);
    test_begin(t, SB_READ);
    for (uint64_t i = 0; i < model->count; i++) {
        uint64_t id = sb_permutation_at(&order, i);
        uint32_t version = model->versions[id];
        struct sb_slice value = {NULL, 0};
        struct key_buffer key;
        int rc = sb_store_get(&t->handle, t->session, model_key(t, id, &key), &value);

        if (rc != (version ? SB_OK : SB_NOTFOUND))
            test_fail(t, "", 0, "%s get of record %llu (version %u) returned %d %s", place,
                      (unsigned long long)id, version, rc, rc < 0 ? sb_error_last()->text : "");
        if (version && !model_value_is(model, id, version, value))
            test_fail(t, "", 0, "%s record %llu is not its version %u: %zu bytes for %zu", place,
                      (unsigned long long)id, version, value.size_bytes,
                      model_value_bytes(model, id, version));
    }
    test_commit(t, SB_READ);
}

struct scan {
    struct sb_digest digest;
    bool *seen;
    struct key_buffer last;
    size_t last_bytes;
};

static void scan_key(struct test *t, const char *place, struct scan *scan, struct sb_slice key)
{
    if (test_has(t, SB_CAP_ORDERED) && scan->digest.records &&
        slice_compare(slice_of(scan->last.bytes, scan->last_bytes), key) >= 0)
        test_fail(t, "", 0, "%s key '%.*s' comes after '%.*s'", place, (int)key.size_bytes,
                  (const char *)key.data, (int)scan->last_bytes, scan->last.bytes);
    memcpy(scan->last.bytes, key.data, key.size_bytes);
    scan->last_bytes = key.size_bytes;
}

static void scan_record(struct test *t, const char *place, const struct model *model,
                        struct scan *scan, struct sb_slice record[2])
{
    struct sb_slice key = record[0], value = record[1];
    uint64_t id = 0;

    if (key.size_bytes != t->key_bytes || !sb_key_read(key.data, key.size_bytes, &id) ||
        id >= model->count || !model->versions[id])
        test_fail(t, "", 0, "%s a cursor returns the key '%.*s', which is not there", place,
                  (int)(key.size_bytes < 64 ? key.size_bytes : 64), (const char *)key.data);
    if (scan->seen[id])
        test_fail(t, "", 0, "%s a cursor returns record %llu twice", place, (unsigned long long)id);
    scan->seen[id] = true;
    if (!model_value_is(model, id, model->versions[id], value))
        test_fail(t, "", 0, "%s a cursor returns a wrong value of record %llu: %zu bytes", place,
                  (unsigned long long)id, value.size_bytes);
    scan_key(t, place, scan, key);
    sb_digest_add(&scan->digest, key.data, key.size_bytes, value.data, value.size_bytes);
}

static void verify_keys_only(struct test *t, const char *place, const struct model *model)
{
    bool *seen = sb_alloc(model->count, sizeof(*seen));
    struct sb_cursor *cursor;
    struct sb_slice key = {NULL, 0};
    uint64_t found = 0, id = 0;
    int rc;

    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    while ((rc = sb_store_cursor_next(&t->handle, cursor, &key, NULL)) == 0) {
        bool good = key.size_bytes == t->key_bytes && sb_key_read(key.data, key.size_bytes, &id) &&
                    id < model->count && model->versions[id] && !seen[id];

        if (!good)
            test_fail(t, "", 0, "%s a cursor without values returns a wrong key", place);
        seen[id] = true;
        found++;
    }
    test_result(t, place, SB_NOTFOUND, rc);
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
    free(seen);
    if (found != model_digest(t, model).records)
        test_fail(t, "", 0, "%s a cursor without values finds %llu records of %llu", place,
                  (unsigned long long)found, (unsigned long long)model_digest(t, model).records);
}

void model_verify_scan(struct test *t, const char *place, const struct model *model)
{
    struct sb_digest expected = model_digest(t, model);
    struct scan scan = {.seen = sb_alloc(model->count, sizeof(bool))};
    struct sb_slice record[2] = {{NULL, 0}, {NULL, 0}};
    struct sb_cursor *cursor;
    int rc;

    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    while ((rc = sb_store_cursor_next(&t->handle, cursor, &record[0], &record[1])) == 0)
        scan_record(t, place, model, &scan, record);
    test_result(t, place, SB_NOTFOUND, rc);
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
    free(scan.seen);
    if (scan.digest.records != expected.records)
        test_fail(t, "", 0, "%s a cursor finds %llu records of %llu", place,
                  (unsigned long long)scan.digest.records, (unsigned long long)expected.records);
    if (scan.digest.low != expected.low || scan.digest.high != expected.high)
        test_fail(t, "", 0, "%s the digest differs from that of the model", place);
}

void model_verify(struct test *t, const char *place, const struct model *model)
{
    model_verify_gets(t, place, model);
    model_verify_scan(t, place, model);
    verify_keys_only(t, place, model);
}
