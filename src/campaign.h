/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * campaign.h -- runs a plan: blocks of all chains in random order, the machine's ceilings and the
 * null driver before and after, and everything into a result.
 */
#ifndef SB_CAMPAIGN_H
#define SB_CAMPAIGN_H

#include "result.h"

struct sb_campaign_request {
    const struct sb_plan *plan;
    const struct sb_registry *registry;
    const char *out_path;
    char *const *command; /* for the result: argv */
    bool quiet;
    const json_t *resumed; /* a document whose repeats are taken over (resume.h), or NULL */
};

/* Runs the plan and writes the result; *resultp is filled in also when an error ends the campaign
 * early, and is released by the caller. A signal (SIGINT, SIGTERM, SIGHUP) ends the running repeat,
 * keeps the finished ones and is found in sb_stop_signal (runner.h). */
int sb_campaign_run(const struct sb_campaign_request *request,
                    struct sb_result *resultp) SB_MUST_CHECK;

#endif
