/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * count.h -- the counting repeat of a chain: one extra repeat that counts flushes, system calls and
 * bytes instead of time, and is never one of the timed ones.
 */
#ifndef SB_COUNT_H
#define SB_COUNT_H

#include "progress.h"
#include "result.h"

struct sb_count {
    const struct sb_chain *chain;
    struct sb_result *result;
    struct sb_progress *progress;
    const char *preload; /* path of a library, or NULL */
    const char *dir;     /* of the store; must not exist yet, and is gone afterwards */
    uint64_t seed;
};

/* What a counting repeat runs with: the chain's parameters, but no more than 20,000 records and 200
 * commits, and whole commits. Counts per operation need no more, and every call costs two stops. */
void sb_count_limit(struct sb_params *params);

/* Runs it and adds `counted` to the chain's cells. A repeat that fails is told there and is no
 * error. */
int sb_count_chain(const struct sb_count *count) SB_MUST_CHECK;

/* Says in the chain's cells why it did not run. */
int sb_count_not_run(struct sb_result *result, const struct sb_chain *chain,
                     const char *reason) SB_MUST_CHECK;

#endif
