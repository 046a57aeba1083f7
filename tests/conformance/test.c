/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test.c -- the checks of conformance.h and the calls of a store that must succeed.
 */
#include "conformance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_long(void)
{
    const char *value = getenv("STOREBENCH_LONG");

    return value && strcmp(value, "1") == 0;
}

uint64_t scaled(const struct test *t, uint64_t count)
{
    static const uint64_t parts[] = {
        [SB_LEVEL_NONE] = 1, [SB_LEVEL_PROCESS] = 5, [SB_LEVEL_POWER] = 20};

    return is_long() ? count : count / parts[t->args.level];
}

/* ---- checks ------------------------------------------------------------------------------- */

void test_fail(struct test *t, const char *file, int line, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    char *message = t->outcome->message;
    va_list args;
    int used = 0;

    if (line)
        used = snprintf(message, MESSAGE_BYTES_MAX, "%s:%d: ", slash ? slash + 1 : file, line);
    if (used < 0 || used >= MESSAGE_BYTES_MAX)
        used = 0;
    va_start(args, format);
    (void)vsnprintf(message + used, (size_t)(MESSAGE_BYTES_MAX - used), format, args);
    va_end(args);
    /* No clean-up: the store may be in any state. */
    _exit(EXIT_FAILURE);
}

void test_result(struct test *t, const char *place, int expected, int rc)
{
    if (rc == expected)
        return;
    test_fail(t, "", 0, "%s returned %d (%s), not %s%s%s", place, rc, sb_code_name(rc),
              sb_code_name(expected), rc < 0 ? ": " : "", rc < 0 ? sb_error_last()->text : "");
}

void test_refused(struct test *t, const char *place, int rc)
{
    const struct sb_error *error = sb_error_last();

    if (rc >= 0)
        test_fail(t, "", 0, "%s returned %d (%s), not an error", place, rc, sb_code_name(rc));
    if (error->code != rc || !error->text[0])
        test_fail(t, "", 0, "%s returned %d without recording it: the error is %d '%s'", place, rc,
                  error->code, error->text);
}

/* ---- the store ---------------------------------------------------------------------------- */

void test_make_dir(struct test *t, const char *name, char path[PATH_BYTES_MAX])
{
    int length = snprintf(path, PATH_BYTES_MAX, "%s/%s", t->dir, name);

    CHECK(t, length > 0 && length < PATH_BYTES_MAX, "%s/%s is too long", t->dir, name);
    CHECK(t, mkdir(path, 0700) == 0, "mkdir %s: %s", path, strerror(errno));
}

void test_open(struct test *t, enum sb_mode mode)
{
    int rc;

    t->args.mode = mode;
    rc = sb_store_open(&t->handle, t->driver, &t->args);
    if (rc == SB_ERR_UNSUPPORTED)
        t->outcome->refused = true;
    RETURNS(t, SB_OK, rc);
    t->outcome->opened = true;
    t->session = t->handle.session;
}

void test_close(struct test *t)
{
    OK(t, sb_store_close(&t->handle));
    sb_report_release(&t->handle.report);
    t->session = NULL;
}

void test_reopen(struct test *t)
{
    test_close(t);
    test_open(t, SB_REOPEN);
}

bool test_fits(const struct test *t, size_t key_bytes, size_t value_bytes)
{
    return sb_store_limits(t->driver, key_bytes, value_bytes) == 0;
}

struct sb_slice slice_of(const void *data, size_t size_bytes)
{
    return (struct sb_slice){data, size_bytes};
}

struct sb_slice text(const char *string)
{
    return slice_of(string, strlen(string));
}

bool same(struct sb_slice a, struct sb_slice b)
{
    return a.size_bytes == b.size_bytes &&
           (a.size_bytes == 0 || memcmp(a.data, b.data, a.size_bytes) == 0);
}

int slice_compare(struct sb_slice a, struct sb_slice b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    return order ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

void test_begin(struct test *t, enum sb_txn kind)
{
    OK(t, sb_store_begin(&t->handle, t->session, kind));
}

void test_commit(struct test *t, enum sb_txn kind)
{
    OK(t, sb_store_commit(&t->handle, t->session, kind));
}

void test_put(struct test *t, struct sb_slice key, struct sb_slice value)
{
    OK(t, sb_store_put(&t->handle, t->session, key, value));
}

void test_del(struct test *t, struct sb_slice key)
{
    OK(t, sb_store_del(&t->handle, t->session, key));
}

void test_expect(struct test *t, const char *place, struct sb_slice key, struct sb_slice value)
{
    struct sb_slice found = {NULL, 0};

    test_result(t, place, 0, sb_store_get(&t->handle, t->session, key, &found));
    if (!same(found, value))
        test_fail(t, "", 0, "%s a value of %zu bytes came back as %zu %s", place, value.size_bytes,
                  found.size_bytes, found.size_bytes == value.size_bytes ? "other bytes" : "bytes");
}

void test_expect_miss(struct test *t, const char *place, struct sb_slice key)
{
    struct sb_slice found = {NULL, 0};

    test_result(t, place, SB_NOTFOUND, sb_store_get(&t->handle, t->session, key, &found));
}

void put_one(struct test *t, struct sb_slice key, struct sb_slice value)
{
    test_begin(t, SB_WRITE);
    test_put(t, key, value);
    test_commit(t, SB_WRITE);
}

void del_one(struct test *t, struct sb_slice key)
{
    test_begin(t, SB_WRITE);
    test_del(t, key);
    test_commit(t, SB_WRITE);
}

void expect_one(struct test *t, const char *place, struct sb_slice key, struct sb_slice value)
{
    test_begin(t, SB_READ);
    test_expect(t, place, key, value);
    test_commit(t, SB_READ);
}

void expect_one_miss(struct test *t, const char *place, struct sb_slice key)
{
    test_begin(t, SB_READ);
    test_expect_miss(t, place, key);
    test_commit(t, SB_READ);
}

void expect_count(struct test *t, const char *place, uint64_t records)
{
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};
    struct sb_cursor *cursor;
    uint64_t found = 0;
    int rc;

    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    do {
        rc = sb_store_cursor_next(&t->handle, cursor, &key, &value);
        found += rc == 0;
    } while (rc == 0 && found <= records);
    if (found != records)
        test_fail(t, "", 0, "%s a cursor finds %s%llu records, not %llu", place,
                  found > records ? "at least " : "", (unsigned long long)found,
                  (unsigned long long)records);
    test_result(t, place, SB_NOTFOUND, rc);
    /* The end stays the end. */
    test_result(t, place, SB_NOTFOUND, sb_store_cursor_next(&t->handle, cursor, &key, &value));
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
}
