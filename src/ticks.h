/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ticks.h -- the clock for the latency of single operations.
 *
 * Owns the choice between the time stamp counter and CLOCK_MONOTONIC, and the rate between them.
 * A duration is counted in raw ticks; it becomes nanoseconds only when it is reported, by the rate
 * that was measured over the very phase it comes from. Rates of throughput do not come from here:
 * they are wall time by clock.h.
 */
#ifndef SB_TICKS_H
#define SB_TICKS_H

#include "clock.h"
#include "sysinfo.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define SB_TICKS_HAVE_TSC 1
#else
#define SB_TICKS_HAVE_TSC 0
#endif

struct sb_ticks {
    bool tsc; /* ticks are those of the time stamp counter, else nanoseconds of CLOCK_MONOTONIC */
};

/* The counter is taken on x86-64 when it runs at one rate, never stops, and the kernel reads it for
 * its own clocks: the kernel takes that back when it sees the counters of two CPUs disagree. */
void sb_ticks_init(struct sb_ticks *ticks, const struct sb_machine *machine);

/* CLOCK_MONOTONIC whatever the machine: for comparing both, and where the user wants it. */
void sb_ticks_init_monotonic(struct sb_ticks *ticks);

/* "tsc" or "monotonic", for results. Static storage. */
const char *sb_ticks_name(const struct sb_ticks *ticks);

/* Plain rdtsc: it does not wait for earlier loads to finish, so a stamp may be early by what the
 * processor has in flight (tens of nanoseconds). Operations that are stamped in a chain, the end of
 * one being the start of the next, lose nothing by that: the time moves to the neighbour and the
 * sum is exact. lfence;rdtsc and rdtscp wait, cost more, and empty the pipeline between operations,
 * which changes what is measured. On an EPYC of 2024 (2.6 ticks
 * per ns): rdtsc 9 ns, lfence;rdtsc 15, rdtscp 17, clock_gettime 21; a whole chained operation with
 * its histogram 15, 19, 21 and 24. The branch below costs nothing that can be measured, so that one
 * loop serves both clocks. */
static inline uint64_t sb_ticks_now(const struct sb_ticks *ticks)
{
#if SB_TICKS_HAVE_TSC
    if (__builtin_expect(ticks->tsc, 1))
        return __builtin_ia32_rdtsc();
#else
    (void)ticks;
#endif
    return sb_now_ns();
}

/* ---- the rate ----------------------------------------------------------------------------- */

/* One moment on both clocks. */
struct sb_ticks_moment {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t bracket_ns; /* the two readings around `ticks` were this far apart */
};

/* A stretch of time on both clocks, and the rate over it. A double holds any count of ticks below
 * 2^53 (40 days) exactly and the rate to 1e-16, while the clocks agree to 1e-6 at best, and
 * conversion happens only when reporting: there is nothing that fixed point could improve. */
struct sb_ticks_rate {
    struct sb_ticks_moment begin, end;
    double ticks_per_s;
    /* Bound that follows from the brackets alone; the longer the stretch, the smaller. */
    double error_ppm;
};

/* Reads both clocks at the beginning of a phase. Takes some microseconds; outside timed spans. The
 * rate is not known yet, except for CLOCK_MONOTONIC. */
void sb_ticks_calibrate_begin(const struct sb_ticks *ticks, struct sb_ticks_rate *rate);

/* Reads them at the end and sets the rate since the beginning; may be called again later, for the
 * longer stretch. Returns false, with a rate of 0, if no time has passed or a clock went back: then
 * nothing can be converted. A stretch of 50 ms is known to about 1 ppm. */
bool sb_ticks_calibrate_end(const struct sb_ticks *ticks, struct sb_ticks_rate *rate);

/* By how many millionths `later` is faster than `earlier`; 0 if either is unknown. What exceeds the
 * sum of both error_ppm is real: the counter or the kernel's clock changed its rate (NTP slews by
 * up to 500 ppm), or the machine was moved to another host. */
double sb_ticks_drift_ppm(const struct sb_ticks_rate *earlier, const struct sb_ticks_rate *later);

/* Nanoseconds of a number of ticks, which may be a mean; 0 if the rate is unknown. */
double sb_ticks_to_ns(const struct sb_ticks_rate *rate, double count_ticks);

#endif
