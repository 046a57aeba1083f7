/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nearest.h -- the nearest of a set of words to a misspelt one, for "did you mean".
 */
#ifndef SB_NEAREST_H
#define SB_NEAREST_H

#include <stddef.h>

struct sb_nearest {
    const char *word;
    const char *best; /* NULL while nothing is near; borrowed from sb_nearest_offer */
    size_t distance;
};

void sb_nearest_init(struct sb_nearest *nearest, const char *word);
void sb_nearest_offer(struct sb_nearest *nearest, const char *candidate);

#endif
