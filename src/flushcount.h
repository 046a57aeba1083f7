/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flushcount.h -- what system calls mean: which of them wait for the device, which move bytes, and
 * which descriptors were opened so that every write to them is a flush.
 *
 * A state machine that is fed with the entries and exits of system calls; it makes none itself and
 * knows nothing of how they are seen (tracer.h). Not seen by any means are stores to mapped pages
 * (their msync is, with the length of its range) and what goes through io_uring or the kernel's
 * asynchronous I/O, which is therefore told in `unseen`. Readings of a clock that the kernel's own
 * library (vDSO) answers without a system call are not counted on machines where it cannot, either:
 * the counts of a library are the same on all of them.
 */
#ifndef SB_FLUSHCOUNT_H
#define SB_FLUSHCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ways to wait for the device. */
enum sb_flush_kind {
    SB_FLUSH_FSYNC,
    SB_FLUSH_FDATASYNC,
    SB_FLUSH_MSYNC,           /* with MS_SYNC; MS_ASYNC does nothing on Linux */
    SB_FLUSH_SYNC_FILE_RANGE, /* with a flag that waits; the device's cache is not flushed */
    SB_FLUSH_SYNCFS,
    SB_FLUSH_SYNC,
    SB_FLUSH_SYNC_WRITE, /* a write to an O_SYNC or O_DSYNC descriptor, or with RWF_(D)SYNC */
    SB_FLUSH_KINDS
};

enum sb_flush_unseen {
    SB_UNSEEN_IO_URING = 1u << 0,
    SB_UNSEEN_AIO = 1u << 1, /* io_submit */
};

enum { SB_SYSTEM_CALLS = 512 }; /* numbers from there on share the last counter */

#define SB_FLUSH_TOTALS_VALID UINT64_C(0x666c757368657331)

/* Members are all uint64_t: a tracer copies it word by word into another process. */
struct sb_flush_totals {
    uint64_t valid; /* SB_FLUSH_TOTALS_VALID, once filled by a tracer */
    uint64_t spans;
    uint64_t flushes[SB_FLUSH_KINDS];
    uint64_t system_calls;
    uint64_t bytes_written, bytes_read; /* by calls that move bytes of files, pipes and sockets */
    uint64_t msync_bytes;               /* of the ranges of SB_FLUSH_MSYNC, clean pages included */
    uint64_t unseen;                    /* enum sb_flush_unseen; since the process's start */
    uint64_t by_number[SB_SYSTEM_CALLS];
};

/* The descriptors of one process. */
struct sb_descriptors {
    uint8_t *flags; /* owned; by number */
    size_t count;
};

void sb_descriptors_copy(struct sb_descriptors *to, const struct sb_descriptors *from);
/* An exec succeeded: those with the flag close-on-exec are gone. */
void sb_descriptors_exec(struct sb_descriptors *descriptors);
void sb_descriptors_release(struct sb_descriptors *descriptors);
/* Whether a write to it is a flush. */
bool sb_descriptors_sync(const struct sb_descriptors *descriptors, int fd);

/* One system call of one thread. Fill `number`, `args` and, for openat2, `open_flags` (which the
 * call keeps in memory), then call sb_flushcount_enter, and sb_flushcount_leave with what the
 * kernel returned. A thread has one such call at a time. */
struct sb_system_call {
    uint64_t number;
    uint64_t args[6];
    uint64_t open_flags;
    bool counted; /* set by enter: it began while the clock ran */
};

struct sb_flushcount {
    struct sb_flush_totals totals;
    bool active;  /* within a scenario */
    bool clocked; /* within a span */
};

/* A scenario begins; a span begins and ends; the scenario ends. */
void sb_flushcount_begin(struct sb_flushcount *count);
void sb_flushcount_start(struct sb_flushcount *count);
void sb_flushcount_stop(struct sb_flushcount *count);
void sb_flushcount_end(struct sb_flushcount *count);

void sb_flushcount_enter(struct sb_flushcount *count, struct sb_descriptors *descriptors,
                         struct sb_system_call *call);
/* `result` is the kernel's: a negative errno for a failure. */
void sb_flushcount_leave(struct sb_flushcount *count, struct sb_descriptors *descriptors,
                         const struct sb_system_call *call, int64_t result);

/* "fsync", "sync_write": the word for a kind, for results. */
const char *sb_flush_kind_name(enum sb_flush_kind kind);

#endif
