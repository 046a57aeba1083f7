/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * histogram.c -- see histogram.h. What is here runs outside the measured loop, except
 * sb_worst_insert, which the loop reaches a few hundred times at most.
 */
#include "histogram.h"

#include <math.h>
#include <string.h>

/* Samples that must be expected beyond a quantile before it is more than noise. */
#define SAMPLES_BEYOND 10.0

void sb_histogram_reset(struct sb_histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
    histogram->min_ticks = UINT64_MAX;
}

void sb_histogram_merge(struct sb_histogram *into, const struct sb_histogram *from)
{
    for (size_t i = 0; i <= SB_HISTOGRAM_OVERFLOW; i++)
        into->counts[i] += from->counts[i];
    into->count += from->count;
    into->sum_low += from->sum_low;
    into->sum_high += from->sum_high + (into->sum_low < from->sum_low);
    if (from->min_ticks < into->min_ticks)
        into->min_ticks = from->min_ticks;
    if (from->max_ticks > into->max_ticks)
        into->max_ticks = from->max_ticks;
}

double sb_histogram_mean(const struct sb_histogram *histogram)
{
    double sum = ldexp((double)histogram->sum_high, 64) + (double)histogram->sum_low;

    return histogram->count ? sum / (double)histogram->count : 0;
}

bool sb_histogram_supports(const struct sb_histogram *histogram, double p)
{
    if (!(p >= 0 && p < 1))
        return false;
    /* 1 - 0.9999 is less than 0.0001 in binary: the slack makes 100 000 samples enough for it. */
    return (double)histogram->count * (1 - p) >= SAMPLES_BEYOND * (1 - 1e-9);
}

/* The least number of operations that is at least p * count; 1 if that is 0. */
static uint64_t rank_of(double p, uint64_t count)
{
    double product = p * (double)count;
    double whole = nearbyint(product);

    /* 0.07 * 100 is a little more than 7 in binary, but means 7. */
    if (fabs(product - whole) > product * 1e-12)
        whole = ceil(product);
    if (whole < 1)
        return 1;
    return whole < (double)count ? (uint64_t)whole : count;
}

static void bounds_of(size_t index, struct sb_bucket *bucketp)
{
    /* The first octave that is cut has the same width as the one below, and both count as 0. */
    unsigned shift =
        index >> (SB_HISTOGRAM_BITS + 1) ? (unsigned)(index >> SB_HISTOGRAM_BITS) - 1 : 0;
    uint64_t mantissa = index - ((uint64_t)shift << SB_HISTOGRAM_BITS);

    bucketp->lower_ticks = mantissa << shift;
    bucketp->upper_ticks =
        index == SB_HISTOGRAM_OVERFLOW ? UINT64_MAX : ((mantissa + 1) << shift) - 1;
}

bool sb_histogram_next(const struct sb_histogram *histogram, size_t *positionp,
                       struct sb_bucket *bucketp)
{
    size_t i = *positionp;

    while (i <= SB_HISTOGRAM_OVERFLOW && histogram->counts[i] == 0)
        i++;
    if (i > SB_HISTOGRAM_OVERFLOW) {
        *positionp = i;
        *bucketp = (struct sb_bucket){0, 0, 0};
        return false;
    }
    *positionp = i + 1;
    bounds_of(i, bucketp);
    bucketp->count = histogram->counts[i];
    return true;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    if (value < low)
        return low;
    return value < high ? value : high;
}

bool sb_histogram_quantile(const struct sb_histogram *histogram, double p, uint64_t *ticksp)
{
    uint64_t rank, seen = 0;
    struct sb_bucket bucket;
    size_t position = 0;

    *ticksp = 0;
    if (!sb_histogram_supports(histogram, p))
        return false;
    rank = rank_of(p, histogram->count);
    while (seen < rank && sb_histogram_next(histogram, &position, &bucket)) {
        seen += bucket.count;
        *ticksp = clamp(bucket.upper_ticks, histogram->min_ticks, histogram->max_ticks);
    }
    return true;
}

/* ---- the worst operations ----------------------------------------------------------------- */

void sb_worst_reset(struct sb_worst *worst, uint32_t worker)
{
    memset(worst, 0, sizeof(*worst));
    worst->worker = worker;
}

/* Whether `a` stands before `b`. */
static bool is_worse(const struct sb_worst_op *a, const struct sb_worst_op *b)
{
    return a->ticks != b->ticks ? a->ticks > b->ticks : a->at_ticks < b->at_ticks;
}

void sb_worst_insert(struct sb_worst *worst, const struct sb_worst_op *op)
{
    size_t i = worst->count;

    if (i == SB_WORST_COUNT && !is_worse(op, &worst->ops[i - 1]))
        return;
    if (i == SB_WORST_COUNT)
        i--; /* the last one falls out */
    else
        worst->count++;
    for (; i > 0 && is_worse(op, &worst->ops[i - 1]); i--)
        worst->ops[i] = worst->ops[i - 1];
    worst->ops[i] = *op;
    if (worst->count == SB_WORST_COUNT) {
        uint64_t smallest = worst->ops[SB_WORST_COUNT - 1].ticks;
        worst->floor_ticks = smallest < UINT64_MAX ? smallest + 1 : smallest;
    }
}

void sb_worst_merge(struct sb_worst *into, const struct sb_worst *from)
{
    for (size_t i = 0; i < from->count; i++)
        sb_worst_insert(into, &from->ops[i]);
}
