/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * basic.c -- single records: put, get, overwrite, delete, misses, odd keys and values, limits, and
 * how long a slice stays valid.
 */
#include "conformance.h"

#include "../../src/mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MEBIBYTE = 1 << 20 };

static bool is_persistent(const struct test *t)
{
    return test_has(t, SB_CAP_PERSISTENT);
}

static bool dir_is_empty(struct test *t)
{
    DIR *dir = opendir(t->store_dir);
    int entries = 0;

    CHECK(t, dir, "opendir %s: %s", t->store_dir, strerror(errno));
    while (readdir(dir))
        entries++;
    (void)closedir(dir);
    return entries <= 2; /* "." and ".." */
}

void group_open(struct test *t)
{
    struct key_buffer key;

    expect_count(t, HERE, 0);
    expect_one_miss(t, HERE, model_key(t, 1, &key));
    if (!is_persistent(t))
        return;
    test_reopen(t);
    expect_count(t, HERE, 0);
    put_one(t, model_key(t, 1, &key), text("one"));
    test_close(t);
    CHECK(t, !dir_is_empty(t), "the driver is persistent and its directory is empty");
    test_open(t, SB_REOPEN);
    expect_one(t, HERE, model_key(t, 1, &key), text("one"));
    if (t->handle.report.level_kept < SB_LEVEL_PROCESS)
        return;
    test_close(t);
    /* A process may die just after it closed the store. */
    test_open(t, SB_RECOVER);
    expect_one(t, HERE, model_key(t, 1, &key), text("one"));
    put_one(t, model_key(t, 2, &key), text("two"));
    test_reopen(t);
    expect_one(t, HERE, model_key(t, 2, &key), text("two"));
    expect_count(t, HERE, 2);
}

/* ---- put, overwrite, delete --------------------------------------------------------------- */

void group_overwrite(struct test *t)
{
    static const size_t sizes[] = {8, 8, 3, 100, 1, 5000, 20, 300, 300, 0, 7};
    enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };
    unsigned char value[5000];
    struct key_buffer key;

    for (size_t i = 0; i < SIZES; i++) {
        memset(value, 'a' + (int)i, sizeof(value));
        put_one(t, model_key(t, 1, &key), slice_of(value, sizes[i]));
        expect_one(t, HERE, model_key(t, 1, &key), slice_of(value, sizes[i]));
    }
    expect_count(t, HERE, 1);
    /* The same in one batch beside a neighbour: the last put wins. */
    test_begin(t, SB_WRITE);
    test_put(t, model_key(t, 2, &key), text("neighbour"));
    for (size_t i = 0; i < SIZES; i++) {
        memset(value, 'A' + (int)i, sizeof(value));
        test_put(t, model_key(t, 1, &key), slice_of(value, sizes[i]));
    }
    test_commit(t, SB_WRITE);
    expect_one(t, HERE, model_key(t, 1, &key), slice_of(value, sizes[SIZES - 1]));
    expect_one(t, HERE, model_key(t, 2, &key), text("neighbour"));
    expect_count(t, HERE, 2);
}

static void delete_miss(struct test *t, uint64_t id)
{
    int expected = t->handle.caps & SB_CAP_DELETE_MISS ? SB_NOTFOUND : SB_OK;
    struct key_buffer key;

    test_begin(t, SB_WRITE);
    RETURNS(t, expected, sb_store_del(&t->handle, t->session, model_key(t, id, &key)));
    test_commit(t, SB_WRITE);
}

void group_delete(struct test *t)
{
    struct key_buffer key;

    delete_miss(t, 2); /* in an empty store */
    for (uint64_t id = 1; id <= 3; id++)
        put_one(t, model_key(t, id, &key), text("value"));
    del_one(t, model_key(t, 2, &key));
    expect_one_miss(t, HERE, model_key(t, 2, &key));
    expect_one(t, HERE, model_key(t, 1, &key), text("value"));
    expect_one(t, HERE, model_key(t, 3, &key), text("value"));
    expect_count(t, HERE, 2);
    delete_miss(t, 2);
    delete_miss(t, 4);
    expect_count(t, HERE, 2);
    put_one(t, model_key(t, 2, &key), text("again"));
    expect_one(t, HERE, model_key(t, 2, &key), text("again"));
    expect_count(t, HERE, 3);
    for (uint64_t id = 1; id <= 3; id++)
        del_one(t, model_key(t, id, &key));
    for (uint64_t id = 1; id <= 3; id++)
        expect_one_miss(t, HERE, model_key(t, id, &key));
    expect_count(t, HERE, 0);
    if (is_persistent(t)) {
        test_reopen(t);
        expect_count(t, HERE, 0);
    }
    put_one(t, model_key(t, 2, &key), text("third time"));
    expect_one(t, HERE, model_key(t, 2, &key), text("third time"));
}

/* ---- empty, binary ------------------------------------------------------------------------ */

static void no_empty_key(struct test *t)
{
    struct sb_slice value = {NULL, 0};
    int rc;

    test_begin(t, SB_WRITE);
    REFUSED(t, sb_store_put(&t->handle, t->session, slice_of("", 0), text("value")));
    if (test_has(t, SB_CAP_TXN))
        OK(t, sb_store_abort(&t->handle, t->session));
    else
        test_commit(t, SB_WRITE);
    test_begin(t, SB_READ);
    rc = sb_store_get(&t->handle, t->session, slice_of("", 0), &value);
    CHECK(t, rc != SB_OK, "the empty key was refused, and get finds it");
    test_commit(t, SB_READ);
}

static void empty_key(struct test *t)
{
    struct key_buffer key;

    put_one(t, slice_of("", 0), text("value of the empty key"));
    expect_one(t, HERE, slice_of("", 0), text("value of the empty key"));
    expect_one(t, HERE, slice_of(NULL, 0), text("value of the empty key"));
    expect_one(t, HERE, model_key(t, 1, &key), slice_of(NULL, 0));
    expect_count(t, HERE, 3);
    put_one(t, slice_of(NULL, 0), slice_of(NULL, 0)); /* nothing at all */
    expect_one(t, HERE, slice_of("", 0), slice_of(NULL, 0));
    expect_count(t, HERE, 3);
    if (is_persistent(t)) {
        test_reopen(t);
        expect_one(t, HERE, slice_of("", 0), slice_of(NULL, 0));
    }
    del_one(t, slice_of("", 0));
    expect_one_miss(t, HERE, slice_of("", 0));
}

void group_empty(struct test *t)
{
    struct key_buffer key;

    put_one(t, model_key(t, 1, &key), slice_of("", 0));
    put_one(t, model_key(t, 2, &key), slice_of(NULL, 0));
    expect_one(t, HERE, model_key(t, 1, &key), slice_of(NULL, 0));
    expect_one(t, HERE, model_key(t, 2, &key), slice_of(NULL, 0));
    expect_count(t, HERE, 2);
    if (is_persistent(t)) {
        test_reopen(t);
        expect_one(t, HERE, model_key(t, 1, &key), slice_of(NULL, 0));
    }
    if (test_fits(t, 0, 0))
        empty_key(t);
    else
        no_empty_key(t);
    expect_count(t, HERE, 2);
}

struct pair {
    unsigned char key[40], value[64];
    size_t key_bytes, value_bytes;
};
enum { PAIRS_MAX = 512 };
struct pairs {
    struct pair pair[PAIRS_MAX];
    size_t count;
};

static struct sb_slice pair_key(const struct pair *pair)
{
    return slice_of(pair->key, pair->key_bytes);
}

static struct sb_slice pair_value(const struct pair *pair)
{
    return slice_of(pair->value, pair->value_bytes);
}

static struct pair *find_pair(struct pairs *pairs, struct sb_slice key)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (same(pair_key(&pairs->pair[i]), key))
            return &pairs->pair[i];
    return NULL;
}

/* A key of `first`, then `rest` up to `key_bytes`, unless it is there or beyond the limits. */
static void add_pair(struct test *t, struct pairs *pairs, int first, int rest, size_t key_bytes)
{
    struct pair *pair = &pairs->pair[pairs->count];

    CHECK(t, pairs->count < PAIRS_MAX && key_bytes <= sizeof(pair->key), "too many pairs");
    memset(pair->key, rest, sizeof(pair->key));
    if (key_bytes)
        pair->key[0] = (unsigned char)first;
    pair->key_bytes = key_bytes;
    pair->value_bytes = pairs->count * 7 % sizeof(pair->value);
    for (size_t i = 0; i < pair->value_bytes; i++)
        pair->value[i] = (unsigned char)(pairs->count * 31 + i * 17);
    if (test_fits(t, key_bytes, pair->value_bytes) && !find_pair(pairs, pair_key(pair)))
        pairs->count++;
}

/* NULs, 0xFF, and chains of keys that are prefixes of each other. */
static void make_pairs(struct test *t, struct pairs *pairs)
{
    static const int bytes[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff, 'a', '\n', '/', '.', '%'};
    enum { BYTES = sizeof(bytes) / sizeof(bytes[0]) };

    for (int byte = 0; byte < 256; byte++)
        add_pair(t, pairs, byte, 0, 1);
    for (size_t i = 0; i < BYTES * BYTES; i++)
        add_pair(t, pairs, bytes[i / BYTES], bytes[i % BYTES], 2);
    for (size_t length = 1; length <= 40; length++) {
        add_pair(t, pairs, 0x00, 0x00, length);
        add_pair(t, pairs, 'a', 'b', length);
        add_pair(t, pairs, 0xff, 0xff, length);
    }
    /* For drivers whose keys have a size of their own. */
    for (size_t i = 0; pairs->count < 10 && i < 10; i++)
        add_pair(t, pairs, (int)(i * 25), 0, t->key_bytes);
}

static void scan_pairs(struct test *t, struct pairs *pairs)
{
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};
    struct sb_cursor *cursor;
    const struct pair *last = NULL;
    int rc;

    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    while ((rc = sb_store_cursor_next(&t->handle, cursor, &key, &value)) == 0) {
        const struct pair *pair = find_pair(pairs, key);

        CHECK(t, pair, "a cursor returns a key of %zu bytes that was not put", key.size_bytes);
        CHECK(t, same(pair_value(pair), value), "a cursor returns a wrong value");
        CHECK(t,
              !last || !test_has(t, SB_CAP_ORDERED) ||
                  slice_compare(pair_key(last), pair_key(pair)) < 0,
              "keys are out of byte order: %zu bytes from 0x%02x, then %zu bytes from 0x%02x",
              last->key_bytes, last->key[0], pair->key_bytes, pair->key[0]);
        last = pair;
    }
    RETURNS(t, SB_NOTFOUND, rc);
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
    expect_count(t, HERE, pairs->count); /* with it no key can have come twice */
}

static void expect_pairs(struct test *t, struct pairs *pairs)
{
    test_begin(t, SB_READ);
    for (size_t i = 0; i < pairs->count; i++)
        test_expect(t, HERE, pair_key(&pairs->pair[i]), pair_value(&pairs->pair[i]));
    test_commit(t, SB_READ);
    scan_pairs(t, pairs);
}

void group_binary(struct test *t)
{
    struct pairs *pairs = sb_alloc(1, sizeof(*pairs));
    size_t half;

    make_pairs(t, pairs);
    CHECK(t, pairs->count, "no key of the test is within the limits");
    half = pairs->count / 2;
    test_begin(t, SB_WRITE);
    for (size_t i = pairs->count; i-- > half;)
        test_put(t, pair_key(&pairs->pair[i]), pair_value(&pairs->pair[i]));
    test_commit(t, SB_WRITE);
    test_begin(t, SB_WRITE);
    for (size_t i = 0; i < half; i++)
        test_put(t, pair_key(&pairs->pair[i]), pair_value(&pairs->pair[i]));
    test_commit(t, SB_WRITE);
    expect_pairs(t, pairs);
    if (is_persistent(t)) {
        test_reopen(t);
        expect_pairs(t, pairs);
    }
    /* The tail goes, one that is the prefix of others among it. */
    test_begin(t, SB_WRITE);
    while (pairs->count > half)
        test_del(t, pair_key(&pairs->pair[--pairs->count]));
    test_commit(t, SB_WRITE);
    expect_pairs(t, pairs);
    free(pairs);
}

/* ---- limits ------------------------------------------------------------------------------- */

enum { KEY_BYTES_TRIED = 64 * 1024 };
static const uint64_t mapping_bytes_max = 8ull << 30;

/* Zeros that take no memory until they are read; NULL beyond what is reasonable. */
static void *zeros(uint64_t size_bytes)
{
    void *bytes;

    if (size_bytes > mapping_bytes_max)
        return NULL;
    bytes = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return bytes == MAP_FAILED ? NULL : bytes;
}

static void end_refused(struct test *t)
{
    if (test_has(t, SB_CAP_TXN))
        OK(t, sb_store_abort(&t->handle, t->session));
    else
        test_commit(t, SB_WRITE);
}

static void key_over_limit(struct test *t)
{
    uint64_t key_bytes = t->driver->key_bytes_max + 1;
    struct sb_slice value = {NULL, 0};
    void *bytes = zeros(key_bytes);
    int rc;

    if (t->driver->key_bytes_max == 0 || !bytes)
        return;
    test_begin(t, SB_WRITE);
    REFUSED(t, sb_store_put(&t->handle, t->session, slice_of(bytes, key_bytes), text("value")));
    end_refused(t);
    test_begin(t, SB_WRITE);
    rc = sb_store_del(&t->handle, t->session, slice_of(bytes, key_bytes));
    CHECK(t, rc != SB_OK || !test_has(t, SB_CAP_DELETE_MISS), "del found a key beyond the limit");
    end_refused(t);
    test_begin(t, SB_READ);
    rc = sb_store_get(&t->handle, t->session, slice_of(bytes, key_bytes), &value);
    CHECK(t, rc != SB_OK, "get found a key beyond the limit");
    test_commit(t, SB_READ);
    (void)munmap(bytes, key_bytes);
}

static void value_over_limit(struct test *t)
{
    uint64_t value_bytes = t->driver->value_bytes_max + 1;
    void *bytes = zeros(value_bytes);
    struct key_buffer key;

    if (t->driver->value_bytes_max == 0 || !bytes)
        return;
    test_begin(t, SB_WRITE);
    REFUSED(t, sb_store_put(&t->handle, t->session, model_key(t, 3, &key),
                            slice_of(bytes, value_bytes)));
    end_refused(t);
    expect_one_miss(t, HERE, model_key(t, 3, &key));
    (void)munmap(bytes, value_bytes);
}

void group_limits(struct test *t)
{
    size_t key_bytes = t->driver->key_bytes_max;
    unsigned char *longest = sb_alloc(1, KEY_BYTES_TRIED);
    struct key_buffer key;

    if (key_bytes == 0 || key_bytes > KEY_BYTES_TRIED)
        key_bytes = KEY_BYTES_TRIED;
    for (size_t i = 0; i < key_bytes; i++)
        longest[i] = (unsigned char)(i % 251);
    put_one(t, model_key(t, 1, &key), text("first"));
    put_one(t, slice_of(longest, key_bytes), text("value of the longest key"));
    expect_one(t, HERE, slice_of(longest, key_bytes), text("value of the longest key"));
    key_over_limit(t);
    value_over_limit(t);
    /* Still usable. */
    expect_one(t, HERE, model_key(t, 1, &key), text("first"));
    put_one(t, model_key(t, 2, &key), text("second"));
    expect_one(t, HERE, model_key(t, 2, &key), text("second"));
    expect_count(t, HERE, 3);
    if (is_persistent(t)) {
        test_reopen(t);
        expect_one(t, HERE, slice_of(longest, key_bytes), text("value of the longest key"));
        expect_count(t, HERE, 3);
    }
    del_one(t, slice_of(longest, key_bytes));
    expect_one_miss(t, HERE, slice_of(longest, key_bytes));
    expect_count(t, HERE, 2);
    free(longest);
}

/* ---- sizes -------------------------------------------------------------------------------- */

enum { SIZES_MAX = 340 };

/* 0..300, around pages and around buffers that drivers may start with, and 1 MiB. */
static size_t list_sizes(struct test *t, size_t sizes[SIZES_MAX])
{
    static const size_t centres[] = {512, 1024, 2048, 4096, 8192, 16384, 65536, MEBIBYTE};
    size_t count = 0;

    for (size_t value_bytes = 0; value_bytes <= 300; value_bytes += 300 / scaled(t, 300))
        sizes[count++] = value_bytes;
    for (size_t i = 0; i < sizeof(centres) / sizeof(centres[0]); i++) {
        sizes[count++] = centres[i] - 1;
        sizes[count++] = centres[i];
        sizes[count++] = centres[i] + 1;
    }
    for (size_t i = count; i-- > 0;)
        if (!test_fits(t, t->key_bytes, sizes[i]))
            sizes[i] = sizes[--count];
    return count;
}

static void put_sizes(struct test *t, const size_t *sizes, size_t count, uint64_t seed)
{
    unsigned char *value = sb_alloc(1, MEBIBYTE + 1);
    struct key_buffer key;

    test_begin(t, SB_WRITE);
    for (size_t i = 0; i < count; i++) {
        sb_value_write(value, sizes[i], sb_value_seed(seed, i, 1));
        test_put(t, model_key(t, i, &key), slice_of(value, sizes[i]));
    }
    test_commit(t, SB_WRITE);
    free(value);
}

static void expect_sizes(struct test *t, const size_t *sizes, size_t count, uint64_t seed)
{
    struct sb_slice value = {NULL, 0};
    struct key_buffer key;

    test_begin(t, SB_READ);
    for (size_t i = 0; i < count; i++) {
        size_t good;

        OK(t, sb_store_get(&t->handle, t->session, model_key(t, i, &key), &value));
        CHECK(t, value.size_bytes == sizes[i], "a value of %zu bytes came back as %zu", sizes[i],
              value.size_bytes);
        good = sb_value_check(value.data, sizes[i], sb_value_seed(seed, i, 1));
        CHECK(t, good == sizes[i], "byte %zu of a value of %zu bytes is wrong", good, sizes[i]);
    }
    test_commit(t, SB_READ);
    expect_count(t, HERE, count);
}

void group_sizes(struct test *t)
{
    size_t sizes[SIZES_MAX], reversed[SIZES_MAX];
    size_t count = list_sizes(t, sizes);

    for (size_t i = 0; i < count; i++)
        reversed[i] = sizes[count - 1 - i];
    put_sizes(t, sizes, count, 1);
    expect_sizes(t, sizes, count, 1);
    /* Small ones become large and large ones small. */
    put_sizes(t, reversed, count, 2);
    expect_sizes(t, reversed, count, 2);
    if (!is_persistent(t))
        return;
    test_reopen(t);
    expect_sizes(t, reversed, count, 2);
    put_sizes(t, sizes, count, 3);
    expect_sizes(t, sizes, count, 3);
}

/* ---- slices ------------------------------------------------------------------------------- */

/* The key handed to `get` is borrowed for the call only: its bytes are spoilt right after it. */
static void get_spoilt(struct test *t, uint64_t id, struct sb_slice *valuep)
{
    struct key_buffer key;
    struct sb_slice slice = model_key(t, id, &key);

    OK(t, sb_store_get(&t->handle, t->session, slice, valuep));
    memset(&key, 0xee, sizeof(key));
}

void group_slices(struct test *t)
{
    struct model model = model_new(t, scaled(t, 500), true);
    struct sb_slice value = {NULL, 0}, key = {NULL, 0};
    struct sb_cursor *cursor;
    uint64_t id = 0;
    int rc;

    model_load(t, &model, 0, model.count);
    test_begin(t, SB_READ);
    for (uint64_t i = 0; i < model.count; i++) {
        void *used;

        get_spoilt(t, i, &value);
        used = memset(sb_alloc(1, 300), 0xdd, 300); /* a freed value would be taken again */
        CHECK(t, model_value_is(&model, i, 1, value), "the value of get did not stay intact");
        free(used);
    }
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    while ((rc = sb_store_cursor_next(&t->handle, cursor, &key, &value)) == 0) {
        void *used = memset(sb_alloc(1, 300), 0xdd, 300);

        CHECK(t, sb_key_read(key.data, key.size_bytes, &id) && id < model.count,
              "the key of a cursor did not stay intact");
        CHECK(t, model_value_is(&model, id, 1, value), "the value of a cursor did not stay intact");
        free(used);
    }
    RETURNS(t, SB_NOTFOUND, rc);
    sb_store_cursor_close(&t->handle, cursor);
    /* A cursor that is closed half-way leaves nothing behind. */
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    OK(t, sb_store_cursor_next(&t->handle, cursor, &key, &value));
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
    model_verify(t, HERE, &model);
    model_free(&model);
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* Drivers keep nothing in globals. */
void group_two_stores(struct test *t)
{
    struct sb_store_handle first = t->handle, second;
    struct sb_session *first_session = t->session;
    char dir[PATH_BYTES_MAX];
    struct key_buffer key;
    struct sb_open args = t->args;

    test_make_dir(t, "second", dir);
    args.dir = dir;
    args.mode = SB_CREATE;
    OK(t, sb_store_open(&second, t->driver, &args));
    put_one(t, model_key(t, 1, &key), text("in the first"));
    t->handle = second;
    t->session = second.session;
    expect_count(t, HERE, 0);
    put_one(t, model_key(t, 1, &key), text("in the second"));
    put_one(t, model_key(t, 2, &key), text("in the second"));
    expect_one(t, HERE, model_key(t, 1, &key), text("in the second"));
    test_close(t);
    t->handle = first;
    t->session = first_session;
    expect_one(t, HERE, model_key(t, 1, &key), text("in the first"));
    expect_count(t, HERE, 1);
}

/* A store that keeps nothing: the hooks work, and values have the size of what was put. */
void group_discards(struct test *t)
{
    static const size_t sizes[] = {0, 1, 100, 4096, MEBIBYTE};
    struct sb_slice value = {NULL, 0};
    unsigned char *bytes = sb_alloc(1, MEBIBYTE);
    struct key_buffer key;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put_one(t, model_key(t, i, &key), slice_of(bytes, sizes[i]));
        test_begin(t, SB_READ);
        OK(t, sb_store_get(&t->handle, t->session, model_key(t, i, &key), &value));
        CHECK(t, value.size_bytes == sizes[i], "a value of %zu bytes came back with %zu", sizes[i],
              value.size_bytes);
        for (size_t j = 0; j < value.size_bytes; j++)
            (void)((const volatile unsigned char *)value.data)[j]; /* all of it can be read */
        test_commit(t, SB_READ);
    }
    expect_count(t, HERE, sizeof(sizes) / sizeof(sizes[0]));
    test_begin(t, SB_WRITE);
    test_del(t, model_key(t, 0, &key));
    test_commit(t, SB_WRITE);
    OK(t, sb_store_sync(&t->handle));
    OK(t, sb_store_settle(&t->handle));
    free(bytes);
}
