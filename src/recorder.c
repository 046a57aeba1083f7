/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recorder.c -- see recorder.h.
 */
#include "recorder.h"

#include "mem.h"

#include <stdlib.h>
#include <string.h>

void sb_recorder_init(struct sb_recorder *recorder, const struct sb_machine *machine,
                      uint64_t interval_ns)
{
    memset(recorder, 0, sizeof(*recorder));
    sb_ticks_init(&recorder->ticks, machine);
    recorder->interval_ns = interval_ns;
    sb_ticks_calibrate_begin(&recorder->ticks, &recorder->before);
}

void sb_recorder_release(struct sb_recorder *recorder)
{
    free(recorder->intervals);
    recorder->intervals = NULL;
    recorder->interval_count = 0;
}

void sb_recorder_begin(struct sb_recorder *recorder, bool latency, bool per_commit)
{
    recorder->latency = latency;
    recorder->per_commit = per_commit;
    sb_histogram_reset(&recorder->histogram);
    sb_worst_reset(&recorder->worst, 0);
    recorder->meanwhile_count = 0;
    recorder->carried_ticks = 0;
    recorder->interval_count = 0;
    if (!latency)
        return;
    (void)sb_ticks_calibrate_end(&recorder->ticks, &recorder->before);
    sb_ticks_calibrate_begin(&recorder->ticks, &recorder->rate);
}

void sb_recorder_span_begin(struct sb_recorder *recorder, uint64_t op_base)
{
    recorder->op_base = op_base;
    recorder->span_max_ticks = 0;
    if (recorder->latency)
        sb_usage_sample(&recorder->usage_before);
}

/* Keeps one note for each operation that is still among the worst. */
static void note_worst(struct sb_recorder *r, uint64_t ops, uint64_t span_ns)
{
    size_t kept = 0;
    struct sb_usage used;
    bool sampled = false;

    for (size_t i = 0; i < r->meanwhile_count; i++) {
        for (uint32_t w = 0; w < r->worst.count; w++) {
            if (r->worst.ops[w].op != r->meanwhile[i].op)
                continue;
            r->meanwhile[kept++] = r->meanwhile[i];
            break;
        }
    }
    r->meanwhile_count = kept;
    for (uint32_t w = 0; w < r->worst.count && r->meanwhile_count < SB_WORST_COUNT; w++) {
        uint64_t op = r->worst.ops[w].op;

        if (op < r->op_base || op >= r->op_base + ops)
            continue;
        if (!sampled) {
            sb_usage_sample(&used);
            sb_usage_diff(&r->usage_before, &used, &used);
            sampled = true;
        }
        r->meanwhile[r->meanwhile_count++] = (struct sb_meanwhile){op, span_ns, used};
    }
}

void sb_recorder_span_end(struct sb_recorder *r, uint64_t ops, uint64_t span_ns,
                          uint64_t elapsed_ns)
{
    size_t index = (size_t)((elapsed_ns - span_ns) / r->interval_ns);
    struct sb_interval *interval;

    while (r->interval_count <= index) {
        r->intervals = sb_grow(r->intervals, r->interval_count + 1, sizeof(*r->intervals));
        r->intervals[r->interval_count++] = (struct sb_interval){0};
    }
    interval = &r->intervals[index];
    interval->ops += ops;
    interval->elapsed_ns += span_ns;
    if (r->span_max_ticks > interval->max_ticks)
        interval->max_ticks = r->span_max_ticks;
    if (r->latency)
        note_worst(r, ops, span_ns);
}

void sb_recorder_end(struct sb_recorder *recorder)
{
    if (recorder->latency)
        (void)sb_ticks_calibrate_end(&recorder->ticks, &recorder->rate);
}
