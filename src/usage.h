/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage.h -- what this process has used: CPU time, faults, switches, bytes, memory.
 *
 * The harness samples at the edges of a phase and stores the difference. A sample costs some ten
 * microseconds and reads files of /proc, so it belongs outside the timed spans. Samples may be
 * taken by any thread; they describe the whole process except where a field says otherwise.
 */
#ifndef SB_USAGE_H
#define SB_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct sb_usage {
    uint64_t cpu_user_ns;   /* all threads, those that have ended included */
    uint64_t cpu_system_ns; /* likewise; microsecond resolution, as for cpu_user_ns */
    uint64_t thread_cpu_ns; /* the calling thread alone, user and system */
    uint64_t minor_faults;  /* answered without reading from a device */
    uint64_t major_faults;  /* had to read from a device */
    uint64_t voluntary_switches;
    uint64_t involuntary_switches;

    /* From /proc/self/io. Some containers hide it: then `io_readable` is false and all are 0. Each
     * sample adds its own few reads of /proc to read_call_bytes and read_calls. */
    bool io_readable;
    uint64_t read_bytes;            /* fetched from storage, page faults included */
    uint64_t write_bytes;           /* made dirty for storage, stores to mapped pages included */
    uint64_t cancelled_write_bytes; /* of these, dropped again before they were written back */
    uint64_t read_call_bytes;       /* rchar: what read calls returned, cached or not */
    uint64_t write_call_bytes;      /* wchar: what write calls were given */
    uint64_t read_calls;            /* syscr */
    uint64_t write_calls;           /* syscw */
};

/* Resident memory. The kernel batches these counters per thread or CPU, so they may be off by a
 * few dozen pages. It keeps a high-water mark of the total only: for a peak by kind, sample now and
 * then and keep the maxima with sb_memory_keep_max. */
struct sb_memory {
    bool readable;            /* false: /proc/self/status could not be read and all are 0 */
    uint64_t rss_anon_bytes;  /* heap, stacks, private mappings that were written to */
    uint64_t rss_file_bytes;  /* mapped files: mostly page cache, which can be given back */
    uint64_t rss_shmem_bytes; /* shared memory and tmpfs */
    uint64_t peak_rss_bytes;  /* highest total since the start or the last reset */
};

/* Fills the struct; nothing can fail, what is hidden stays 0. */
void sb_usage_sample(struct sb_usage *usagep);

/* after - before, field by field; a counter that went backwards gives 0. `thread_cpu_ns` has a
 * meaning only if the same thread took both samples. `diffp` may be one of the arguments. */
void sb_usage_diff(const struct sb_usage *before, const struct sb_usage *after,
                   struct sb_usage *diffp);

/* Fills the struct; nothing can fail, what is hidden stays 0. */
void sb_memory_sample(struct sb_memory *memoryp);

/* Raises each field of `max` to that of `now`. Start from a zeroed struct. */
void sb_memory_keep_max(struct sb_memory *max, const struct sb_memory *now);

/* Sets the process's high-water mark down to what is resident now. Returns whether it worked; if
 * not, peak_rss_bytes still covers the process's whole life. */
bool sb_memory_reset_peak(void);

#endif
