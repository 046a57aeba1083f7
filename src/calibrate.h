/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calibrate.h -- what the machine allows and what the harness costs, at both ends of a campaign.
 */
#ifndef SB_CALIBRATE_H
#define SB_CALIBRATE_H

#include "result.h"

struct sb_calibration {
    const struct sb_plan *plan;
    const struct sb_registry *registry;
    struct sb_result *result;
    const char *work_dir; /* for the stores of the null driver */
};

/* Measures at `moment`, "before" or "after", and adds to the result: `machine` (before only),
 * `ceilings`, `directories` with their flush ceilings, and `harness`: the null driver's nanoseconds
 * for each operation. */
int sb_calibrate(const struct sb_calibration *calibration, const char *moment) SB_MUST_CHECK;

#endif
