/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan.h -- everything that a campaign will do, worked out and checked before anything runs.
 *
 * A plan is made from suites, the command line and the drivers of this build; afterwards it does
 * not change. A chain that a driver cannot run (a level it does not keep, a key too large) is in
 * the plan with the reason: its cells are "n/a" in the result.
 */
#ifndef SB_PLAN_H
#define SB_PLAN_H

#include "job.h"
#include "owndata.h"
#include "spec.h"
#include "suite.h"

struct sb_chain {
    const struct sb_spec *spec; /* borrowed from the plan */
    const char *parent_dir;     /* directory the user named; borrowed from the plan */
    struct sb_params params;
    enum sb_scenario scenarios[SB_CHAIN_SCENARIOS_MAX];
    size_t scenario_count;
    const struct sb_own_data *own; /* NULL: keys by formula; borrowed */
    char *na_reason;               /* NULL: it can run */
    const char *rule; /* why a suite's rule changed parameters; NULL; borrowed from the plan */
};

struct sb_plan {
    char *suite_name; /* several suites: their names joined by '+' */
    char *suite_description;
    uint64_t suite_hash;
    uint64_t seed;
    uint64_t repeats;
    uint64_t time_limit_ns; /* 0: none */
    bool count;             /* one counting repeat of each chain after all blocks (count.h) */
    const struct sb_own_data *own; /* NULL: keys by formula; borrowed from the request */
    char **dirs;
    size_t dir_count;
    struct sb_spec *specs;
    size_t spec_count;
    struct sb_chain *chains;
    size_t chain_count;
    struct sb_suite *suites; /* kept: chains borrow from them */
    size_t suite_count;
};

/* What the command line says; empty members leave it to the suite. */
struct sb_plan_request {
    const char *const *suites; /* none: "quick" */
    size_t suite_count;
    const char *drivers;   /* a LIST */
    const char *scenarios; /* a LIST; replaces the chains of the suites */
    const char *const *dirs;
    size_t dir_count;
    struct sb_layer set;
    uint64_t repeats;              /* 0: the suite's */
    uint64_t time_limit_ns;        /* 0: the suite's */
    uint64_t seed;                 /* 0: a new one */
    bool count;                    /* false: the suite's */
    const struct sb_own_data *own; /* prepared; records and sizes of `set` are then its own */
};

/* Release the plan in any case. */
int sb_plan_build(struct sb_plan *plan, const struct sb_plan_request *request,
                  const struct sb_registry *registry) SB_MUST_CHECK;
void sb_plan_release(struct sb_plan *plan);

/* Chains that can run. */
size_t sb_plan_runnable(const struct sb_plan *plan);

/* The identity of a cell: a hash over the driver's label, the scenario, what precedes it in the
 * chain, all parameters, a user's own data and the directory. The same cell has the same id in
 * every campaign. */
uint64_t sb_chain_cell_id(const struct sb_chain *chain, size_t scenario_index);

/* Identity of the work alone: scenario, chain and parameters, without driver and directory. */
uint64_t sb_chain_workload_hash(const struct sb_chain *chain, size_t scenario_index);

#endif
