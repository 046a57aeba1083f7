/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_counted.c -- see describe_counted.h.
 */
#include "describe_counted.h"

#include "jsonx.h"
#include "sysnames.h"

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

static void put_shares(json_t *object, const char *key, const struct sb_counted *counted,
                       uint64_t count)
{
    const struct sb_flush_totals *totals = &counted->totals;
    double by = (double)count;
    json_t *shares;

    if (!count)
        return;
    shares = sb_json_take(object, key, json_object());
    sb_json_real(shares, "flushes", (double)all_flushes(totals) / by);
    sb_json_real(shares, "system_calls", (double)totals->system_calls / by);
    sb_json_real(shares, "bytes_written", (double)totals->bytes_written / by);
    sb_json_real(shares, "bytes_read", (double)totals->bytes_read / by);
    sb_json_real(shares, "msync_bytes", (double)totals->msync_bytes / by);
    if (counted->dirtied_known)
        sb_json_real(shares, "dirtied_bytes", (double)counted->dirtied_bytes / by);
}

static void put_unseen(json_t *counted, uint64_t unseen)
{
    json_t *words = sb_json_take(counted, "unseen", json_array());

    if (unseen & SB_UNSEEN_IO_URING)
        sb_json_append_text(words, "io_uring");
    if (unseen & SB_UNSEEN_AIO)
        sb_json_append_text(words, "io_submit");
}

void sb_describe_counted(json_t *object, const struct sb_counted *counted)
{
    const struct sb_flush_totals *totals = &counted->totals;

    sb_json_u64(object, "ops", counted->ops);
    sb_json_u64(object, "commits", counted->commits);
    sb_json_u64(object, "spans", totals->spans);
    sb_json_u64(object, "flushes", all_flushes(totals));
    put_by_kind(sb_json_take(object, "flushes_by_kind", json_object()), totals);
    sb_json_u64(object, "system_calls", totals->system_calls);
    put_by_name(sb_json_take(object, "system_calls_by_name", json_object()), totals);
    sb_json_u64(object, "bytes_written", totals->bytes_written);
    sb_json_u64(object, "bytes_read", totals->bytes_read);
    sb_json_u64(object, "msync_bytes", totals->msync_bytes);
    if (counted->dirtied_known)
        sb_json_u64(object, "dirtied_bytes", counted->dirtied_bytes);
    put_shares(object, "per_commit", counted, counted->commits);
    put_shares(object, "per_op", counted, counted->ops);
    put_unseen(object, totals->unseen);
}
