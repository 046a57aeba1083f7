/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_recorder.h -- what a recorder holds as members of a repeat in the result.
 */
#ifndef SB_DESCRIBE_RECORDER_H
#define SB_DESCRIBE_RECORDER_H

#include "recorder.h"

#include <jansson.h>

/* Adds `intervals`: [[ops, elapsed_ns, max_ns], ...], one for each interval of clocked time; max_ns
 * is 0 without latencies. */
void sb_describe_intervals(json_t *repeat, const struct sb_recorder *recorder);

/* Adds `latency`: clock, its rate, count, min, mean, max, the percentiles that the samples support,
 * all buckets in ticks, and the worst operations. */
void sb_describe_latency(json_t *repeat, const struct sb_recorder *recorder);

#endif
