/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage.c -- what this process has used; see usage.h.
 *
 * Reads getrusage, the thread's CPU clock, /proc/self/io and /proc/self/status. Every source may
 * be missing: its fields are then 0 and, where 0 could be taken for a fact, a flag says so.
 */
#include "usage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sysinfo.h"

static uint64_t timeval_ns(const struct timeval *value)
{
    return (uint64_t)value->tv_sec * UINT64_C(1000000000) + (uint64_t)value->tv_usec * 1000;
}

static void sample_rusage(struct sb_usage *usagep)
{
    struct rusage raw;
    if (getrusage(RUSAGE_SELF, &raw) != 0)
        return;
    usagep->cpu_user_ns = timeval_ns(&raw.ru_utime);
    usagep->cpu_system_ns = timeval_ns(&raw.ru_stime);
    usagep->minor_faults = (uint64_t)raw.ru_minflt;
    usagep->major_faults = (uint64_t)raw.ru_majflt;
    usagep->voluntary_switches = (uint64_t)raw.ru_nvcsw;
    usagep->involuntary_switches = (uint64_t)raw.ru_nivcsw;
}

static void sample_io(struct sb_usage *usagep)
{
    char text[1024];
    if (sb_read_text("/proc/self/io", text, sizeof(text)) != 0)
        return;
    usagep->io_readable =
        sb_text_u64(text, "read_bytes", &usagep->read_bytes) == 0 &&
        sb_text_u64(text, "write_bytes", &usagep->write_bytes) == 0 &&
        sb_text_u64(text, "cancelled_write_bytes", &usagep->cancelled_write_bytes) == 0 &&
        sb_text_u64(text, "rchar", &usagep->read_call_bytes) == 0 &&
        sb_text_u64(text, "wchar", &usagep->write_call_bytes) == 0 &&
        sb_text_u64(text, "syscr", &usagep->read_calls) == 0 &&
        sb_text_u64(text, "syscw", &usagep->write_calls) == 0;
}

void sb_usage_sample(struct sb_usage *usagep)
{
    memset(usagep, 0, sizeof(*usagep));
    sample_rusage(usagep);
    struct timespec cpu;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        usagep->thread_cpu_ns = (uint64_t)cpu.tv_sec * UINT64_C(1000000000) + (uint64_t)cpu.tv_nsec;
    sample_io(usagep);
}

static uint64_t growth(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

void sb_usage_diff(const struct sb_usage *before, const struct sb_usage *after,
                   struct sb_usage *diffp)
{
    struct sb_usage diff = {
        .cpu_user_ns = growth(before->cpu_user_ns, after->cpu_user_ns),
        .cpu_system_ns = growth(before->cpu_system_ns, after->cpu_system_ns),
        .thread_cpu_ns = growth(before->thread_cpu_ns, after->thread_cpu_ns),
        .minor_faults = growth(before->minor_faults, after->minor_faults),
        .major_faults = growth(before->major_faults, after->major_faults),
        .voluntary_switches = growth(before->voluntary_switches, after->voluntary_switches),
        .involuntary_switches = growth(before->involuntary_switches, after->involuntary_switches),
        .io_readable = before->io_readable && after->io_readable,
    };
    if (diff.io_readable) {
        diff.read_bytes = growth(before->read_bytes, after->read_bytes);
        diff.write_bytes = growth(before->write_bytes, after->write_bytes);
        diff.cancelled_write_bytes =
            growth(before->cancelled_write_bytes, after->cancelled_write_bytes);
        diff.read_call_bytes = growth(before->read_call_bytes, after->read_call_bytes);
        diff.write_call_bytes = growth(before->write_call_bytes, after->write_call_bytes);
        diff.read_calls = growth(before->read_calls, after->read_calls);
        diff.write_calls = growth(before->write_calls, after->write_calls);
    }
    *diffp = diff;
}

/* One field of /proc/self/status, which counts in units of 1024 bytes. */
static int status_bytes(const char *text, const char *key, uint64_t *bytesp)
{
    uint64_t kibibytes;
    int rc = sb_text_u64(text, key, &kibibytes);
    *bytesp = kibibytes * 1024;
    return rc;
}

void sb_memory_sample(struct sb_memory *memoryp)
{
    memset(memoryp, 0, sizeof(*memoryp));
    char text[8192];
    if (sb_read_text("/proc/self/status", text, sizeof(text)) != 0)
        return;
    memoryp->readable = status_bytes(text, "RssAnon", &memoryp->rss_anon_bytes) == 0 &&
                        status_bytes(text, "RssFile", &memoryp->rss_file_bytes) == 0 &&
                        status_bytes(text, "RssShmem", &memoryp->rss_shmem_bytes) == 0 &&
                        status_bytes(text, "VmHWM", &memoryp->peak_rss_bytes) == 0;
}

static void raise_to(uint64_t *max, uint64_t value)
{
    if (*max < value)
        *max = value;
}

void sb_memory_keep_max(struct sb_memory *max, const struct sb_memory *now)
{
    max->readable = max->readable || now->readable;
    raise_to(&max->rss_anon_bytes, now->rss_anon_bytes);
    raise_to(&max->rss_file_bytes, now->rss_file_bytes);
    raise_to(&max->rss_shmem_bytes, now->rss_shmem_bytes);
    raise_to(&max->peak_rss_bytes, now->peak_rss_bytes);
}

bool sb_memory_reset_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* "5" resets the high-water mark and nothing else; 1 to 4 would clear referenced bits. */
    bool done = write(fd, "5", 1) == 1;
    close(fd);
    return done;
}
