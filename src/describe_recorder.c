/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_recorder.c -- see describe_recorder.h.
 */
#include "describe_recorder.h"

#include "jsonx.h"

static const struct {
    const char *key;
    double p;
} percentiles[] = {
    {"p50_ns", 0.5},    {"p90_ns", 0.9},      {"p99_ns", 0.99},
    {"p999_ns", 0.999}, {"p9999_ns", 0.9999}, {"p99999_ns", 0.99999},
};

static double to_ns(const struct sb_recorder *r, uint64_t ticks)
{
    return sb_ticks_to_ns(&r->rate, (double)ticks);
}

void sb_describe_intervals(json_t *repeat, const struct sb_recorder *r)
{
    json_t *intervals = sb_json_take(repeat, "intervals", json_array());

    for (size_t i = 0; i < r->interval_count; i++) {
        const struct sb_interval *interval = &r->intervals[i];
        double max_ns = r->latency ? to_ns(r, interval->max_ticks) : 0;
        json_t *row = json_array();

        sb_json_append_take(row, json_integer((json_int_t)interval->ops));
        sb_json_append_take(row, json_integer((json_int_t)interval->elapsed_ns));
        sb_json_append_take(row, json_integer((json_int_t)max_ns));
        sb_json_append_take(intervals, row);
    }
}

/* [[lower_ticks, count], ...]: all that is needed to merge histograms and to work percentiles out
 * again, since the bucket of a duration follows from its lower bound (histogram.h). */
static json_t *describe_buckets(const struct sb_histogram *histogram)
{
    json_t *buckets = json_array();
    struct sb_bucket bucket;
    size_t position = 0;

    while (sb_histogram_next(histogram, &position, &bucket)) {
        json_t *row = json_array();

        sb_json_append_take(row, json_integer((json_int_t)bucket.lower_ticks));
        sb_json_append_take(row, json_integer((json_int_t)bucket.count));
        sb_json_append_take(buckets, row);
    }
    return buckets;
}

static void add_meanwhile(json_t *object, const struct sb_recorder *r, uint64_t op)
{
    for (size_t i = 0; i < r->meanwhile_count; i++) {
        const struct sb_meanwhile *m = &r->meanwhile[i];

        if (m->op != op)
            continue;
        sb_json_u64(object, "span_ns", m->span_ns);
        sb_json_u64(object, "span_cpu_ns", m->used.cpu_user_ns + m->used.cpu_system_ns);
        sb_json_u64(object, "span_minor_faults", m->used.minor_faults);
        sb_json_u64(object, "span_major_faults", m->used.major_faults);
        sb_json_u64(object, "span_voluntary_switches", m->used.voluntary_switches);
        sb_json_u64(object, "span_involuntary_switches", m->used.involuntary_switches);
        sb_json_u64(object, "span_read_bytes", m->used.read_bytes);
        sb_json_u64(object, "span_write_bytes", m->used.write_bytes);
        return;
    }
}

static json_t *describe_worst(const struct sb_recorder *r)
{
    json_t *worst = json_array();

    for (uint32_t i = 0; i < r->worst.count; i++) {
        const struct sb_worst_op *op = &r->worst.ops[i];
        json_t *object = json_object();

        sb_json_real(object, "ns", to_ns(r, op->ticks));
        sb_json_u64(object, "op", op->op);
        sb_json_u64(object, "key_id", op->key_id);
        sb_json_real(object, "at_ns", to_ns(r, op->at_ticks - r->rate.begin.ticks));
        add_meanwhile(object, r, op->op);
        sb_json_append_take(worst, object);
    }
    return worst;
}

void sb_describe_latency(json_t *repeat, const struct sb_recorder *r)
{
    const struct sb_histogram *h = &r->histogram;
    json_t *latency = sb_json_take(repeat, "latency", json_object());

    sb_json_text(latency, "of", r->per_commit ? "commit" : "operation");
    sb_json_text(latency, "clock", sb_ticks_name(&r->ticks));
    sb_json_real(latency, "ticks_per_s", r->rate.ticks_per_s);
    sb_json_real(latency, "rate_error_ppm", r->rate.error_ppm);
    sb_json_real(latency, "drift_ppm", sb_ticks_drift_ppm(&r->before, &r->rate));
    sb_json_u64(latency, "count", h->count);
    if (!h->count)
        return;
    sb_json_real(latency, "min_ns", to_ns(r, h->min_ticks));
    sb_json_real(latency, "mean_ns", sb_ticks_to_ns(&r->rate, sb_histogram_mean(h)));
    sb_json_real(latency, "max_ns", to_ns(r, h->max_ticks));
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t ticks;

        if (sb_histogram_quantile(h, percentiles[i].p, &ticks))
            sb_json_real(latency, percentiles[i].key, to_ns(r, ticks));
    }
    (void)sb_json_take(latency, "buckets", describe_buckets(h));
    (void)sb_json_take(latency, "worst", describe_worst(r));
}
