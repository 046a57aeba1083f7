/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_ticks.c -- the clock for latencies: which one is taken, and the rate between both.
 *
 * Where time is compared, a busy machine may stop the test between two readings; such tests try
 * again, and fail only if no attempt agrees.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../src/ticks.h"

#define ATTEMPTS 20
#define INTERVAL_NS UINT64_C(20000000)

/* A machine whose counter can be trusted, as far as /proc and /sys tell. */
static struct sb_machine good_machine(void)
{
    struct sb_machine machine;

    memset(&machine, 0, sizeof(machine));
    machine.constant_tsc = true;
    machine.nonstop_tsc = true;
    (void)snprintf(machine.clock_source, sizeof(machine.clock_source), "tsc");
    return machine;
}

static bool takes_tsc(const struct sb_machine *machine)
{
    struct sb_ticks ticks;

    sb_ticks_init(&ticks, machine);
    assert_string_equal(sb_ticks_name(&ticks), ticks.tsc ? "tsc" : "monotonic");
    return ticks.tsc;
}

static void test_choice(void **state)
{
    struct sb_machine machine = good_machine();
    struct sb_ticks ticks;

    (void)state;
    assert_int_equal(takes_tsc(&machine), SB_TICKS_HAVE_TSC);
    machine.constant_tsc = false;
    assert_false(takes_tsc(&machine));
    machine = good_machine();
    machine.nonstop_tsc = false;
    assert_false(takes_tsc(&machine));
    machine = good_machine();
    (void)snprintf(machine.clock_source, sizeof(machine.clock_source), "kvm-clock");
    assert_false(takes_tsc(&machine));
    machine.clock_source[0] = '\0';
    assert_false(takes_tsc(&machine));
    sb_ticks_init_monotonic(&ticks);
    assert_string_equal(sb_ticks_name(&ticks), "monotonic");
}

static void check_monotone(const struct sb_ticks *ticks)
{
    uint64_t first = sb_ticks_now(ticks), last = first;

    for (int i = 0; i < 200000; i++) {
        uint64_t now = sb_ticks_now(ticks);
        if (now < last)
            fail_msg("%s went back by %llu", sb_ticks_name(ticks),
                     (unsigned long long)(last - now));
        last = now;
    }
    assert_true(last > first);
}

/* The clock of this machine; skips where that is CLOCK_MONOTONIC, which has tests of its own. */
static struct sb_ticks tsc_or_skip(void)
{
    struct sb_machine machine;
    struct sb_ticks ticks;

    sb_machine_read(&machine);
    sb_ticks_init(&ticks, &machine);
    if (!ticks.tsc)
        skip();
    return ticks;
}

static void wait_until(uint64_t end_ns)
{
    while (sb_now_ns() < end_ns)
        ;
}

/* How far the ticks of an interval, converted, are from the nanoseconds of the same interval. */
static double disagreement(const struct sb_ticks *ticks)
{
    struct sb_ticks_rate rate;
    uint64_t begin_ns, begin_ticks, span_ns, span_ticks;

    sb_ticks_calibrate_begin(ticks, &rate);
    wait_until(rate.begin.monotonic_ns + INTERVAL_NS);
    assert_true(sb_ticks_calibrate_end(ticks, &rate));

    begin_ns = sb_now_ns();
    begin_ticks = sb_ticks_now(ticks);
    wait_until(begin_ns + INTERVAL_NS);
    span_ns = sb_now_ns() - begin_ns;
    span_ticks = sb_ticks_now(ticks) - begin_ticks;
    return fabs(sb_ticks_to_ns(&rate, (double)span_ticks) / (double)span_ns - 1);
}

static void check_agreement(const struct sb_ticks *ticks)
{
    double best = 1;

    for (int i = 0; i < ATTEMPTS && best > 0.01; i++)
        best = fmin(best, disagreement(ticks));
    if (best > 0.01)
        fail_msg("%s is off by %g %%", sb_ticks_name(ticks), 100 * best);
}

static void test_tsc(void **state)
{
    struct sb_ticks ticks = tsc_or_skip();

    (void)state;
    check_monotone(&ticks);
    check_agreement(&ticks);
}

static void test_monotonic(void **state)
{
    struct sb_ticks ticks;
    struct sb_ticks_rate rate;
    uint64_t before_ns, now, after_ns;

    (void)state;
    sb_ticks_init_monotonic(&ticks);
    before_ns = sb_now_ns();
    now = sb_ticks_now(&ticks);
    after_ns = sb_now_ns();
    assert_true(before_ns <= now && now <= after_ns);
    check_monotone(&ticks);
    check_agreement(&ticks);

    /* Its rate is no measurement: exact from the beginning, however short the stretch. */
    sb_ticks_calibrate_begin(&ticks, &rate);
    assert_true(rate.ticks_per_s == 1e9);
    assert_true(sb_ticks_calibrate_end(&ticks, &rate));
    assert_true(rate.ticks_per_s == 1e9 && rate.error_ppm == 0);
    assert_int_equal(rate.end.ticks, rate.end.monotonic_ns);
    assert_int_equal(rate.end.bracket_ns, 0);
    assert_true(sb_ticks_to_ns(&rate, 12345) == 12345);
}

/* The bound of the error shrinks as the stretch grows, and two rates differ by no more than it and
 * what a clock may be slewed. */
static void test_recalibration(void **state)
{
    struct sb_ticks ticks = tsc_or_skip();
    struct sb_ticks_rate rate, earlier;
    double drift_ppm = 1e6;

    (void)state;
    for (int i = 0; i < ATTEMPTS && fabs(drift_ppm) > 1000; i++) {
        sb_ticks_calibrate_begin(&ticks, &rate);
        assert_true(rate.ticks_per_s == 0);
        assert_true(sb_ticks_to_ns(&rate, 1000) == 0);
        wait_until(rate.begin.monotonic_ns + INTERVAL_NS / 4);
        assert_true(sb_ticks_calibrate_end(&ticks, &rate));
        assert_true(rate.error_ppm > 0);
        earlier = rate;
        wait_until(rate.begin.monotonic_ns + INTERVAL_NS);
        assert_true(sb_ticks_calibrate_end(&ticks, &rate));
        assert_true(rate.begin.ticks == earlier.begin.ticks);
        drift_ppm = sb_ticks_drift_ppm(&earlier, &rate);
    }
    assert_true(fabs(drift_ppm) <= 1000);
}

static void test_rate_unknown(void **state)
{
    struct sb_ticks ticks = tsc_or_skip();
    struct sb_ticks_rate rate, good;

    (void)state;
    sb_ticks_calibrate_begin(&ticks, &good);
    assert_true(sb_ticks_calibrate_end(&ticks, &good));
    rate = good;
    rate.begin.ticks = UINT64_MAX; /* the counter went back */
    assert_false(sb_ticks_calibrate_end(&ticks, &rate));
    assert_true(sb_ticks_to_ns(&rate, 1000) == 0);
    assert_true(sb_ticks_drift_ppm(&good, &rate) == 0);
    assert_true(sb_ticks_drift_ppm(&rate, &good) == 0);
    rate = good;
    rate.begin.monotonic_ns = UINT64_MAX;
    assert_false(sb_ticks_calibrate_end(&ticks, &rate));
}

static void test_arithmetic(void **state)
{
    struct sb_ticks_rate earlier, later;

    (void)state;
    memset(&earlier, 0, sizeof(earlier));
    earlier.ticks_per_s = 2.5e9;
    later = earlier;
    assert_true(fabs(sb_ticks_to_ns(&earlier, 250) - 100) < 1e-9);
    assert_true(fabs(sb_ticks_to_ns(&earlier, ldexp(1, 40)) - 439804651110.4) < 1e-3);
    assert_true(sb_ticks_drift_ppm(&earlier, &later) == 0);
    later.ticks_per_s = 2.5e9 * 1.000123;
    assert_true(fabs(sb_ticks_drift_ppm(&earlier, &later) - 123) < 1e-3);
    later.ticks_per_s = 2.5e9 * 0.9999;
    assert_true(fabs(sb_ticks_drift_ppm(&earlier, &later) + 100) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_tsc),
        cmocka_unit_test(test_monotonic),    cmocka_unit_test(test_recalibration),
        cmocka_unit_test(test_rate_unknown), cmocka_unit_test(test_arithmetic),
    };
    return cmocka_run_group_tests_name("ticks", tests, NULL, NULL);
}
