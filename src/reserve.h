/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reserve.h -- warm memory for the store.
 *
 * In a virtual machine the first touch of a page that the guest has not used for a while can cost
 * microseconds, because the host has to find the page. A store that allocates inside the clock
 * would pay for that, and its rate would depend on what ran before. So the harness holds a reserve
 * of touched memory while it prepares and gives it back right before the clock starts: the store
 * then gets pages that the host has already backed.
 */
#ifndef SB_RESERVE_H
#define SB_RESERVE_H

#include <stddef.h>
#include <stdint.h>

struct sb_reserve {
    void *memory; /* NULL while nothing is held */
    size_t held_bytes;
};

/* Maps and touches `wanted_bytes`, or a quarter of what the machine has available if that is less.
 * Holds nothing when memory cannot be had: that is not an error. */
void sb_reserve_hold(struct sb_reserve *reserve, uint64_t wanted_bytes);

/* Gives the reserve back to the kernel. */
void sb_reserve_release(struct sb_reserve *reserve);

/* Cost of the first touch of a page at this moment: nanoseconds per 4 KiB page over 1 MiB of fresh
 * memory. 0 when the memory cannot be had. */
double sb_first_touch_ns_per_page(void);

#endif
