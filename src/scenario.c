/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * scenario.c -- see scenario.h.
 */
#include "scenario.h"

#include "../drivers/driver.h"

#include <string.h>

const struct sb_scenario_info sb_scenarios[SB_SCENARIO_COUNT] = {
    [SB_WRITE_SEQ] = {.name = "write-seq",
                      .fills = true,
                      .starts_chain = true,
                      .writes = true,
                      .help = "fill an empty store in ascending key order, with ordinary puts"},
    [SB_WRITE_RAND] = {.name = "write-rand",
                       .fills = true,
                       .starts_chain = true,
                       .writes = true,
                       .help = "fill an empty store in a random order, each key once"},
    [SB_READ_SEQ] = {.name = "read-seq",
                     .help = "read every record through a cursor, in the store's order"},
    [SB_READ_RAND] = {.name = "read-rand",
                      .help = "read records by key in a random order, every key found"},
    [SB_COMMIT] = {.name = "commit",
                   .starts_chain = true,
                   .writes = true,
                   .counts_commits = true,
                   .help = "commits of 'batch' puts at random keys of a filled store"},
    [SB_SCAN_KEYS] = {.name = "scan-keys",
                      .help = "read every key through a cursor, without its value"},
    [SB_READ_MISS] = {.name = "read-miss",
                      .help = "look for keys that are not there, beside keys that are"},
    [SB_OVERWRITE] = {.name = "overwrite",
                      .writes = true,
                      .help = "put a new value for every key once, in a random order"},
    [SB_CHURN] = {.name = "churn",
                  .writes = true,
                  .help = "age the store: 'turnovers' times overwrite half of the keys and delete "
                          "and put again the others"},
    [SB_DELETE] = {.name = "delete",
                   .writes = true,
                   .ends_writes = true,
                   .help = "delete half of the keys, in a random order"},
    [SB_BULK_LOAD] = {.name = "bulk-load",
                      .fills = true,
                      .starts_chain = true,
                      .writes = true,
                      .caps = SB_CAP_APPEND,
                      .help = "fill an empty store in ascending key order through the library's "
                              "append-only path"},
    [SB_OPEN] = {.name = "open",
                 .caps = SB_CAP_PERSISTENT,
                 .help = "open a store that was closed, up to its first value"},
    [SB_OPEN_KILLED] = {.name = "open-killed",
                        .writes = true,
                        .caps = SB_CAP_PERSISTENT,
                        .help =
                            "open a store whose process was killed while it committed, with the "
                            "recovery call, up to its first value"},
};

enum sb_scenario sb_scenario_find(const char *name)
{
    for (int i = 0; i < SB_SCENARIO_COUNT; i++)
        if (strcmp(sb_scenarios[i].name, name) == 0)
            return (enum sb_scenario)i;
    return SB_SCENARIO_COUNT;
}
