/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe_counted.h -- the figures of a counting repeat as members of the result.
 */
#ifndef SB_DESCRIBE_COUNTED_H
#define SB_DESCRIBE_COUNTED_H

#include "flushcount.h"

#include <jansson.h>

struct sb_counted {
    struct sb_flush_totals totals;
    uint64_t ops, commits;
    bool dirtied_known;
    uint64_t dirtied_bytes; /* of pages, by whatever means, with what settling dirtied */
};

/* Fills `object`: ops, commits, spans, flushes in total and by kind, system calls in total and by
 * name for the most frequent ones, bytes by calls and of pages, all of these per commit and per
 * operation where there were any, and what could not be seen. */
void sb_describe_counted(json_t *object, const struct sb_counted *counted);

#endif
