/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recorder.h -- what a phase keeps besides its totals: the latency of each operation (with
 * --latency), the worst operations and what the process did meanwhile, and the rate by interval.
 *
 * The measured loop only calls sb_recorder_stamp; everything else happens in gaps.
 */
#ifndef SB_RECORDER_H
#define SB_RECORDER_H

#include "histogram.h"
#include "ticks.h"
#include "usage.h"

#include <stddef.h>

/* Operations of one stretch of clocked time. */
struct sb_interval {
    uint64_t ops, elapsed_ns;
    uint64_t max_ticks; /* the longest operation; latency mode only */
};

/* What the process did during the span in which one of the worst operations fell. */
struct sb_meanwhile {
    uint64_t op; /* of sb_worst_op */
    uint64_t span_ns;
    struct sb_usage used;
};

struct sb_recorder {
    bool latency;    /* stamp operations */
    bool per_commit; /* stamp commits instead */
    struct sb_ticks ticks;
    struct sb_ticks_rate before; /* from the start of the process to that of the phase */
    struct sb_ticks_rate rate;   /* of the phase */
    struct sb_histogram histogram;
    struct sb_worst worst;
    struct sb_meanwhile meanwhile[SB_WORST_COUNT];
    size_t meanwhile_count;

    /* Of the span that runs. */
    uint64_t stamp_ticks;   /* end of the last operation, start of the next */
    uint64_t carried_ticks; /* of a commit that began in an earlier span */
    uint64_t op_base;       /* number of the span's first operation */
    uint64_t span_max_ticks;
    struct sb_usage usage_before;

    uint64_t interval_ns;
    struct sb_interval *intervals; /* owned */
    size_t interval_count;
};

void sb_recorder_init(struct sb_recorder *recorder, const struct sb_machine *machine,
                      uint64_t interval_ns);
void sb_recorder_release(struct sb_recorder *recorder);

/* At the start of a phase, after its warm-up: empties it and reads both clocks. */
void sb_recorder_begin(struct sb_recorder *recorder, bool latency, bool per_commit);

/* Around each span, in the gaps. `op_base` is the number of operations before it. */
void sb_recorder_span_begin(struct sb_recorder *recorder, uint64_t op_base);
void sb_recorder_span_end(struct sb_recorder *recorder, uint64_t ops, uint64_t span_ns,
                          uint64_t elapsed_ns);

/* At the end of a phase: fixes the clock's rate. */
void sb_recorder_end(struct sb_recorder *recorder);

/* ---- the measured loop -------------------------------------------------------------------- */

static inline void sb_recorder_start(struct sb_recorder *recorder)
{
    recorder->stamp_ticks = sb_ticks_now(&recorder->ticks);
}

/* Ends an operation: one reading of the clock serves it and the next. */
static inline void sb_recorder_stamp(struct sb_recorder *recorder, size_t slot, uint64_t key_id)
{
    uint64_t now_ticks = sb_ticks_now(&recorder->ticks);
    uint64_t ticks = now_ticks - recorder->stamp_ticks + recorder->carried_ticks;

    recorder->stamp_ticks = now_ticks;
    recorder->carried_ticks = 0;
    sb_histogram_add(&recorder->histogram, ticks);
    if (__builtin_expect(ticks > recorder->span_max_ticks, 0))
        recorder->span_max_ticks = ticks;
    sb_worst_add(&recorder->worst, ticks, recorder->op_base + slot, key_id, now_ticks);
}

/* Ends a span in the middle of a commit: the time so far goes with it. */
static inline void sb_recorder_carry(struct sb_recorder *recorder)
{
    recorder->carried_ticks += sb_ticks_now(&recorder->ticks) - recorder->stamp_ticks;
}

#endif
