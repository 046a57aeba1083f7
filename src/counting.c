/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * counting.c -- see counting.h.
 */
#include "counting.h"

#include <string.h>

bool sb_counting_on;

bool sb_counting_fetch(struct sb_flush_totals *totalsp)
{
    memset(totalsp, 0, sizeof(*totalsp));
    if (!sb_counting_on)
        return false;
    (void)syscall(SYS_prctl, SB_COUNTING_OPTION, (long)SB_COUNTING_FETCH, totalsp, 0l, 0l);
    /* The tracer wrote behind the compiler's back. */
    __asm__ volatile("" : : "r"(totalsp) : "memory");
    return totalsp->valid == SB_FLUSH_TOTALS_VALID;
}
