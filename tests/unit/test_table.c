/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_table.c -- documents of tests/golden as tables, compared with the texts beside them; and
 * documents that are broken in every place.
 *
 * A text that is to change: run this program with STOREBENCH_GOLDEN_UPDATE=1, which writes what is
 * printed now, and look at the difference before it is kept.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../src/mem.h"
#include "../../src/table.h"
#include "../../src/table_parts.h"

static const struct sb_text_style piped = {0};
static const struct sb_text_style terminal = {.width = 80, .bold = true};

static char *golden_path(const char *name)
{
    const char *srcdir = getenv("STOREBENCH_SRCDIR");

    return sb_format("%s/tests/golden/%s", srcdir ? srcdir : ".", name);
}

static json_t *read_document(const char *name)
{
    char *path = golden_path(name);
    json_error_t error;
    json_t *document = json_load_file(path, 0, &error);

    if (!document)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    free(path);
    return document;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    if (getdelim(&text, &size, '\0', file) < 0)
        fail_msg("%s: empty", path);
    (void)fclose(file);
    return text;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (!file || fputs(text, file) == EOF || fclose(file))
        fail_msg("%s: %s", path, strerror(errno));
}

static char *table_of(const json_t *document, const struct sb_text_style *style)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);

    assert_non_null(stream);
    if (style)
        sb_table_print_styled(stream, style, document);
    else
        sb_table_print(stream, document);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void check_golden(const char *document_name, const struct sb_text_style *style,
                         const char *text_name)
{
    json_t *document = read_document(document_name);
    char *path = golden_path(text_name);
    char *found = table_of(document, style);
    char *expected;

    if (getenv("STOREBENCH_GOLDEN_UPDATE"))
        write_text(path, found);
    expected = read_text(path);
    assert_string_equal(found, expected);
    free(expected);
    free(found);
    free(path);
    json_decref(document);
}

/* ---- golden texts ------------------------------------------------------------------------- */

/* Ten repeats: two persistent drivers of different kinds, two in memory, one with other parameters,
 * two levels and two batch sizes, and every warning. */
static void test_normal(void **state)
{
    (void)state;
    check_golden("table-normal.json", &piped, "table-normal.txt");
}

/* What is no terminal, such as this stream, has no width and no bold. */
static void test_stream_that_is_no_terminal(void **state)
{
    (void)state;
    check_golden("table-normal.json", NULL, "table-normal.txt");
}

static void test_terminal(void **state)
{
    (void)state;
    check_golden("table-normal.json", &terminal, "table-terminal.txt");
}

/* Every status, missing cells, one and three repeats, the same scenario at two places of a chain, a
 * campaign that was cut, a machine that changed. */
static void test_broken(void **state)
{
    (void)state;
    check_golden("table-broken.json", &piped, "table-broken.txt");
}

/* Counting repeats: all figures, some, none, and those that could not be. */
static void test_counted(void **state)
{
    (void)state;
    check_golden("table-counted.json", &piped, "table-counted.txt");
}

/* Escape sequences, invisible characters, wrong types, unknown words. */
static void test_hostile(void **state)
{
    (void)state;
    check_golden("table-hostile.json", &piped, "table-hostile.txt");
}

/* ---- properties --------------------------------------------------------------------------- */

/* No control character but newline, none of C1 (in UTF-8: c2 80 to c2 9f), and valid UTF-8, which
 * jansson checks. */
static void check_text(const char *text)
{
    json_t *valid = json_string(text);

    assert_non_null(valid);
    json_decref(valid);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if ((*c < 0x20 && *c != '\n') || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            fail_msg("control character %02x in: %s", *c, text);
}

/* Lines of a terminal are no wider than it, but for a table whose names alone take that room. */
static void test_width_is_kept(void **state)
{
    json_t *document = read_document("table-normal.json");
    const struct sb_text_style style = {.width = 80};
    char *text = table_of(document, &style);
    char *rest = text;

    (void)state;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        if (sb_text_width(line) > 80)
            fail_msg("%zu columns: %s", sb_text_width(line), line);
    free(text);
    json_decref(document);
}

/* Nothing that may not be compared stands in one table. */
static void test_levels_are_apart(void **state)
{
    json_t *document = read_document("table-normal.json");
    char *text = table_of(document, &piped);
    static const char *const titles[] = {
        "== Throughput, durability none, 100 000 records, keys of 16 B, values of 100 B, persist",
        "== Throughput, durability none, 100 000 records, keys of 16 B, values of 100 B, in mem",
        "== Throughput, durability none, 2 000 records, keys of 16 B, values of 100 B, persist",
        "== Commits, durability process, 20 000 records, keys of 16 B, values of 100 B, persist",
        "== Commits, durability power, 20 000 records, keys of 16 B, values of 100 B, persist",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        const char *found = strstr(text, titles[i]);

        if (!found || strstr(found + 1, titles[i]))
            fail_msg("not there once: %s", titles[i]);
    }
    free(text);
    json_decref(document);
}

static json_t *wrong_value(size_t index)
{
    switch (index) {
    case 0:
        return json_null();
    case 1:
        return json_string("\033[2J\xc2\x9b");
    case 2:
        return json_integer(INT64_MIN);
    case 3:
        return json_real(1e308);
    case 4:
        return json_pack("[[], {}, i, s]", 1, "x");
    default:
        return json_object();
    }
}

enum { WRONG_VALUES = 6 };

static void check_prints(const json_t *document)
{
    char *text = table_of(document, &piped);

    check_text(text);
    free(text);
}

/* Replaces every member below `at` in turn, prints the document, and puts the member back. */
static void replace_each(json_t *document, json_t *at)
{
    const char *key;
    void *next;
    json_t *value;
    size_t index;

    json_object_foreach_safe(at, next, key, value)
    {
        json_t *kept = json_incref(value);

        for (size_t i = 0; i < WRONG_VALUES; i++) {
            assert_int_equal(json_object_set_new(at, key, wrong_value(i)), 0);
            check_prints(document);
        }
        assert_int_equal(json_object_set_new(at, key, kept), 0);
        replace_each(document, kept);
    }
    json_array_foreach(at, index, value)
    {
        json_t *kept = json_incref(value);

        for (size_t i = 0; i < WRONG_VALUES; i++) {
            assert_int_equal(json_array_set_new(at, index, wrong_value(i)), 0);
            check_prints(document);
        }
        assert_int_equal(json_array_set_new(at, index, kept), 0);
        replace_each(document, kept);
    }
}

static void test_every_member_wrong(void **state)
{
    json_t *document = read_document("table-broken.json");

    (void)state;
    replace_each(document, document);
    json_decref(document);
    document = read_document("table-counted.json");
    replace_each(document, document);
    json_decref(document);
}

static void test_no_document(void **state)
{
    (void)state;
    check_prints(NULL);
    for (size_t i = 0; i < WRONG_VALUES; i++) {
        json_t *document = wrong_value(i);

        check_prints(document);
        json_decref(document);
    }
}

/* ---- layout ------------------------------------------------------------------------------- */

static void check_clean(const char *text, size_t width_max, const char *expected)
{
    char *clean = sb_text_clean(text, width_max);

    assert_string_equal(clean, expected);
    assert_true(sb_text_width(clean) <= width_max);
    free(clean);
}

static void test_clean(void **state)
{
    (void)state;
    check_clean("plain µ ±", 9, "plain µ ±");
    check_clean("plain µ ±", 8, "plain µ…");
    check_clean("", 5, "");
    check_clean("a\tb\nc", 10, "a b c");
    check_clean("\033[1m\a\x7f", 10, "?[1m??");
    check_clean("\xc2\x9b"
                "2J",
                10, "?2J");
    check_clean("\xe2\x80\xae"
                "txt",
                10, "?txt"); /* right to left override */
    check_clean("\xff"
                "a\xc2",
                10, "?a?"); /* not UTF-8 */
    check_clean("漢字漢字", 8, "漢字漢字");
    check_clean("漢字漢字", 7, "漢字漢…");
    check_clean("漢字漢字", 6, "漢字…");
}

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(sb_text_width("±4%"), 3);
    assert_int_equal(sb_text_width("µs"), 2);
    assert_int_equal(sb_text_width("漢字"), 4);
    assert_int_equal(sb_text_width("e\xcc\x81"), 1); /* e and a combining accent */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_stream_that_is_no_terminal),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_width_is_kept),
        cmocka_unit_test(test_levels_are_apart),
        cmocka_unit_test(test_every_member_wrong),
        cmocka_unit_test(test_no_document),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_width),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
