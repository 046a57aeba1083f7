/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * progress.h -- what a person sees while a campaign runs, on standard error: one line that updates
 * on a terminal, one line a repeat in a log, nothing with --quiet.
 */
#ifndef SB_PROGRESS_H
#define SB_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_progress {
    bool quiet, terminal;
    size_t done, planned; /* repeats */
    uint64_t begin_ns;    /* of the first repeat */
    uint64_t shown_ns;
    char label[96];
    /* To tell the present rate from two progress events. */
    char doing[32];
    uint64_t last_done, last_elapsed_ns;
    double rate_per_s;
};

void sb_progress_init(struct sb_progress *progress, size_t planned, bool quiet);

/* A remark outside the count: "measuring the machine". */
void sb_progress_say(struct sb_progress *progress, const char *text);

/* A repeat of `label` begins. */
void sb_progress_begin(struct sb_progress *progress, const char *label);

/* News of the running repeat. */
void sb_progress_update(struct sb_progress *progress, const char *doing, uint64_t done,
                        uint64_t planned, uint64_t elapsed_ns);

/* The repeat is over; `outcome` is a short text such as "write-rand 1.2 M/s, read-rand 2 M/s". */
void sb_progress_end(struct sb_progress *progress, const char *outcome);

/* Clears the line, so that other output can follow. */
void sb_progress_clear(const struct sb_progress *progress);

#endif
