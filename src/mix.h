/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mix.h -- a 64-bit finaliser, for seeds and values made from numbers.
 * Source: Stafford's variant 13 as used by Steele, Lea and Flood, "Fast Splittable Pseudorandom
 * Number Generators" (SplitMix64), OOPSLA 2014.
 */
#ifndef SB_MIX_H
#define SB_MIX_H

#include <stdint.h>

/* 2^64 divided by the golden ratio, odd: consecutive multiples are spread evenly. */
#define SB_GOLDEN 0x9e3779b97f4a7c15ull

static inline uint64_t sb_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

#endif
