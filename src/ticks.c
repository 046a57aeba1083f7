/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ticks.c -- see ticks.h.
 */
#include "ticks.h"

#include <string.h>

#define NS_PER_S 1e9

/* Readings per moment, of which the tightest counts: the others had an interrupt, a cache miss or
 * the hypervisor in between. */
#define READINGS 16

void sb_ticks_init(struct sb_ticks *ticks, const struct sb_machine *machine)
{
    ticks->tsc = SB_TICKS_HAVE_TSC && machine->constant_tsc && machine->nonstop_tsc &&
                 strcmp(machine->clock_source, "tsc") == 0;
}

void sb_ticks_init_monotonic(struct sb_ticks *ticks)
{
    ticks->tsc = false;
}

const char *sb_ticks_name(const struct sb_ticks *ticks)
{
    return ticks->tsc ? "tsc" : "monotonic";
}

/* The counter, read neither before what precedes it nor after what follows. */
static uint64_t ordered_ticks(const struct sb_ticks *ticks)
{
    uint64_t now;

#if SB_TICKS_HAVE_TSC
    __builtin_ia32_lfence();
#endif
    now = sb_ticks_now(ticks);
#if SB_TICKS_HAVE_TSC
    __builtin_ia32_lfence();
#endif
    return now;
}

static struct sb_ticks_moment read_moment(const struct sb_ticks *ticks)
{
    struct sb_ticks_moment best = {0, 0, UINT64_MAX};

    for (int i = 0; i < READINGS; i++) {
        uint64_t before_ns = sb_now_ns();
        uint64_t now = ordered_ticks(ticks);
        uint64_t bracket_ns = sb_now_ns() - before_ns;

        if (bracket_ns < best.bracket_ns)
            best = (struct sb_ticks_moment){now, before_ns + bracket_ns / 2, bracket_ns};
    }
    if (!ticks->tsc) { /* both are the same clock */
        best.monotonic_ns = best.ticks;
        best.bracket_ns = 0;
    }
    return best;
}

void sb_ticks_calibrate_begin(const struct sb_ticks *ticks, struct sb_ticks_rate *rate)
{
    rate->begin = read_moment(ticks);
    rate->end = rate->begin;
    rate->ticks_per_s = ticks->tsc ? 0 : NS_PER_S;
    rate->error_ppm = 0;
}

bool sb_ticks_calibrate_end(const struct sb_ticks *ticks, struct sb_ticks_rate *rate)
{
    double span_ns;

    rate->end = read_moment(ticks);
    if (!ticks->tsc)
        return true;
    rate->ticks_per_s = 0;
    rate->error_ppm = 0;
    if (rate->end.monotonic_ns <= rate->begin.monotonic_ns || rate->end.ticks <= rate->begin.ticks)
        return false;
    span_ns = (double)(rate->end.monotonic_ns - rate->begin.monotonic_ns);
    rate->ticks_per_s = (double)(rate->end.ticks - rate->begin.ticks) / span_ns * NS_PER_S;
    /* Each moment is the middle of its bracket and off by half of it at most. */
    rate->error_ppm = (double)(rate->begin.bracket_ns + rate->end.bracket_ns) / 2 / span_ns * 1e6;
    return true;
}

double sb_ticks_drift_ppm(const struct sb_ticks_rate *earlier, const struct sb_ticks_rate *later)
{
    if (!(earlier->ticks_per_s > 0 && later->ticks_per_s > 0))
        return 0;
    return (later->ticks_per_s / earlier->ticks_per_s - 1) * 1e6;
}

double sb_ticks_to_ns(const struct sb_ticks_rate *rate, double count_ticks)
{
    return rate->ticks_per_s > 0 ? count_ticks / rate->ticks_per_s * NS_PER_S : 0;
}
