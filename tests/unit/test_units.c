/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_units.c -- sizes, counts and durations: what is accepted, what is refused, how each is
 * written. Rounding up to the next unit is tested on both sides of each limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "../../src/units.h"

typedef int (*parse_fn)(const char *text, uint64_t *valuep);

struct accepted {
    const char *text;
    uint64_t value;
};

static void check_accepted(parse_fn parse, const struct accepted *cases)
{
    for (; cases->text; cases++) {
        uint64_t value = 1;
        if (parse(cases->text, &value) != 0)
            fail_msg("\"%s\" is refused", cases->text);
        if (value != cases->value)
            fail_msg("\"%s\" gives %llu", cases->text, (unsigned long long)value);
    }
}

static void check_refused(parse_fn parse, const char *const *texts)
{
    for (; *texts; texts++) {
        uint64_t value = 1;
        if (parse(*texts, &value) != -1)
            fail_msg("\"%s\" is accepted as %llu", *texts, (unsigned long long)value);
        assert_int_equal(value, 0);
    }
}

/* Refused by all three parsers. */
static const char *const never[] = {
    "",
    " ",
    "-1",
    "+1",
    "-1s",
    " 1",
    "1 ",
    "1 s",
    "1 KiB",
    "1e6",
    "0x10",
    ".5s",
    ".5K",
    "1.",
    "1.s",
    "1.K",
    "1.5",
    "1..5s",
    "1.5.5K",
    "1,5K",
    "abc",
    "K",
    "s",
    "1x",
    "1KiBs",
    "1ss",
    "1\n",
    "1s\n",
    "99999999999999999999",
    "18446744073709551616",
    "nan",
    "inf",
    "1_000",
    "--1",
    "1-",
    NULL,
};

static void test_parse_size(void **state)
{
    (void)state;
    static const struct accepted cases[] = {
        {"0", 0},
        {"100", 100},
        {"007", 7},
        {"100B", 100},
        {"4K", 4096},
        {"4k", 4096},
        {"64KiB", 65536},
        {"64kib", 65536},
        {"2MiB", 2097152},
        {"2M", 2097152},
        {"1GiB", 1073741824},
        {"1.5GiB", 1610612736},
        {"1.50GiB", 1610612736},
        {"0.5K", 512},
        {"0.1GiB", 107374182},
        {"1.9999999999999999999999K", 2047},
        {"3TiB", UINT64_C(3) << 40},
        {"1P", UINT64_C(1) << 50},
        {"15.9999999999999999999999EiB", UINT64_MAX},
        {"15EiB", UINT64_C(15) << 60},
        {"18446744073709551615", UINT64_MAX},
        {NULL, 0},
    };
    static const char *const refused[] = {
        "16EiB", "16384PiB", "18014398509481984K",
        "4KB",   "4MB",      "4Ki",
        "4iB",   "4bytes",   "1.5B",
        "4m4",   "4KiK",     NULL,
    };
    check_accepted(sb_parse_size, cases);
    check_refused(sb_parse_size, refused);
    check_refused(sb_parse_size, never);
    check_refused(sb_parse_size, (const char *const[]){"10s", "10ms", NULL});
}

static void test_parse_count(void **state)
{
    (void)state;
    static const struct accepted cases[] = {
        {"0", 0},
        {"1000", 1000},
        {"10k", 10000},
        {"10K", 10000},
        {"1M", 1000000},
        {"2.5M", 2500000},
        {"1.000k", 1000},
        {"0.001M", 1000},
        {"3G", UINT64_C(3000000000)},
        {"18446744073709551615", UINT64_MAX},
        {"18446744073709551.615k", UINT64_MAX},
        {NULL, 0},
    };
    static const char *const refused[] = {
        "18446744073709551.616k",
        "18446744074G",
        "1.2345k",
        "0.0001k",
        "1m",
        "1g",
        "1KiB",
        "1MiB",
        "1kk",
        "1T",
        NULL,
    };
    check_accepted(sb_parse_count, cases);
    check_refused(sb_parse_count, refused);
    check_refused(sb_parse_count, never);
}

static void test_parse_duration(void **state)
{
    (void)state;
    static const struct accepted cases[] = {
        {"0s", 0},
        {"1ns", 1},
        {"20us", 20000},
        {"20µs", 20000},
        {"500ms", UINT64_C(500000000)},
        {"10s", UINT64_C(10000000000)},
        {"1.5s", UINT64_C(1500000000)},
        {"0.000000001s", 1},
        {"2m", UINT64_C(120000000000)},
        {"2min", UINT64_C(120000000000)},
        {"1h", UINT64_C(3600000000000)},
        {"0.5h", UINT64_C(1800000000000)},
        {"1d", UINT64_C(86400000000000)},
        {"18446744073s", UINT64_C(18446744073000000000)},
        {NULL, 0},
    };
    static const char *const refused[] = {
        "10",    "0",  "18446744074s", "0.0000000001s", "1.5ns", "10S",
        "10sec", "1H", "1M",           "1m30s",         NULL,
    };
    check_accepted(sb_parse_duration, cases);
    check_refused(sb_parse_duration, refused);
    check_refused(sb_parse_duration, never);
}

static void test_parse_null(void **state)
{
    (void)state;
    uint64_t value = 1;
    assert_int_equal(sb_parse_size(NULL, &value), -1);
    assert_int_equal(sb_parse_count(NULL, &value), -1);
    assert_int_equal(sb_parse_duration(NULL, &value), -1);
    assert_int_equal(value, 0);
}

typedef const char *(*format_fn)(char *buffer, size_t size, double value);

struct formatted {
    double value;
    const char *text;
};

static void check_formatted(format_fn format, const struct formatted *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char buffer[SB_FORMAT_BYTES];
        assert_ptr_equal(format(buffer, sizeof(buffer), cases[i].value), buffer);
        assert_string_equal(buffer, cases[i].text);
    }
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void test_format_rate(void **state)
{
    (void)state;
    static const struct formatted cases[] = {
        {0, "0.00 /s"},       {1, "1.00 /s"},       {12.34, "12.3 /s"}, {999.4, "999 /s"},
        {999.6, "1.00 k/s"},  {9994, "9.99 k/s"},   {9996, "10.0 k/s"}, {45600, "45.6 k/s"},
        {999600, "1.00 M/s"}, {1.23e6, "1.23 M/s"}, {35e6, "35.0 M/s"}, {1e9, "1.00 G/s"},
        {5e15, "5000 T/s"},   {-1, "n/a"},          {NAN, "n/a"},       {INFINITY, "n/a"},
        {1.7e308, "n/a"},
    };
    check_formatted(sb_format_rate, cases, COUNT_OF(cases));
}

static void test_format_bytes(void **state)
{
    (void)state;
    static const struct formatted cases[] = {
        {0, "0 B"},
        {512, "512 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048575, "1.0 MiB"},
        {123.4 * 1048576, "123.4 MiB"},
        {1073741824.0, "1.0 GiB"},
        {18446744073709551615.0, "16.0 EiB"},
        {-1, "n/a"},
        {NAN, "n/a"},
    };
    check_formatted(sb_format_bytes, cases, COUNT_OF(cases));
}

static void test_format_duration(void **state)
{
    (void)state;
    static const struct formatted cases[] = {
        {0, "0 ns"},
        {31.4, "31.4 ns"},
        {340, "340 ns"},
        {999.6, "1.0 µs"},
        {12300, "12.3 µs"},
        {340e6, "340 ms"},
        {999.4e6, "999 ms"},
        {999.6e6, "1.0 s"},
        {1.2e9, "1.2 s"},
        {59.94e9, "59.9 s"},
        {59.96e9, "1 min 00 s"},
        {125e9, "2 min 05 s"},
        {3599.4e9, "59 min 59 s"},
        {3599.6e9, "1 h 00 min"},
        {11220e9, "3 h 07 min"},
        {360000e9, "100 h 00 min"},
        {-1, "n/a"},
        {NAN, "n/a"},
    };
    check_formatted(sb_format_duration, cases, COUNT_OF(cases));
}

static void test_format_count(void **state)
{
    (void)state;
    static const struct accepted cases[] = {
        {"0", 0},          {"999", 999},           {"1 000", 1000},
        {"12 345", 12345}, {"1 000 000", 1000000}, {"18 446 744 073 709 551 615", UINT64_MAX},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buffer[SB_FORMAT_BYTES];
        assert_string_equal(sb_format_count(buffer, sizeof(buffer), cases[i].value), cases[i].text);
    }
}

static void test_format_short_buffer(void **state)
{
    (void)state;
    char buffer[6] = "#####";
    assert_string_equal(sb_format_count(buffer, 4, 1234567), "1 2");
    assert_int_equal(buffer[4], '#');
    assert_string_equal(sb_format_rate(buffer, 4, 1.23e6), "1.2");
    assert_string_equal(sb_format_bytes(buffer, 1, 5), "");
    assert_string_equal(sb_format_duration(buffer, 4, 125e9), "2 m");
    memset(buffer, '#', sizeof(buffer));
    (void)sb_format_rate(buffer, 0, 1);
    (void)sb_format_bytes(buffer, 0, 1);
    (void)sb_format_duration(buffer, 0, 125e9);
    (void)sb_format_count(buffer, 0, 1);
    assert_int_equal(buffer[0], '#');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_size),          cmocka_unit_test(test_parse_count),
        cmocka_unit_test(test_parse_duration),      cmocka_unit_test(test_parse_null),
        cmocka_unit_test(test_format_rate),         cmocka_unit_test(test_format_bytes),
        cmocka_unit_test(test_format_duration),     cmocka_unit_test(test_format_count),
        cmocka_unit_test(test_format_short_buffer),
    };
    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
