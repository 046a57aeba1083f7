/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stopwatch.h -- wall and CPU time of a phase, split into what is clocked (the store at work) and
 * the gaps between (preparing and checking data). The CPU clocks are system calls; they are read in
 * the gaps, so that only two readings of CLOCK_MONOTONIC fall to a span.
 *
 * The marks of a counting repeat stand in the gaps, too. In a timed repeat a mark is a load and a
 * branch that is never taken, twice for each span and not within it.
 */
#ifndef SB_STOPWATCH_H
#define SB_STOPWATCH_H

#include "clock.h"
#include "counting.h"

#include <stdbool.h>

struct sb_stopwatch {
    uint64_t elapsed_ns; /* clocked wall time */
    uint64_t cpu_ns;     /* CPU time of the process while clocked */
    /* CPU time of other threads in the gaps: work of the store that the clock does not see. */
    uint64_t gap_other_cpu_ns;
    uint64_t gap_cpu_ns; /* CPU time of the whole process in the gaps */

    uint64_t begin_ns, span_ns, process_cpu_ns, thread_cpu_ns; /* the last readings */
};

static inline uint64_t sb_cpu_now_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline void sb_stopwatch_reset(struct sb_stopwatch *watch)
{
    *watch = (struct sb_stopwatch){0};
    watch->process_cpu_ns = sb_cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    watch->thread_cpu_ns = sb_cpu_now_ns(CLOCK_THREAD_CPUTIME_ID);
    watch->begin_ns = sb_now_ns();
}

/* Ends a gap and starts the clock. */
static inline void sb_stopwatch_start(struct sb_stopwatch *watch)
{
    uint64_t process_ns = sb_cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t gap_ns = process_ns - watch->process_cpu_ns;
    uint64_t own_ns = sb_cpu_now_ns(CLOCK_THREAD_CPUTIME_ID) - watch->thread_cpu_ns;

    watch->gap_cpu_ns += gap_ns;
    watch->gap_other_cpu_ns += gap_ns > own_ns ? gap_ns - own_ns : 0;
    watch->process_cpu_ns = process_ns;
    sb_counting_mark(SB_COUNTING_START);
    watch->span_ns = sb_now_ns();
}

/* Stops the clock and starts a gap; returns the span's nanoseconds. */
static inline uint64_t sb_stopwatch_stop(struct sb_stopwatch *watch)
{
    uint64_t span_ns = sb_now_ns() - watch->span_ns;
    uint64_t process_ns;

    sb_counting_mark(SB_COUNTING_STOP);
    process_ns = sb_cpu_now_ns(CLOCK_PROCESS_CPUTIME_ID);
    watch->elapsed_ns += span_ns;
    watch->cpu_ns += process_ns - watch->process_cpu_ns;
    watch->process_cpu_ns = process_ns;
    watch->thread_cpu_ns = sb_cpu_now_ns(CLOCK_THREAD_CPUTIME_ID);
    return span_ns;
}

/* Wall time since the reset that was not clocked. */
static inline uint64_t sb_stopwatch_unclocked_ns(const struct sb_stopwatch *watch)
{
    return sb_now_ns() - watch->begin_ns - watch->elapsed_ns;
}

#endif
