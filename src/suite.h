/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * suite.h -- a suite file: which chains run on which drivers with which parameters.
 *
 * Every parameter may have several values; a chain then runs once for each combination. Parameters
 * are layered: the table's defaults, the suite's `set`, the chain's `set`, the `set` of each rule
 * whose patterns match the driver, and last the command line. workloads/README.md documents the
 * format for users.
 */
#ifndef SB_SUITE_H
#define SB_SUITE_H

#include "params.h"
#include "scenario.h"

#include <stdbool.h>

enum { SB_SUITE_CHAIN_MAX = 16 };

/* The values given for one parameter. */
struct sb_values {
    const struct sb_param *param;
    uint64_t *values; /* owned */
    size_t count;
};

/* A layer of parameters; each parameter at most once. */
struct sb_layer {
    struct sb_values *entries; /* owned */
    size_t count;
};

struct sb_suite_chain {
    enum sb_scenario scenarios[SB_SUITE_CHAIN_MAX];
    size_t scenario_count;
    uint32_t only_caps; /* runs on drivers that have all of these */
    struct sb_layer set;
};

struct sb_suite_rule {
    char **patterns; /* of driver names */
    size_t pattern_count;
    struct sb_layer set;
    char *why; /* shown with the cells it changed; never NULL */
};

struct sb_suite {
    char *name;
    char *description;
    uint64_t hash; /* of the file's contents */
    uint64_t repeats;
    uint64_t time_limit_ns;
    bool count;     /* each chain also has a counting repeat */
    char **drivers; /* driver lists of the command line's form */
    size_t driver_count;
    struct sb_layer set;
    struct sb_suite_chain *chains;
    size_t chain_count;
    struct sb_suite_rule *rules;
    size_t rule_count;
};

/* Reads a suite by path, or by bare name (`quick`) from the workloads folders. The error names
 * file, line and column, or the member that is wrong. Release the suite in any case. */
int sb_suite_load(struct sb_suite *suite, const char *name_or_path) SB_MUST_CHECK;
void sb_suite_release(struct sb_suite *suite);

/* Sets a parameter of a layer from "a,b,c" text; replaces what it had. */
int sb_layer_set_list(struct sb_layer *layer, const struct sb_param *param,
                      const char *list) SB_MUST_CHECK;
const struct sb_values *sb_layer_find(const struct sb_layer *layer, const struct sb_param *param);
void sb_layer_release(struct sb_layer *layer);

/* Makes chains of a plain list of scenarios: one that fills a store or needs one of its own starts
 * a chain, the others go on with the store of the chain before them, or start one on a loaded
 * store. */
void sb_suite_chains_from_list(struct sb_suite *suite, const enum sb_scenario *scenarios,
                               size_t count);

/* Checks the order of scenarios in a chain. */
int sb_suite_chain_check(const struct sb_suite_chain *chain) SB_MUST_CHECK;

#endif
