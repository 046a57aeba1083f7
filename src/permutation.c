/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * permutation.c -- see permutation.h.
 */
#include "permutation.h"

#include <assert.h>

enum { BITS_MIN = 4 };

/* Newton's iteration for the inverse of an odd number mod 2^64: each step doubles the right bits.
 */
static uint64_t inverse_of_odd(uint64_t odd)
{
    uint64_t inverse = odd; /* right in the lowest 3 bits */

    for (int step = 0; step < 5; step++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

void sb_permutation_init(struct sb_permutation *p, uint64_t count, uint64_t seed)
{
    unsigned bits = BITS_MIN;

    assert(count >= 1 && count <= 1ull << 63);
    while (bits < 63 && 1ull << bits < count)
        bits++;
    p->count = count;
    p->mask = (1ull << bits) - 1;
    p->shift = (bits + 1) / 2;
    for (int round = 0; round < SB_PERMUTATION_ROUNDS; round++) {
        seed = sb_mix64(seed + SB_GOLDEN);
        p->factor[round] = seed | 1;
        p->inverse[round] = inverse_of_odd(p->factor[round]);
        seed = sb_mix64(seed + SB_GOLDEN);
        p->offset[round] = seed;
    }
}
