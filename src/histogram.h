/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * histogram.h -- how long operations took: a log-linear histogram and the worst few of them.
 *
 * Both belong to one thread while it measures; they are merged after it has been joined. Durations
 * are in ticks of whatever clock the caller uses (ticks.h); nothing here knows nanoseconds. Nothing
 * allocates and nothing can fail.
 *
 * Buckets: a duration below 2^(SB_HISTOGRAM_BITS + 1) has a bucket of its own; each octave
 * [2^k, 2^(k+1)) above is cut into 2^SB_HISTOGRAM_BITS buckets of equal width. A bucket's width is
 * therefore at most 1/128 of its lower bound, less than 1 %. Everything from SB_HISTOGRAM_LIMIT on
 * (seven minutes at 2.6 ticks per ns) shares one overflow bucket. The scheme is that of
 * HdrHistogram (Gil Tene) with a power of two for the sub-buckets.
 *
 * The struct has 34 KiB, but an octave has 1 KiB and operations of one kind spread over few: 100 ns
 * to 10 us are seven octaves, so that what is touched stays in the first-level cache.
 */
#ifndef SB_HISTOGRAM_H
#define SB_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_HISTOGRAM_BITS 7        /* sub-bucket bits */
#define SB_HISTOGRAM_LIMIT_BITS 40 /* durations below 2^40 ticks are resolved */
#define SB_HISTOGRAM_LIMIT (UINT64_C(1) << SB_HISTOGRAM_LIMIT_BITS)
/* The number of resolving buckets, which is also the index of the overflow bucket. */
#define SB_HISTOGRAM_OVERFLOW                                                                      \
    ((size_t)(SB_HISTOGRAM_LIMIT_BITS - SB_HISTOGRAM_BITS + 1) << SB_HISTOGRAM_BITS)

struct sb_histogram {
    /* What every operation touches is together. An embedding struct of a worker should begin on a
     * cache line of its own, since this line is written by each operation. */
    uint64_t count;
    uint64_t min_ticks; /* UINT64_MAX while empty */
    uint64_t max_ticks;
    uint64_t sum_low, sum_high; /* the exact sum, of 128 bits */
    uint64_t counts[SB_HISTOGRAM_OVERFLOW + 1];
};

/* One bucket; both bounds belong to it. */
struct sb_bucket {
    uint64_t lower_ticks;
    uint64_t upper_ticks; /* UINT64_MAX in the overflow bucket */
    uint64_t count;
};

/* Makes it empty and writes all of it, so that no page is touched for the first time while
 * measuring. Required before first use. */
void sb_histogram_reset(struct sb_histogram *histogram);

/* The index of a duration's bucket. The formula goes on rising beyond the last octave, so that one
 * comparison (a conditional move) sends all longer durations to the overflow bucket. */
static inline size_t sb_histogram_index(uint64_t ticks)
{
    unsigned top_bit = 63u - (unsigned)__builtin_clzll(ticks | (1u << SB_HISTOGRAM_BITS));
    unsigned shift = top_bit - SB_HISTOGRAM_BITS;
    size_t index = ((size_t)shift << SB_HISTOGRAM_BITS) + (size_t)(ticks >> shift);

    return index < SB_HISTOGRAM_OVERFLOW ? index : SB_HISTOGRAM_OVERFLOW;
}

/* Records one operation. The two branches are almost never taken after the first operations. */
static inline void sb_histogram_add(struct sb_histogram *histogram, uint64_t ticks)
{
    histogram->counts[sb_histogram_index(ticks)]++;
    histogram->count++;
    histogram->sum_low += ticks;
    histogram->sum_high += histogram->sum_low < ticks; /* an add with carry */
    if (__builtin_expect(ticks < histogram->min_ticks, 0))
        histogram->min_ticks = ticks;
    if (__builtin_expect(ticks > histogram->max_ticks, 0))
        histogram->max_ticks = ticks;
}

/* Adds all that `from` has to `into`, as if every operation had been recorded there. */
void sb_histogram_merge(struct sb_histogram *into, const struct sb_histogram *from);

/* The mean, from the exact sum; 0 while empty. */
double sb_histogram_mean(const struct sb_histogram *histogram);

/* Whether there are samples enough for quantile p: at least ten are expected above it, that is,
 * count >= 10 / (1 - p). Never for p >= 1 (the maximum is exact and needs no quantile), for p < 0,
 * or for NaN. */
bool sb_histogram_supports(const struct sb_histogram *histogram, double p);

/* The least duration that p * count of the operations did not exceed. It is given as the upper
 * bound of its bucket, clamped to the exact minimum and maximum: never too low, and too high by
 * less than 1/128. In the overflow bucket it is the maximum. Returns false, with *ticksp = 0, if
 * the samples do not support p. */
bool sb_histogram_quantile(const struct sb_histogram *histogram, double p, uint64_t *ticksp);

/* Visits the buckets that are not empty, in rising order:
 *     size_t position = 0;
 *     while (sb_histogram_next(histogram, &position, &bucket)) ...
 * Returns false at the end. */
bool sb_histogram_next(const struct sb_histogram *histogram, size_t *positionp,
                       struct sb_bucket *bucketp);

/* ---- the worst operations ----------------------------------------------------------------- */

#define SB_WORST_COUNT 16

struct sb_worst_op {
    uint64_t ticks;    /* how long it took */
    uint64_t op;       /* its number in the phase of its worker */
    uint64_t key_id;   /* of the first key, for a batch */
    uint64_t at_ticks; /* the clock when it ended */
    uint32_t worker;
};

/* The longest operations. Among equally long ones those that ended first are kept. */
struct sb_worst {
    /* What a duration must reach to be kept: 0 until the table is full, then one more than its
     * smallest. */
    uint64_t floor_ticks;
    uint32_t count;
    uint32_t worker;                        /* copied into each operation */
    struct sb_worst_op ops[SB_WORST_COUNT]; /* `count` of them, longest first */
};

void sb_worst_reset(struct sb_worst *worst, uint32_t worker);

/* Keeps the operation if it is among the longest; otherwise does nothing. Out of line and cold: of
 * n operations in random order about 16 * (1 + ln(n / 16)) get here. */
void sb_worst_insert(struct sb_worst *worst, const struct sb_worst_op *op) __attribute__((cold));

/* Records one operation of this worker. `op`, `key_id` and `at_ticks` should be at hand in any
 * case: they are used only when the duration qualifies. */
static inline void sb_worst_add(struct sb_worst *worst, uint64_t ticks, uint64_t op,
                                uint64_t key_id, uint64_t at_ticks)
{
    if (__builtin_expect(ticks >= worst->floor_ticks, 0))
        sb_worst_insert(worst, &(struct sb_worst_op){ticks, op, key_id, at_ticks, worst->worker});
}

/* Keeps the longest of both. The order of merging does not matter as long as no two workers ended
 * equally long operations at the same tick. */
void sb_worst_merge(struct sb_worst *into, const struct sb_worst *from);

#endif
