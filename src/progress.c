/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.c -- see progress.h.
 */
#include "progress.h"

#include "clock.h"
#include "units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REFRESH_NS = 200 * 1000 * 1000 };

void sb_progress_init(struct sb_progress *p, size_t planned, bool quiet)
{
    *p = (struct sb_progress){
        .quiet = quiet,
        .terminal = isatty(STDERR_FILENO) == 1,
        .planned = planned,
    };
}

void sb_progress_clear(const struct sb_progress *p)
{
    if (!p->quiet && p->terminal)
        (void)fputs("\r\033[K", stderr);
}

void sb_progress_say(struct sb_progress *p, const char *text)
{
    if (p->quiet)
        return;
    sb_progress_clear(p);
    (void)fprintf(stderr, p->terminal ? "%s" : "storebench: %s\n", text);
    (void)fflush(stderr);
}

/* From the mean time of the repeats so far. */
static const char *time_left(const struct sb_progress *p, char *buffer, size_t size)
{
    uint64_t elapsed_ns = sb_now_ns() - p->begin_ns;

    if (!p->done)
        return "";
    (void)snprintf(buffer, size, " · ");
    (void)sb_format_duration(buffer + strlen(buffer), size - strlen(buffer),
                             (double)elapsed_ns / (double)p->done * (double)(p->planned - p->done));
    (void)snprintf(buffer + strlen(buffer), size - strlen(buffer), " left");
    return buffer;
}

static void show(struct sb_progress *p)
{
    char left[SB_FORMAT_BYTES + 16], rate[SB_FORMAT_BYTES + 8] = "", per_s[SB_FORMAT_BYTES];

    if (p->rate_per_s > 0)
        (void)snprintf(rate, sizeof(rate), " · %s",
                       sb_format_rate(per_s, sizeof(per_s), p->rate_per_s));
    (void)fprintf(stderr, "\r\033[K[%zu/%zu] %s · %s%s%s", p->done + 1, p->planned, p->label,
                  p->doing, rate, time_left(p, left, sizeof(left)));
    (void)fflush(stderr);
    p->shown_ns = sb_now_ns();
}

void sb_progress_begin(struct sb_progress *p, const char *label)
{
    if (!p->done)
        p->begin_ns = sb_now_ns(); /* what came before was no repeat */
    (void)snprintf(p->label, sizeof(p->label), "%s", label);
    p->doing[0] = '\0';
    p->rate_per_s = 0;
    if (!p->quiet && p->terminal)
        show(p);
}

void sb_progress_update(struct sb_progress *p, const char *doing, uint64_t done, uint64_t planned,
                        uint64_t elapsed_ns)
{
    (void)planned;
    if (p->quiet || !p->terminal)
        return;
    if (strcmp(p->doing, doing) != 0) {
        (void)snprintf(p->doing, sizeof(p->doing), "%s", doing);
        p->rate_per_s = 0;
    } else if (done > p->last_done && elapsed_ns > p->last_elapsed_ns) {
        p->rate_per_s =
            (double)(done - p->last_done) / (double)(elapsed_ns - p->last_elapsed_ns) * 1e9;
    }
    p->last_done = done;
    p->last_elapsed_ns = elapsed_ns;
    if (sb_now_ns() - p->shown_ns >= REFRESH_NS)
        show(p);
}

void sb_progress_end(struct sb_progress *p, const char *outcome)
{
    char left[SB_FORMAT_BYTES + 16];

    p->done++;
    if (p->quiet || p->terminal)
        return;
    (void)fprintf(stderr, "[%zu/%zu] %s: %s%s\n", p->done, p->planned, p->label, outcome,
                  p->done < p->planned ? time_left(p, left, sizeof(left)) : "");
}
