/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stats.c -- see stats.h.
 */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

static const double wanted_coverage = 0.95;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* 1 - 2 P(Binomial(n, 1/2) <= k - 1), from logarithms, since 2^-n is tiny for many repeats. */
static double coverage(size_t n, size_t k)
{
    double tail = 0;

    for (size_t i = 0; i < k; i++)
        tail += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) -
                    (double)n * M_LN2);
    return 1 - 2 * tail;
}

void sb_summarise(double *values, size_t count, struct sb_summary *summary)
{
    size_t k = 1;

    *summary = (struct sb_summary){.count = count};
    if (!count)
        return;
    qsort(values, count, sizeof(*values), ascending);
    while (k < (count + 1) / 2 && coverage(count, k + 1) >= wanted_coverage)
        k++;
    summary->median =
        count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    summary->low = values[k - 1];
    summary->high = values[count - k];
    summary->coverage = count > 1 ? coverage(count, k) : 0;
    summary->min = values[0];
    summary->max = values[count - 1];
}
