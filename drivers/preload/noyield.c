/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * noyield.c -- a library to preload in which sched_yield does nothing.
 *
 * Some distributions build Tokyo Cabinet with an option for finding races that makes it call
 * sched_yield all the time. Preloaded into the one process that runs a cell, this library shows
 * what Tokyo Cabinet does without that option. It changes nothing else, and it must not be
 * preloaded for stores that spin with sched_yield. The marker lets the driver see that the preload
 * took effect.
 */
int sched_yield(void);
extern const int storebench_preload_noyield;

#define EXPORT __attribute__((visibility("default")))

EXPORT const int storebench_preload_noyield = 1;

EXPORT int sched_yield(void)
{
    return 0;
}
