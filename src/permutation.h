/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * permutation.h -- a random order of 0..count-1 that needs no memory for the numbers.
 *
 * Over the next power of two, three rounds of an odd multiplication, an addition and a right shift
 * by at least half the bits are each invertible, so their sequence is a bijection; a number that
 * falls outside 0..count-1 is sent round again (cycle walking: Black and Rogaway, "Ciphers with
 * Arbitrary Finite Domains", 2002), which keeps it a bijection and takes fewer than two turns on
 * average.
 */
#ifndef SB_PERMUTATION_H
#define SB_PERMUTATION_H

#include "mix.h"

enum { SB_PERMUTATION_ROUNDS = 3 };

struct sb_permutation {
    uint64_t count;
    uint64_t mask;
    unsigned shift;
    uint64_t factor[SB_PERMUTATION_ROUNDS];  /* odd */
    uint64_t inverse[SB_PERMUTATION_ROUNDS]; /* factor * inverse = 1 mod 2^64 */
    uint64_t offset[SB_PERMUTATION_ROUNDS];
};

/* `count` from 1 to 2^63. The same seed gives the same order. */
void sb_permutation_init(struct sb_permutation *permutation, uint64_t count, uint64_t seed);

/* The number at `index`; index < count. */
static inline uint64_t sb_permutation_at(const struct sb_permutation *p, uint64_t index)
{
    do {
        for (int round = 0; round < SB_PERMUTATION_ROUNDS; round++) {
            index = (index * p->factor[round] + p->offset[round]) & p->mask;
            index ^= index >> p->shift;
        }
    } while (index >= p->count);
    return index;
}

/* The index at which `number` stands; number < count. */
static inline uint64_t sb_permutation_index(const struct sb_permutation *p, uint64_t number)
{
    do {
        for (int round = SB_PERMUTATION_ROUNDS - 1; round >= 0; round--) {
            number ^= number >> p->shift; /* its own inverse: the shift is at least half the bits */
            number = ((number - p->offset[round]) * p->inverse[round]) & p->mask;
        }
    } while (number >= p->count);
    return number;
}

#endif
