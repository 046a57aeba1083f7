/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * caps.c -- see caps.h.
 */
#include "caps.h"

#include <string.h>

const struct sb_cap_name sb_cap_names[] = {
    {SB_CAP_ORDERED, "ordered"},
    {SB_CAP_TXN, "txn"},
    {SB_CAP_SNAPSHOT, "snapshot"},
    {SB_CAP_OWN_WRITES, "own-writes"},
    {SB_CAP_READERS, "readers"},
    {SB_CAP_WRITERS, "writers"},
    {SB_CAP_ZERO_COPY, "zero-copy"},
    {SB_CAP_PERSISTENT, "persistent"},
    {SB_CAP_CACHE, "cache"},
    {SB_CAP_APPEND, "append"},
    {SB_CAP_DELETE_MISS, "delete-miss"},
    {SB_CAP_RECOVERY, "recovery"},
    {SB_CAP_DISCARDS, "discards"},
};
const size_t sb_cap_count = sizeof(sb_cap_names) / sizeof(sb_cap_names[0]);

uint32_t sb_cap_find(const char *name)
{
    for (size_t i = 0; i < sb_cap_count; i++)
        if (strcmp(sb_cap_names[i].name, name) == 0)
            return sb_cap_names[i].bit;
    return 0;
}
