/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reserve.c -- see reserve.h.
 */
#include "reserve.h"

#include "clock.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLE_BYTES = 1 << 20, PAGE_BYTES = 4096 };

static void *map(size_t bytes, int flags)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static uint64_t available_bytes(void)
{
    long pages = sysconf(_SC_AVPHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : 0;
}

void sb_reserve_hold(struct sb_reserve *reserve, uint64_t wanted_bytes)
{
    uint64_t most_bytes = available_bytes() / 4;

    sb_reserve_release(reserve);
    if (wanted_bytes > most_bytes)
        wanted_bytes = most_bytes;
    wanted_bytes &= ~(uint64_t)(PAGE_BYTES - 1);
    if (!wanted_bytes)
        return;
    reserve->memory = map(wanted_bytes, MAP_POPULATE);
    reserve->held_bytes = reserve->memory ? wanted_bytes : 0;
}

void sb_reserve_release(struct sb_reserve *reserve)
{
    if (reserve->memory)
        (void)munmap(reserve->memory, reserve->held_bytes);
    reserve->memory = NULL;
    reserve->held_bytes = 0;
}

double sb_first_touch_ns_per_page(void)
{
    volatile char *memory = map(SAMPLE_BYTES, 0);
    uint64_t begin_ns, elapsed_ns;

    if (!memory)
        return 0;
    begin_ns = sb_now_ns();
    for (size_t at = 0; at < SAMPLE_BYTES; at += PAGE_BYTES)
        memory[at] = 1;
    elapsed_ns = sb_now_ns() - begin_ns;
    (void)munmap((void *)(uintptr_t)memory, SAMPLE_BYTES);
    return (double)elapsed_ns / (SAMPLE_BYTES / PAGE_BYTES);
}
