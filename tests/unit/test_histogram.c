/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_histogram.c -- the latency histogram and the table of worst operations.
 *
 * Random tests print their seed; STOREBENCH_TEST_SEED sets it. Expected quantiles come from sorted
 * samples, expected bucket bounds from the text of histogram.h, not from its code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "../../src/clock.h"
#include "../../src/histogram.h"
#include "../../src/mix.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define SAMPLES 20000

/* ---- random numbers ----------------------------------------------------------------------- */

static uint64_t random_state;

static int seed_random(void **state)
{
    const char *text = getenv("STOREBENCH_TEST_SEED");

    (void)state;
    random_state = text ? strtoull(text, NULL, 0) : sb_now_ns();
    print_message("# STOREBENCH_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return 0;
}

static uint64_t random_u64(void)
{
    random_state += SB_GOLDEN;
    return sb_mix64(random_state);
}

/* Any number of significant bits from 0 to 64 is equally likely. */
static uint64_t random_magnitude(void)
{
    unsigned bits = (unsigned)(random_u64() % 65);

    return bits ? random_u64() >> (64 - bits) : 0;
}

/* ---- helpers ------------------------------------------------------------------------------ */

static struct sb_histogram histogram, other, all;
static uint64_t samples[SAMPLES];

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void add_many(struct sb_histogram *into, uint64_t ticks, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sb_histogram_add(into, ticks);
}

/* The only bucket of a histogram of one sample. */
static struct sb_bucket bucket_of(uint64_t ticks)
{
    struct sb_bucket bucket, second;
    size_t position = 0;

    sb_histogram_reset(&histogram);
    sb_histogram_add(&histogram, ticks);
    assert_true(sb_histogram_next(&histogram, &position, &bucket));
    assert_false(sb_histogram_next(&histogram, &position, &second));
    assert_false(sb_histogram_next(&histogram, &position, &second));
    assert_int_equal(bucket.count, 1);
    return bucket;
}

/* The bucket's bounds as histogram.h words them. */
static struct sb_bucket expected_bucket(uint64_t ticks)
{
    uint64_t octave = 1, width;

    if (ticks < 256)
        return (struct sb_bucket){ticks, ticks, 1};
    if (ticks >= SB_HISTOGRAM_LIMIT)
        return (struct sb_bucket){SB_HISTOGRAM_LIMIT, UINT64_MAX, 1};
    while (octave <= ticks / 2)
        octave *= 2;
    width = octave / 128;
    return (struct sb_bucket){ticks / width * width, ticks / width * width + width - 1, 1};
}

static void check_bucket(uint64_t ticks)
{
    struct sb_bucket got = bucket_of(ticks), want = expected_bucket(ticks);

    if (got.lower_ticks != want.lower_ticks || got.upper_ticks != want.upper_ticks)
        fail_msg("%llu is in [%llu, %llu], not [%llu, %llu]", (unsigned long long)ticks,
                 (unsigned long long)got.lower_ticks, (unsigned long long)got.upper_ticks,
                 (unsigned long long)want.lower_ticks, (unsigned long long)want.upper_ticks);
    assert_true(got.lower_ticks <= ticks && ticks <= got.upper_ticks);
    if (ticks < SB_HISTOGRAM_LIMIT)
        assert_true((got.upper_ticks - got.lower_ticks + 1) * 128 <= got.lower_ticks ||
                    got.upper_ticks == got.lower_ticks);
}

static void check_same(const struct sb_histogram *a, const struct sb_histogram *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->min_ticks, b->min_ticks);
    assert_int_equal(a->max_ticks, b->max_ticks);
    assert_int_equal(a->sum_low, b->sum_low);
    assert_int_equal(a->sum_high, b->sum_high);
    assert_memory_equal(a->counts, b->counts, sizeof(a->counts));
}

static uint64_t quantile(const struct sb_histogram *from, double p)
{
    uint64_t ticks = 1;

    if (!sb_histogram_quantile(from, p, &ticks))
        fail_msg("quantile %g is not supported by %llu samples", p,
                 (unsigned long long)from->count);
    return ticks;
}

/* ---- buckets ------------------------------------------------------------------------------ */

static void test_bucket_edges(void **state)
{
    (void)state;
    for (uint64_t ticks = 0; ticks < 1100; ticks++)
        check_bucket(ticks);
    for (unsigned bit = 8; bit < 64; bit++) {
        uint64_t octave = UINT64_C(1) << bit;
        check_bucket(octave - 1);
        check_bucket(octave);
        check_bucket(octave + octave / 128 - 1);
        check_bucket(octave + octave / 128);
        check_bucket(octave + (octave - 1));
    }
    check_bucket(UINT64_MAX);
}

static void test_bucket_random(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++)
        check_bucket(random_magnitude());
}

/* Each bucket begins where the one before it ended, from 0 to the end of the range. */
static void test_buckets_tile_range(void **state)
{
    struct sb_bucket bucket;
    size_t position = 0, buckets = 0;
    uint64_t next = 0;

    (void)state;
    sb_histogram_reset(&histogram);
    for (size_t i = 0; i < COUNT_OF(histogram.counts); i++)
        histogram.counts[i] = i + 1;
    while (sb_histogram_next(&histogram, &position, &bucket)) {
        assert_int_equal(bucket.lower_ticks, next);
        assert_true(bucket.upper_ticks >= bucket.lower_ticks);
        assert_int_equal(sb_histogram_index(bucket.lower_ticks), buckets);
        assert_int_equal(sb_histogram_index(bucket.upper_ticks), buckets);
        buckets++;
        assert_int_equal(bucket.count, buckets);
        next = bucket.upper_ticks + 1;
    }
    assert_int_equal(next, 0); /* UINT64_MAX + 1 */
    assert_int_equal(buckets, SB_HISTOGRAM_OVERFLOW + 1);
    assert_true(sizeof(histogram) <= 35 * 1024);
}

/* ---- exact figures ------------------------------------------------------------------------ */

static void test_empty(void **state)
{
    struct sb_bucket bucket;
    size_t position = 0;
    uint64_t ticks = 7;

    (void)state;
    sb_histogram_reset(&histogram);
    assert_false(sb_histogram_next(&histogram, &position, &bucket));
    assert_int_equal(bucket.count, 0);
    assert_false(sb_histogram_quantile(&histogram, 0.5, &ticks));
    assert_int_equal(ticks, 0);
    assert_true(sb_histogram_mean(&histogram) == 0);
    assert_int_equal(histogram.min_ticks, UINT64_MAX);
    assert_int_equal(histogram.max_ticks, 0);
    sb_histogram_reset(&other);
    sb_histogram_merge(&histogram, &other);
    check_same(&histogram, &other);
}

static void test_exact_figures(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    sb_histogram_add(&histogram, 1000003);
    sb_histogram_add(&histogram, 5);
    sb_histogram_add(&histogram, 300001);
    assert_int_equal(histogram.count, 3);
    assert_int_equal(histogram.min_ticks, 5);
    assert_int_equal(histogram.max_ticks, 1000003);
    assert_int_equal(histogram.sum_low, 1300009);
    assert_int_equal(histogram.sum_high, 0);
    assert_true(fabs(sb_histogram_mean(&histogram) - 1300009.0 / 3) < 1e-6);
}

/* The sum does not wrap at 64 bits. */
static void test_sum_carry(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    add_many(&histogram, UINT64_MAX, 4);
    assert_int_equal(histogram.sum_high, 3);
    assert_int_equal(histogram.sum_low, UINT64_MAX - 3);
    assert_true(sb_histogram_mean(&histogram) == ldexp(1, 64));
    other = histogram;
    sb_histogram_merge(&histogram, &other);
    assert_int_equal(histogram.sum_high, 7);
    assert_int_equal(histogram.sum_low, UINT64_MAX - 7);
}

static void test_merge_equals_adding(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    sb_histogram_reset(&other);
    sb_histogram_reset(&all);
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t ticks = random_magnitude();
        sb_histogram_add(random_u64() & 1 ? &histogram : &other, ticks);
        sb_histogram_add(&all, ticks);
    }
    sb_histogram_merge(&histogram, &other);
    check_same(&histogram, &all);
}

/* ---- quantiles ---------------------------------------------------------------------------- */

static void test_quantiles_uniform(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    for (uint64_t ticks = 1; ticks <= 100000; ticks++)
        sb_histogram_add(&histogram, ticks);
    assert_int_equal(quantile(&histogram, 0), 1);
    assert_int_equal(quantile(&histogram, 0.001), 100);
    assert_int_equal(quantile(&histogram, 0.5), expected_bucket(50000).upper_ticks);
    assert_int_equal(quantile(&histogram, 0.9), expected_bucket(90000).upper_ticks);
    assert_int_equal(quantile(&histogram, 0.99), expected_bucket(99000).upper_ticks);
    assert_int_equal(quantile(&histogram, 0.999), 100000); /* clamped: its bucket ends above */
    assert_int_equal(quantile(&histogram, 0.9999), 100000);
}

/* Ranks are exact where p * count is a whole number in decimal, though not in binary; half a sample
 * more is the next rank. */
static void test_quantile_ranks(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    for (uint64_t ticks = 1; ticks <= 100; ticks++)
        add_many(&histogram, ticks, 1000);
    for (int percent = 1; percent <= 99; percent++) {
        assert_int_equal(quantile(&histogram, percent / 100.0), percent);
        assert_int_equal(quantile(&histogram, percent / 100.0 + 5e-6), percent + 1);
    }
}

static void test_quantiles_bimodal(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    add_many(&histogram, 200, 99000);
    add_many(&histogram, 70000, 1000);
    assert_int_equal(quantile(&histogram, 0.5), 200);
    assert_int_equal(quantile(&histogram, 0.99), 200);
    assert_int_equal(quantile(&histogram, 0.9901), 70000);
    assert_int_equal(quantile(&histogram, 0.999), 70000);
}

/* Against the sorted samples: never lower, and less than 1/128 higher. */
static void test_quantiles_random(void **state)
{
    static const double ps[] = {0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9995};

    (void)state;
    for (int round = 0; round < 5; round++) {
        sb_histogram_reset(&histogram);
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = random_magnitude() % SB_HISTOGRAM_LIMIT;
            sb_histogram_add(&histogram, samples[i]);
        }
        qsort(samples, SAMPLES, sizeof(samples[0]), compare_u64);
        for (size_t i = 0; i < COUNT_OF(ps); i++) {
            size_t rank = (size_t)(ps[i] * SAMPLES + 0.5);
            uint64_t exact = samples[rank ? rank - 1 : 0], got = quantile(&histogram, ps[i]);
            if (got < exact || got - exact > exact / 128)
                fail_msg("p %g: %llu for %llu", ps[i], (unsigned long long)got,
                         (unsigned long long)exact);
        }
    }
}

static void test_clamp(void **state)
{
    (void)state;
    sb_histogram_reset(&histogram);
    add_many(&histogram, 1000001, 1000); /* not at an edge of its bucket */
    assert_true(expected_bucket(1000001).upper_ticks > 1000001);
    assert_true(expected_bucket(1000001).lower_ticks < 1000001);
    assert_int_equal(quantile(&histogram, 0), 1000001);
    assert_int_equal(quantile(&histogram, 0.5), 1000001);
    assert_int_equal(quantile(&histogram, 0.99), 1000001);
}

static void test_overflow(void **state)
{
    struct sb_bucket bucket;
    size_t position = 0;

    (void)state;
    sb_histogram_reset(&histogram);
    add_many(&histogram, SB_HISTOGRAM_LIMIT - 1, 500);
    add_many(&histogram, SB_HISTOGRAM_LIMIT, 300);
    add_many(&histogram, SB_HISTOGRAM_LIMIT * 5, 200);
    assert_int_equal(histogram.counts[SB_HISTOGRAM_OVERFLOW], 500);
    assert_int_equal(histogram.counts[SB_HISTOGRAM_OVERFLOW - 1], 500);
    assert_true(sb_histogram_next(&histogram, &position, &bucket));
    assert_int_equal(bucket.upper_ticks, SB_HISTOGRAM_LIMIT - 1);
    assert_true(sb_histogram_next(&histogram, &position, &bucket));
    assert_int_equal(bucket.lower_ticks, SB_HISTOGRAM_LIMIT);
    assert_int_equal(bucket.upper_ticks, UINT64_MAX);
    assert_int_equal(bucket.count, 500);
    assert_int_equal(quantile(&histogram, 0.5), SB_HISTOGRAM_LIMIT - 1);
    assert_int_equal(quantile(&histogram, 0.6), SB_HISTOGRAM_LIMIT * 5); /* the maximum */
    assert_int_equal(histogram.max_ticks, SB_HISTOGRAM_LIMIT * 5);
}

static void test_support(void **state)
{
    static const struct {
        double p;
        uint64_t enough;
    } cases[] = {{0, 10},      {0.5, 20},      {0.9, 100},          {0.95, 200},
                 {0.99, 1000}, {0.999, 10000}, {0.9999, 100000},    {0.99999, 1000000},
                 {0.25, 14},   {0.75, 40},     {0.999999, 10000000}};
    static const double never[] = {1, 1.5, -0.1, (double)NAN, (double)INFINITY};

    (void)state;
    sb_histogram_reset(&histogram);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        histogram.count = cases[i].enough;
        if (!sb_histogram_supports(&histogram, cases[i].p))
            fail_msg("%llu samples are not enough for %g", (unsigned long long)cases[i].enough,
                     cases[i].p);
        histogram.count--;
        if (sb_histogram_supports(&histogram, cases[i].p))
            fail_msg("%llu samples are enough for %g", (unsigned long long)histogram.count,
                     cases[i].p);
    }
    histogram.count = UINT64_MAX;
    for (size_t i = 0; i < COUNT_OF(never); i++) {
        uint64_t ticks = 1;
        assert_false(sb_histogram_supports(&histogram, never[i]));
        assert_false(sb_histogram_quantile(&histogram, never[i], &ticks));
        assert_int_equal(ticks, 0);
    }
}

/* ---- the worst operations ----------------------------------------------------------------- */

static struct sb_worst_op ops[SAMPLES];

/* Longest first; among equals, the one that ended first. */
static int compare_ops(const void *a, const void *b)
{
    const struct sb_worst_op *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->at_ticks > y->at_ticks) - (x->at_ticks < y->at_ticks);
}

static void check_worst(const struct sb_worst *worst, size_t count)
{
    size_t want = count < SB_WORST_COUNT ? count : SB_WORST_COUNT;

    qsort(ops, count, sizeof(ops[0]), compare_ops);
    assert_int_equal(worst->count, want);
    for (size_t i = 0; i < want; i++) {
        assert_int_equal(worst->ops[i].ticks, ops[i].ticks);
        assert_int_equal(worst->ops[i].op, ops[i].op);
        assert_int_equal(worst->ops[i].key_id, ops[i].key_id);
        assert_int_equal(worst->ops[i].at_ticks, ops[i].at_ticks);
        assert_int_equal(worst->ops[i].worker, ops[i].worker);
    }
}

/* `workers` tables that are merged give what one sort of all gives. Few different durations make
 * many ties, 0 among them. */
static void run_worst(size_t count, unsigned workers, uint64_t durations)
{
    struct sb_worst worst[4], merged;

    for (unsigned w = 0; w < workers; w++)
        sb_worst_reset(&worst[w], w);
    for (size_t i = 0; i < count; i++) {
        uint32_t w = (uint32_t)(random_u64() % workers);
        ops[i] = (struct sb_worst_op){random_magnitude() % durations, i, random_u64(), 1000 + i, w};
        sb_worst_add(&worst[w], ops[i].ticks, i, ops[i].key_id, ops[i].at_ticks);
    }
    sb_worst_reset(&merged, 99);
    for (unsigned w = workers; w-- > 0;)
        sb_worst_merge(&merged, &worst[w]);
    check_worst(&merged, count);
}

static void test_worst_equals_sort(void **state)
{
    (void)state;
    for (size_t count = 0; count < 40; count++)
        run_worst(count, 1, UINT64_MAX);
    for (int round = 0; round < 20; round++) {
        run_worst(1000, 1, UINT64_MAX);
        run_worst(1000, 1, 3);
        run_worst(100, 1, 1);
        run_worst(1000, 4, UINT64_MAX);
        run_worst(1000, 4, 5);
        run_worst(30, 4, 2);
    }
    run_worst(SAMPLES, 4, UINT64_MAX);
}

static void test_worst_orders(void **state)
{
    struct sb_worst worst;

    (void)state;
    sb_worst_reset(&worst, 3);
    for (uint64_t i = 0; i < 100; i++) {
        ops[i] = (struct sb_worst_op){i, i, i, i, 3};
        sb_worst_add(&worst, i, i, i, i);
    }
    check_worst(&worst, 100);
    assert_int_equal(worst.floor_ticks, 100 - SB_WORST_COUNT + 1);

    sb_worst_reset(&worst, 0);
    for (uint64_t i = 0; i < 100; i++) {
        ops[i] = (struct sb_worst_op){UINT64_MAX, i, i, i, 0};
        sb_worst_add(&worst, UINT64_MAX, i, i, i);
    }
    check_worst(&worst, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bucket_edges),
        cmocka_unit_test(test_bucket_random),
        cmocka_unit_test(test_buckets_tile_range),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_exact_figures),
        cmocka_unit_test(test_sum_carry),
        cmocka_unit_test(test_merge_equals_adding),
        cmocka_unit_test(test_quantiles_uniform),
        cmocka_unit_test(test_quantile_ranks),
        cmocka_unit_test(test_quantiles_bimodal),
        cmocka_unit_test(test_quantiles_random),
        cmocka_unit_test(test_clamp),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_support),
        cmocka_unit_test(test_worst_equals_sort),
        cmocka_unit_test(test_worst_orders),
    };
    return cmocka_run_group_tests_name("histogram", tests, seed_random, NULL);
}
