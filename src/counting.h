/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * counting.h -- how the process of a counting repeat talks to its tracer (tracer.h).
 *
 * It makes marks: calls of prctl with an option that no kernel has. Without a tracer the kernel
 * refuses them with EINVAL and nothing else happens; a tracer sees them like any system call. They
 * are made only while sb_counting_on is set, which no timed repeat does: there a mark is the test
 * of a variable that no one writes.
 */
#ifndef SB_COUNTING_H
#define SB_COUNTING_H

#include "flushcount.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* "SBC1". The options of Linux are small numbers and a few words of letters; this is neither. */
#define SB_COUNTING_OPTION 0x53424331

enum sb_counting_mark {
    SB_COUNTING_BEGIN, /* a scenario begins: forget what was counted */
    SB_COUNTING_START, /* the clock runs */
    SB_COUNTING_STOP,  /* the clock stands */
    SB_COUNTING_END,   /* the scenario is over: further starts do not count */
    SB_COUNTING_FETCH, /* write the figures to the address that is the third argument */
};

extern bool sb_counting_on;

static inline void sb_counting_mark(enum sb_counting_mark mark)
{
    if (__builtin_expect(sb_counting_on, 0))
        (void)syscall(SYS_prctl, SB_COUNTING_OPTION, (long)mark, 0l, 0l, 0l);
}

/* The figures of the scenario that was begun last. False if nobody traces this process. */
bool sb_counting_fetch(struct sb_flush_totals *totalsp);

#endif
