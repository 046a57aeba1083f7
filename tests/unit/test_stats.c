/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_stats.c -- medians and their intervals against values worked out by hand.
 *
 * With the values 1 to n, the k-th smallest is k and the k-th largest n + 1 - k, so that an
 * interval tells its k. The coverage is 1 - 2 (C(n,0) + ... + C(n,k-1)) / 2^n; the expected sums
 * below are written as whole numbers, so that nothing but one division of doubles is left to err.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "../../src/stats.h"

enum { VALUES_MAX = 1000 };

static void check_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-12)
        fail_msg("%.17g is not %.17g", found, expected);
}

/* Of the values 1 to n, given in a scrambled order. */
static void summarise_ranks(size_t n, struct sb_summary *summary)
{
    double values[VALUES_MAX];

    for (size_t i = 0; i < n; i++)
        values[i] = (double)((i * 7) % n + 1); /* no n of the tests is a multiple of 7 */
    sb_summarise(values, n, summary);
    for (size_t i = 0; i < n; i++)
        assert_true(values[i] == (double)(i + 1)); /* sorted */
}

static void test_no_value(void **state)
{
    struct sb_summary summary;

    (void)state;
    sb_summarise(NULL, 0, &summary);
    assert_int_equal(summary.count, 0);
    assert_true(summary.median == 0 && summary.low == 0 && summary.high == 0 &&
                summary.coverage == 0 && summary.min == 0 && summary.max == 0);
}

static void test_one_value_has_no_interval(void **state)
{
    double value = 4.5;
    struct sb_summary summary;

    (void)state;
    sb_summarise(&value, 1, &summary);
    assert_int_equal(summary.count, 1);
    assert_true(summary.median == 4.5 && summary.low == 4.5 && summary.high == 4.5);
    assert_true(summary.min == 4.5 && summary.max == 4.5);
    assert_true(summary.coverage == 0);
}

struct expected {
    size_t n;
    double median;
    size_t k;          /* the interval is from the k-th smallest to the k-th largest */
    double both_tails; /* 2 (C(n,0) + ... + C(n,k-1)) */
    double total;      /* 2^n */
};

static void test_exact_coverage(void **state)
{
    static const struct expected cases[] = {
        /* Under six values not even the range reaches 95 %. */
        {2, 1.5, 1, 2, 4},   /* 50 % */
        {3, 2, 1, 2, 8},     /* 75 % */
        {4, 2.5, 1, 2, 16},  /* 87.5 % */
        {5, 3, 1, 2, 32},    /* 93.75 % */
        {6, 3.5, 1, 2, 64},  /* 96.875 %: the range; k = 2 would give 78.1 % */
        {8, 4.5, 1, 2, 256}, /* 99.2 %: the range still; k = 2 would give 92.97 % */
        /* k = 2: 2 (1 + 9) = 20 of 512: 96.1 %. */
        {9, 5, 2, 20, 512},
        /* k = 2: 2 (1 + 10) = 22 of 1024: 97.9 %; k = 3 adds 2 * 45: 89.1 %. */
        {10, 5.5, 2, 22, 1024},
        /* k = 4: 2 (1 + 15 + 105 + 455) = 1152 of 32768: 96.5 %; k = 5 adds 2 * 1365: 88.2 %. */
        {15, 8, 4, 1152, 32768},
        /* k = 6: 2 (1 + 20 + 190 + 1140 + 4845 + 15504) = 43400 of 2^20: 95.9 %. */
        {20, 10.5, 6, 43400, 1048576},
        /* k = 14: 2 (1 + 40 + 780 + 9880 + 91390 + 658008 + 3838380 + 18643560 + 76904685 +
         * 273438880 + 847660528 + 2311801440 + 5586853480 + 12033222880) of 2^40: 96.2 %; k = 15
         * adds 2 * 23206929840: 91.9 %. */
        {40, 20.5, 14, 42306247864, 1099511627776},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct expected *e = &cases[i];
        struct sb_summary summary;

        summarise_ranks(e->n, &summary);
        assert_int_equal(summary.count, e->n);
        check_close(summary.median, e->median);
        check_close(summary.low, (double)e->k);
        check_close(summary.high, (double)(e->n + 1 - e->k));
        check_close(summary.coverage, 1 - e->both_tails / e->total);
        check_close(summary.min, 1);
        check_close(summary.max, (double)e->n);
    }
}

/* Where 2^n is beyond a double's digits: the coverage stays at 95 % or just above it, since one
 * rank more or less changes it by little. */
static void test_many_values(void **state)
{
    struct sb_summary summary;

    (void)state;
    summarise_ranks(VALUES_MAX, &summary);
    assert_true(summary.median == 500.5);
    assert_true(summary.coverage >= 0.95 && summary.coverage < 0.96);
    /* About n/2 - 0.98 sqrt(n) = 469. */
    check_close(summary.low, 469);
    check_close(summary.high, 532);
}

static void test_ties_and_signs(void **state)
{
    double values[] = {3, -1, 3, 0, 3, -1, 3, 3, 3, 2};
    struct sb_summary summary;

    (void)state;
    sb_summarise(values, 10, &summary);
    check_close(summary.median, 3);
    check_close(summary.low, -1);
    check_close(summary.high, 3);
    check_close(summary.min, -1);
    check_close(summary.max, 3);
}

static void test_equal_values(void **state)
{
    double values[] = {7, 7, 7, 7, 7, 7};
    struct sb_summary summary;

    (void)state;
    sb_summarise(values, 6, &summary);
    assert_true(summary.low == 7 && summary.median == 7 && summary.high == 7);
    check_close(summary.coverage, 1 - 2.0 / 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_value),       cmocka_unit_test(test_one_value_has_no_interval),
        cmocka_unit_test(test_exact_coverage), cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_ties_and_signs), cmocka_unit_test(test_equal_values),
    };

    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
