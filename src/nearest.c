/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * nearest.c -- see nearest.h. Edit distance by Wagner and Fischer, "The String-to-String Correction
 * Problem", 1974, on words of at most WORD_BYTES_MAX bytes.
 */
#include "nearest.h"

#include <string.h>

enum { WORD_BYTES_MAX = 64 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[WORD_BYTES_MAX + 1];
    size_t a_bytes = strlen(a), b_bytes = strlen(b);

    if (a_bytes > WORD_BYTES_MAX || b_bytes > WORD_BYTES_MAX)
        return WORD_BYTES_MAX;
    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = min3(row[j] + 1, row[j - 1] + 1, change);
        }
    }
    return row[b_bytes];
}

void sb_nearest_init(struct sb_nearest *nearest, const char *word)
{
    nearest->word = word;
    nearest->best = NULL;
    nearest->distance = strlen(word) / 3 + 2; /* further away is no longer the same word */
}

void sb_nearest_offer(struct sb_nearest *nearest, const char *candidate)
{
    size_t distance = edit_distance(nearest->word, candidate);

    if (distance < nearest->distance) {
        nearest->distance = distance;
        nearest->best = candidate;
    }
}
