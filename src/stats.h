/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats.h -- the median of a few repeats and what is known of it.
 *
 * The interval needs no assumption about the distribution: between the k-th smallest and the k-th
 * largest of n independent values lies the median with probability 1 - 2 P(Binomial(n, 1/2) < k)
 * (David and Nagaraja, "Order Statistics", 3rd ed., section 7.1). The largest k that reaches 95 %
 * is taken; under six repeats none does, so the interval is the range and its coverage says so.
 */
#ifndef SB_STATS_H
#define SB_STATS_H

#include <stddef.h>

struct sb_summary {
    size_t count;
    double median, low, high;
    double coverage; /* probability that the interval holds the median; 0 for fewer than 2 values */
    double min, max;
};

/* Sorts `values`. With no value everything is 0. */
void sb_summarise(double *values, size_t count, struct sb_summary *summary);

#endif
