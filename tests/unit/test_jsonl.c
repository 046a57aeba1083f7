/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_jsonl.c -- records as lines of JSON: any bytes come back as they were, what is text stays
 * text, and a line that does not say exactly one key and one value is refused for what it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "../../src/jsonl.h"

static struct sb_slice slice(const char *text)
{
    return (struct sb_slice){text, strlen(text)};
}

/* The line of a record; free() it. */
static char *line_of(struct sb_slice key, struct sb_slice value, size_t *bytesp)
{
    char *line = NULL;
    FILE *stream = open_memstream(&line, bytesp);

    assert_non_null(stream);
    assert_int_equal(sb_jsonl_write(stream, key, value), 0);
    assert_int_equal(fclose(stream), 0);
    return line;
}

static void assert_same(struct sb_slice a, struct sb_slice b)
{
    assert_int_equal(a.size_bytes, b.size_bytes);
    if (a.size_bytes)
        assert_memory_equal(a.data, b.data, a.size_bytes);
}

static void round_trip(struct sb_slice key, struct sb_slice value)
{
    struct sb_jsonl record = {.wrong = ""};
    size_t bytes;
    char *line = line_of(key, value, &bytes);

    assert_ptr_equal(memchr(line, '\n', bytes), line + bytes - 1);
    assert_int_equal(sb_jsonl_parse(&record, line, bytes), 0);
    assert_same(record.key, key);
    assert_same(record.value, value);
    sb_jsonl_release(&record);
    free(line);
}

static void test_all_bytes(void **state)
{
    unsigned char pair[2], all[256];

    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        pair[0] = (unsigned char)(i >> 8);
        pair[1] = (unsigned char)i;
        round_trip((struct sb_slice){pair, 2}, (struct sb_slice){pair + 1, 1});
    }
    for (unsigned i = 0; i < sizeof(all); i++)
        all[i] = (unsigned char)i;
    for (size_t i = 0; i <= sizeof(all); i++)
        round_trip((struct sb_slice){all, i}, (struct sb_slice){all + i, sizeof(all) - i});
    round_trip((struct sb_slice){NULL, 0}, (struct sb_slice){NULL, 0});
}

static void test_form(void **state)
{
    static const struct {
        const char *key, *value, *line;
    } cases[] = {
        {"k", "v", "{\"key\": \"k\", \"value\": \"v\"}\n"},
        {"", "", "{\"key\": \"\", \"value\": \"\"}\n"},
        {"\"\\/", "\n\x1f", "{\"key\": \"\\\"\\\\/\", \"value\": \"\\n\\u001F\"}\n"},
        {"\xc3\xa4", "\xf0\x9d\x84\x9e",
         "{\"key\": \"\xc3\xa4\", \"value\": \"\xf0\x9d\x84\x9e\"}\n"},
        /* A lone byte, an overlong NUL, a surrogate, a code point that does not exist. */
        {"\xff", "v", "{\"key_base64\": \"/w==\", \"value\": \"v\"}\n"},
        {"\xc0\x80", "v", "{\"key_base64\": \"wIA=\", \"value\": \"v\"}\n"},
        {"k", "\xed\xa0\x80", "{\"key\": \"k\", \"value_base64\": \"7aCA\"}\n"},
        {"k", "\xf4\x90\x80\x80", "{\"key\": \"k\", \"value_base64\": \"9JCAgA==\"}\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t bytes;
        char *line = line_of(slice(cases[i].key), slice(cases[i].value), &bytes);

        assert_string_equal(line, cases[i].line);
        free(line);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *line, *wrong;
    } cases[] = {
        {"", "is not JSON"},
        {"{\"key\": \"k\", \"value\": \"v\"", "is not JSON"},
        {"{\"key\": \"k\", \"value\": \"v\"} x", "is not JSON"},
        {"{\"key\": \"k\", \"key\": \"k\", \"value\": \"v\"}", "is not JSON"},
        {"{\"key\": \"\xff\", \"value\": \"v\"}", "is not JSON"},
        {"[\"k\", \"v\"]", "is not {"},
        {"{\"key\": \"k\"}", "has no \"value\""},
        {"{\"value\": \"v\"}", "has no \"key\""},
        {"{\"key\": 1, \"value\": \"v\"}", "has a \"key\" that is not a string"},
        {"{\"key_base64\": 1, \"value\": \"v\"}", "has a \"key_base64\" that is not a string"},
        {"{\"key_base64\": \"a\", \"value\": \"v\"}", "has a \"key_base64\" that is not base64"},
        {"{\"key\": \"k\", \"value\": \"v\", \"value_base64\": \"\"}", "has both \"value\" and"},
        {"{\"key\": \"k\", \"value\": \"v\", \"ttl\": 1}", "has a member \"ttl\""},
        {"{\"key\": \"k\", \"value\": \"v\", \"\\u001b[1m\": 1}", "has another member"},
    };
    struct sb_jsonl record = {.wrong = ""};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = sb_jsonl_parse(&record, cases[i].line, strlen(cases[i].line));

        assert_int_equal(rc, SB_ERR_UNSUPPORTED);
        assert_memory_equal(record.wrong, cases[i].wrong, strlen(cases[i].wrong));
    }
    assert_int_equal(sb_jsonl_parse(&record, "{\"value\": \"v\", \"key\": \"k\"}", 26), 0);
    assert_string_equal(record.wrong, "");
    sb_jsonl_release(&record);
}

static void test_stream_fails(void **state)
{
    FILE *full = fopen("/dev/full", "we");

    (void)state;
    assert_non_null(full);
    (void)setvbuf(full, NULL, _IONBF, 0);
    assert_int_equal(sb_jsonl_write(full, slice("k"), slice("v")), SB_ERR_FAILED);
    (void)fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stream_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
