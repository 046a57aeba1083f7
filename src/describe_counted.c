/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_counted.c -- see describe_counted.h.
 */
#include "describe_counted.h"

#include "jsonx.h"
#include "sysnames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 12 };

static uint64_t all_flushes(const struct sb_flush_totals *totals)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < SB_FLUSH_KINDS; kind++)
        sum += totals->flushes[kind];
    return sum;
}

static void put_by_kind(json_t *object, const struct sb_flush_totals *totals)
{
    for (int kind = 0; kind < SB_FLUSH_KINDS; kind++)
        sb_json_u64(object, sb_flush_kind_name((enum sb_flush_kind)kind), totals->flushes[kind]);
}

/* The most frequent ones, those first. */
static void put_by_name(json_t *object, const struct sb_flush_totals *totals)
{
    uint64_t left[SB_SYSTEM_CALLS];

    memcpy(left, totals->by_number, sizeof(left));
    for (int n = 0; n < NAMES_MAX; n++) {
        size_t most = 0;
        const char *name;
        char number[32];

        for (size_t i = 1; i < SB_SYSTEM_CALLS; i++)
            if (left[i] > left[most])
                most = i;
        if (!left[most])
            return;
        (void)snprintf(number, sizeof(number), "number-%zu", most);
        name = sb_system_call_name(most);
        sb_json_u64(object, name ? name : number, left[most]);
        left[most] = 0;
    }
}

static void put_shares(json_t *counted, const char *key, const struct sb_flush_totals *totals,
                       uint64_t count)
{
    double by = (double)count;
    json_t *object;

    if (!count)
        return;
    object = sb_json_take(counted, key, json_object());
    sb_json_real(object, "flushes", (double)all_flushes(totals) / by);
    sb_json_real(object, "system_calls", (double)totals->system_calls / by);
    sb_json_real(object, "bytes_written", (double)totals->bytes_written / by);
    sb_json_real(object, "bytes_read", (double)totals->bytes_read / by);
}

static void put_unseen(json_t *counted, uint64_t unseen)
{
    json_t *words = sb_json_take(counted, "unseen", json_array());

    if (unseen & SB_UNSEEN_IO_URING)
        sb_json_append_text(words, "io_uring");
    if (unseen & SB_UNSEEN_AIO)
        sb_json_append_text(words, "io_submit");
}

void sb_describe_counted(json_t *counted, const struct sb_flush_totals *totals, uint64_t ops,
                         uint64_t commits)
{
    sb_json_u64(counted, "ops", ops);
    sb_json_u64(counted, "commits", commits);
    sb_json_u64(counted, "spans", totals->spans);
    sb_json_u64(counted, "flushes", all_flushes(totals));
    put_by_kind(sb_json_take(counted, "flushes_by_kind", json_object()), totals);
    sb_json_u64(counted, "system_calls", totals->system_calls);
    put_by_name(sb_json_take(counted, "system_calls_by_name", json_object()), totals);
    sb_json_u64(counted, "bytes_written", totals->bytes_written);
    sb_json_u64(counted, "bytes_read", totals->bytes_read);
    put_shares(counted, "per_commit", totals, commits);
    put_shares(counted, "per_op", totals, ops);
    put_unseen(counted, totals->unseen);
}
