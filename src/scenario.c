/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scenario.c -- see scenario.h.
 */
#include "scenario.h"

#include <string.h>

const struct sb_scenario_info sb_scenarios[SB_SCENARIO_COUNT] = {
    [SB_WRITE_SEQ] = {"write-seq", true, true, true, false,
                      "fill an empty store in ascending key order, with ordinary puts"},
    [SB_WRITE_RAND] = {"write-rand", true, true, true, false,
                       "fill an empty store in a random order, each key once"},
    [SB_READ_SEQ] = {"read-seq", false, false, false, false,
                     "read every record through a cursor, in the store's order"},
    [SB_READ_RAND] = {"read-rand", false, false, false, false,
                      "read records by key in a random order, every key found"},
    [SB_COMMIT] = {"commit", false, true, true, true,
                   "commits of 'batch' puts at random keys of a filled store"},
};

enum sb_scenario sb_scenario_find(const char *name)
{
    for (int i = 0; i < SB_SCENARIO_COUNT; i++)
        if (strcmp(sb_scenarios[i].name, name) == 0)
            return (enum sb_scenario)i;
    return SB_SCENARIO_COUNT;
}
