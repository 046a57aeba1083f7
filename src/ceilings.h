/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ceilings.h -- what the machine itself can do, measured without any store.
 *
 * A store's rate is read against these: no read beats a memory access, no durable commit beats a
 * flush of the same device, and a difference between two campaigns may be the machine's. They are
 * measured at both ends of a campaign, by one thread, with the functions below. Each figure is
 * either the best of many rounds (a limit, from which disturbances only take away) or their median
 * (a cost, whose best case a store does not meet); its comment says which.
 *
 * Memory is measured in pages of the base size: transparent huge pages are declined, so that
 * figures of machines with different settings stay comparable.
 */
#ifndef SB_CEILINGS_H
#define SB_CEILINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long and how large. Sizes are upper limits: no part uses more than an eighth of the memory
 * that is available to the process. Budgets bound the repeated rounds; at least one round is always
 * made, and preparing the memory comes on top. */
struct sb_ceilings_plan {
    uint64_t budget_ns;       /* of each part of sb_ceilings_measure, of which there are five */
    uint64_t touch_bytes;     /* fresh memory in one round */
    uint64_t latency_bytes;   /* memory that the dependent loads are spread over */
    uint64_t copy_bytes;      /* copied in one round */
    uint64_t flush_budget_ns; /* of each of the three ways to flush */
    uint64_t flushes_min;     /* made even if that takes longer, up to twenty budgets */
};

struct sb_ceilings {
    double clock_read_ns; /* one sb_now_ns(); best of batches */
    double tsc_read_ns;   /* one reading of the time stamp counter; best; 0 where there is none */

    uint32_t page_bytes;
    uint64_t touch_bytes;  /* of one round */
    uint32_t touch_rounds; /* 0: memory could not be had, and the three costs are 0 */
    /* First touch of a page that was just mapped, by round: the first may meet memory that the host
     * of a virtual machine has yet to provide; later ones get back the pages just given up. */
    double first_touch_ns_per_page_initial;
    double first_touch_ns_per_page;  /* median of all rounds */
    double second_touch_ns_per_page; /* the same pages again at once; median */

    uint64_t memory_latency_bytes; /* 0: memory could not be had, and the latency is 0 */
    double memory_latency_ns;      /* one load whose address the previous one gave; median */

    uint64_t copy_bytes; /* of one round */
    uint32_t copy_rounds;
    double copy_bytes_per_s; /* bytes copied, not bytes read plus bytes written; best */
};

/* One way to flush. Rates are means: flushes over time, since a store meets the slow ones too. */
struct sb_flush_ceiling {
    uint64_t flushes;
    uint64_t elapsed_ns;
    double flushes_per_s; /* 0: not one flush */
    int error_number;     /* errno of what ended it early; 0: none */
};

struct sb_flush_ceilings {
    uint64_t record_bytes;          /* made dirty before each flush */
    struct sb_flush_ceiling append; /* write at the end of a growing file, fdatasync */
    struct sb_flush_ceiling
        overwrite;                  /* write over space that has been written before, fdatasync */
    struct sb_flush_ceiling mapped; /* store to a page of such space, msync(MS_SYNC) of the page */
};

/* The usual plan: a fifth of a second a part. With `quick`, a tenth of that and smaller memory, for
 * smoke runs whose figures nobody compares. */
struct sb_ceilings_plan sb_ceilings_plan(bool quick);

/* Measures clock, memory and copying. Takes a second or two, and several seconds where fresh memory
 * is slow. Cannot fail: what could not be measured is 0. */
void sb_ceilings_measure(const struct sb_ceilings_plan *plan, struct sb_ceilings *ceilingsp);

/* Measures flushes in an existing directory, with a hidden file that is deleted in any case short
 * of the process's death (".storebench-probe-" and six characters, at most 68 MiB). Let earlier
 * writes settle before. On a file system in memory the figures only say what a system call costs.
 * Returns 0, or -1 with errno set if the file could not be made or any of the ways failed; the ways
 * that worked are filled in all the same. */
int sb_flush_ceilings_measure(const struct sb_ceilings_plan *plan, const char *dir,
                              struct sb_flush_ceilings *ceilingsp);

#endif
