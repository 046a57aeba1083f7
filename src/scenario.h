/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scenario.h -- the scenarios: what each measures and how it stands in a chain.
 */
#ifndef SB_SCENARIO_H
#define SB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sb_scenario {
    SB_WRITE_SEQ,
    SB_WRITE_RAND,
    SB_READ_SEQ,
    SB_READ_RAND,
    SB_COMMIT,
    SB_SCAN_KEYS,
    SB_READ_MISS,
    SB_OVERWRITE,
    SB_CHURN,
    SB_DELETE,
    SB_BULK_LOAD,
    SB_OPEN,
    SB_OPEN_KILLED,
    SB_SCENARIO_COUNT
};

struct sb_scenario_info {
    const char *name;
    bool fills;        /* starts a chain on an empty store and fills it: it is the chain's load */
    bool starts_chain; /* cannot follow another scenario */
    bool writes;
    bool ends_writes;    /* only reads may follow */
    bool counts_commits; /* its rate is in commits, and its level and batch are what matters */
    uint32_t caps;       /* what a driver must declare for it */
    const char *help;
};

extern const struct sb_scenario_info sb_scenarios[SB_SCENARIO_COUNT];

/* SB_SCENARIO_COUNT when there is none of that name. */
enum sb_scenario sb_scenario_find(const char *name);

#endif
