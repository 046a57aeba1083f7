/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_counted.h -- the figures of a counting repeat as members of the result.
 */
#ifndef SB_DESCRIBE_COUNTED_H
#define SB_DESCRIBE_COUNTED_H

#include "flushcount.h"

#include <jansson.h>

/* Fills `counted`: ops, commits, spans, flushes in total and by kind, system calls in total and by
 * name for the most frequent ones, bytes by calls, all of these per commit and per operation where
 * there were any, and what could not be seen. */
void sb_describe_counted(json_t *counted, const struct sb_flush_totals *totals, uint64_t ops,
                         uint64_t commits);

#endif
