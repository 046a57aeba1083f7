/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * clock.h -- the time.
 *
 * The only place that reads a clock for measuring. CLOCK_MONOTONIC is answered in user space by
 * the vDSO; CLOCK_MONOTONIC_RAW is a system call in many virtual machines, and the coarse clocks
 * tick in milliseconds. Wall time is for labels in results, never for a difference.
 */
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A buffer of this many bytes holds the output of sb_wall_iso8601. */
#define SB_ISO8601_BYTES 24

/* Nanoseconds since an arbitrary point, the same for all processes until the next boot; never goes
 * backwards. Any thread. Cannot fail: the clock exists on every kernel that runs this program. */
static inline uint64_t sb_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Writes the present moment in UTC, as "2025-01-31T23:59:58Z", into a buffer of `size` bytes and
 * returns it; an empty text if the buffer is too small. Any thread. */
static inline const char *sb_wall_iso8601(char *buffer, size_t size)
{
    time_t now = time(NULL);
    struct tm parts;
    if (size > 0 &&
        (!gmtime_r(&now, &parts) || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0))
        buffer[0] = '\0';
    return buffer;
}

#endif
