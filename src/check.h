/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * check.h -- what is wrong with records that a store returned. Runs between spans, off the clock.
 */
#ifndef SB_CHECK_H
#define SB_CHECK_H

#include "loop.h"

/* The state of one scan from its first record to its end. */
struct sb_scan_check {
    bool ordered;
    bool started;
    uint64_t previous_id;
    uint64_t records;
    uint64_t id_sum; /* of mixed ids: tells a record seen twice from one left out */
};

/* After a span of gets that counted a missing or wrong value: reads the slots again and sets the
 * error to the first that is wrong. Always returns SB_ERR_CORRUPT. */
int sb_check_explain(struct sb_span *span);

/* The same after a span of misses that found something. */
int sb_check_explain_miss(struct sb_span *span);

/* After a span of a scan: every kept record must be one of the data set, with its value, and in
 * ascending order where the store is ordered. 0 or SB_ERR_CORRUPT. */
int sb_check_scan(struct sb_scan_check *check, const struct sb_span *span,
                  const struct sb_dataset *data) SB_MUST_CHECK;

/* At the end of a scan: every record exactly once. 0 or SB_ERR_CORRUPT. */
int sb_check_scan_end(const struct sb_scan_check *check,
                      const struct sb_dataset *data) SB_MUST_CHECK;

#endif
