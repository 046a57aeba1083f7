/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * caps.h -- the words for the capabilities of driver.h, in `storebench list` and in suites.
 */
#ifndef SB_CAPS_H
#define SB_CAPS_H

#include "../drivers/driver.h"

struct sb_cap_name {
    uint32_t bit;
    const char *name;
};

extern const struct sb_cap_name sb_cap_names[];
extern const size_t sb_cap_count;

/* The bit of a word, or 0. */
uint32_t sb_cap_find(const char *name);

#endif
