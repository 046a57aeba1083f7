/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flushcount.c -- see flushcount.h.
 *
 * A call is counted when it is entered while the clock runs; its bytes, and whether it was a flush,
 * when it has succeeded, even if the clock has been stopped meanwhile. Descriptors are followed at
 * all times. Whether a descriptor is O_SYNC or O_DSYNC is settled when the file is opened: Linux
 * ignores these flags in fcntl(F_SETFL).
 */
#include "flushcount.h"

#include "mem.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

enum { FD_SYNC = 1u << 0, FD_CLOSE_ON_EXEC = 1u << 1 };
enum { DESCRIPTORS_MAX = 1 << 20 };

/* ---- descriptors -------------------------------------------------------------------------- */

static void set_flags(struct sb_descriptors *descriptors, int64_t fd, unsigned flags)
{
    if (fd < 0 || fd >= DESCRIPTORS_MAX)
        return;
    if ((size_t)fd >= descriptors->count) {
        struct sb_descriptors grown = {.count = (size_t)fd * 2 + 64};

        if (!flags)
            return; /* what is beyond the end has none */
        grown.flags = sb_alloc(grown.count, 1);
        if (descriptors->count)
            memcpy(grown.flags, descriptors->flags, descriptors->count);
        free(descriptors->flags);
        *descriptors = grown;
    }
    descriptors->flags[fd] = (uint8_t)flags;
}

static unsigned get_flags(const struct sb_descriptors *descriptors, int64_t fd)
{
    return fd >= 0 && (size_t)fd < descriptors->count ? descriptors->flags[fd] : 0;
}

void sb_descriptors_copy(struct sb_descriptors *to, const struct sb_descriptors *from)
{
    *to = (struct sb_descriptors){0};
    if (!from->count)
        return;
    to->flags = sb_alloc(from->count, 1);
    to->count = from->count;
    memcpy(to->flags, from->flags, from->count);
}

void sb_descriptors_exec(struct sb_descriptors *descriptors)
{
    for (size_t fd = 0; fd < descriptors->count; fd++)
        if (descriptors->flags[fd] & FD_CLOSE_ON_EXEC)
            descriptors->flags[fd] = 0;
}

void sb_descriptors_release(struct sb_descriptors *descriptors)
{
    free(descriptors->flags);
    *descriptors = (struct sb_descriptors){0};
}

bool sb_descriptors_sync(const struct sb_descriptors *descriptors, int fd)
{
    return (get_flags(descriptors, fd) & FD_SYNC) != 0;
}

/* The kernel reads descriptors and most flags from the lower half of an argument. */
static int32_t int_arg(const struct sb_system_call *call, unsigned which)
{
    return (int32_t)(uint32_t)call->args[which];
}

static void note_open(struct sb_descriptors *descriptors, int64_t fd, uint64_t open_flags)
{
    unsigned flags = 0;

    /* O_SYNC is O_DSYNC and another bit. */
    if (open_flags & O_DSYNC)
        flags |= FD_SYNC;
    if (open_flags & O_CLOEXEC)
        flags |= FD_CLOSE_ON_EXEC;
    set_flags(descriptors, fd, flags);
}

static void note_dup(struct sb_descriptors *descriptors, int from, int64_t to, bool close_on_exec)
{
    unsigned flags = get_flags(descriptors, from) & FD_SYNC;

    set_flags(descriptors, to, flags | (close_on_exec ? FD_CLOSE_ON_EXEC : 0));
}

static void note_fcntl(struct sb_descriptors *descriptors, const struct sb_system_call *call,
                       int64_t result)
{
    int fd = int_arg(call, 0);

    switch (int_arg(call, 1)) {
    case F_DUPFD:
        note_dup(descriptors, fd, result, false);
        break;
    case F_DUPFD_CLOEXEC:
        note_dup(descriptors, fd, result, true);
        break;
    case F_SETFD:
        note_dup(descriptors, fd, fd, (call->args[2] & FD_CLOEXEC) != 0);
        break;
    default:
        break;
    }
}

static void note_close_range(struct sb_descriptors *descriptors, const struct sb_system_call *call)
{
    uint64_t first = (uint32_t)call->args[0], last = (uint32_t)call->args[1];

    for (uint64_t fd = first; fd <= last && fd < descriptors->count; fd++) {
        if (call->args[2] & CLOSE_RANGE_CLOEXEC)
            descriptors->flags[fd] |= FD_CLOSE_ON_EXEC;
        else
            descriptors->flags[fd] = 0;
    }
}

/* What a call that succeeded did to the descriptors. */
static void note_descriptors(struct sb_descriptors *descriptors, const struct sb_system_call *call,
                             int64_t result)
{
    switch (call->number) {
#ifdef SYS_open
    case SYS_open:
        note_open(descriptors, result, call->args[1]);
        break;
#endif
#ifdef SYS_dup2
    case SYS_dup2:
        if (int_arg(call, 0) != int_arg(call, 1)) /* else it does nothing */
            note_dup(descriptors, int_arg(call, 0), result, false);
        break;
#endif
    case SYS_openat:
    case SYS_open_by_handle_at:
        note_open(descriptors, result, call->args[2]);
        break;
    case SYS_openat2:
        note_open(descriptors, result, call->open_flags);
        break;
    case SYS_dup:
        note_dup(descriptors, int_arg(call, 0), result, false);
        break;
    case SYS_dup3:
        note_dup(descriptors, int_arg(call, 0), result, (call->args[2] & O_CLOEXEC) != 0);
        break;
    case SYS_fcntl:
        note_fcntl(descriptors, call, result);
        break;
    case SYS_close_range:
        note_close_range(descriptors, call);
        break;
    default:
        break;
    }
}

/* ---- what a call does --------------------------------------------------------------------- */

struct meaning {
    int flush;    /* enum sb_flush_kind, or -1 */
    int write_fd; /* -1: writes nothing */
    bool reads;
};

static void writes(struct meaning *meaning, int fd)
{
    meaning->write_fd = fd;
}

static void find_flush(const struct sb_system_call *call, struct meaning *meaning)
{
    const uint64_t waiting = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WAIT_AFTER;

    switch (call->number) {
    case SYS_fsync:
        meaning->flush = SB_FLUSH_FSYNC;
        break;
    case SYS_fdatasync:
        meaning->flush = SB_FLUSH_FDATASYNC;
        break;
    case SYS_msync:
        meaning->flush = call->args[2] & MS_SYNC ? SB_FLUSH_MSYNC : -1;
        break;
#ifdef SYS_sync_file_range
    case SYS_sync_file_range:
        meaning->flush = call->args[3] & waiting ? SB_FLUSH_SYNC_FILE_RANGE : -1;
        break;
#endif
#ifdef SYS_sync_file_range2
    case SYS_sync_file_range2:
        meaning->flush = call->args[1] & waiting ? SB_FLUSH_SYNC_FILE_RANGE : -1;
        break;
#endif
    case SYS_syncfs:
        meaning->flush = SB_FLUSH_SYNCFS;
        break;
    case SYS_sync:
        meaning->flush = SB_FLUSH_SYNC;
        break;
    default:
        break;
    }
}

static void find_transfer(const struct sb_system_call *call, struct meaning *meaning)
{
    switch (call->number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
        writes(meaning, int_arg(call, 0));
        break;
    case SYS_pwritev2: /* (fd, vector, count, low, high, flags), on all machines */
        writes(meaning, int_arg(call, 0));
        if (call->args[5] & (RWF_SYNC | RWF_DSYNC))
            meaning->flush = SB_FLUSH_SYNC_WRITE;
        break;
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
        meaning->reads = true;
        break;
    case SYS_sendfile:
        meaning->reads = true;
        writes(meaning, int_arg(call, 0));
        break;
    case SYS_copy_file_range:
    case SYS_splice:
        meaning->reads = true;
        writes(meaning, int_arg(call, 2));
        break;
    default:
        break;
    }
}

static struct meaning understand(const struct sb_descriptors *descriptors,
                                 const struct sb_system_call *call)
{
    struct meaning meaning = {.flush = -1, .write_fd = -1};

    find_flush(call, &meaning);
    if (meaning.flush < 0)
        find_transfer(call, &meaning);
    if (meaning.write_fd >= 0 && sb_descriptors_sync(descriptors, meaning.write_fd))
        meaning.flush = SB_FLUSH_SYNC_WRITE;
    return meaning;
}

/* ---- counting ----------------------------------------------------------------------------- */

void sb_flushcount_begin(struct sb_flushcount *count)
{
    uint64_t unseen = count->totals.unseen;

    *count = (struct sb_flushcount){.totals = {.valid = SB_FLUSH_TOTALS_VALID, .unseen = unseen},
                                    .active = true};
}

void sb_flushcount_start(struct sb_flushcount *count)
{
    count->clocked = count->active;
    count->totals.spans += count->active;
}

void sb_flushcount_stop(struct sb_flushcount *count)
{
    count->clocked = false;
}

void sb_flushcount_end(struct sb_flushcount *count)
{
    count->active = count->clocked = false;
}

/* CPU clocks are system calls everywhere; the others are where the vDSO is of no use alone, such as
 * with a clock source that only the kernel can read. */
static bool is_clock_reading(const struct sb_system_call *call)
{
    switch (call->number) {
    case SYS_clock_gettime:
        return call->args[0] != CLOCK_PROCESS_CPUTIME_ID &&
               call->args[0] != CLOCK_THREAD_CPUTIME_ID && int_arg(call, 0) >= 0;
    case SYS_gettimeofday:
#ifdef SYS_time
    case SYS_time:
#endif
    case SYS_getcpu:
        return true;
    default:
        return false;
    }
}

void sb_flushcount_enter(struct sb_flushcount *count, struct sb_descriptors *descriptors,
                         struct sb_system_call *call)
{
    size_t bin = call->number < SB_SYSTEM_CALLS ? (size_t)call->number : SB_SYSTEM_CALLS - 1;

    if (call->number == SYS_io_uring_setup)
        count->totals.unseen |= SB_UNSEEN_IO_URING;
    if (call->number == SYS_io_submit)
        count->totals.unseen |= SB_UNSEEN_AIO;
    /* Once the call has returned, another thread may have been given the number again. */
    if (call->number == SYS_close)
        set_flags(descriptors, int_arg(call, 0), 0);
    call->counted = count->clocked && !is_clock_reading(call);
    if (!call->counted)
        return;
    count->totals.system_calls++;
    count->totals.by_number[bin]++;
}

void sb_flushcount_leave(struct sb_flushcount *count, struct sb_descriptors *descriptors,
                         const struct sb_system_call *call, int64_t result)
{
    struct meaning meaning;

    if (result < 0)
        return;
    note_descriptors(descriptors, call, result);
    if (!call->counted)
        return;
    meaning = understand(descriptors, call);
    if (meaning.flush >= 0)
        count->totals.flushes[meaning.flush]++;
    if (meaning.flush == SB_FLUSH_MSYNC)
        count->totals.msync_bytes += call->args[1];
    if (meaning.write_fd >= 0)
        count->totals.bytes_written += (uint64_t)result;
    if (meaning.reads)
        count->totals.bytes_read += (uint64_t)result;
}

const char *sb_flush_kind_name(enum sb_flush_kind kind)
{
    static const char *const names[] = {"fsync",  "fdatasync", "msync",     "sync_file_range",
                                        "syncfs", "sync",      "sync_write"};

    return kind < SB_FLUSH_KINDS ? names[kind] : "?";
}
