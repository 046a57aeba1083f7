/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ceilings.c -- what the machine itself can do; see ceilings.h.
 *
 * First the parts without files (clock, first touch, memory latency, copy), then the flushes. Each
 * part makes rounds until its budget is used up and reduces them to one figure.
 */
#include "ceilings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "clock.h"
#include "sysinfo.h"

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define HAVE_TSC 1
#endif

#define MIB (UINT64_C(1) << 20)

/* More rounds than this would not make a median better. */
#define SAMPLES_MAX 512

/* Makes the compiler believe that the memory behind a pointer is read and written here, so that it
 * neither drops nor moves the work that is being timed. */
#define KEEP(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

struct sb_ceilings_plan sb_ceilings_plan(bool quick)
{
    if (quick)
        return (struct sb_ceilings_plan){
            .budget_ns = UINT64_C(20000000),
            .touch_bytes = 8 * MIB,
            .latency_bytes = 32 * MIB,
            .copy_bytes = 8 * MIB,
            .flush_budget_ns = UINT64_C(30000000),
            .flushes_min = 20,
        };
    return (struct sb_ceilings_plan){
        .budget_ns = UINT64_C(200000000),
        .touch_bytes = 64 * MIB,
        .latency_bytes = 256 * MIB,
        .copy_bytes = 64 * MIB,
        .flush_budget_ns = UINT64_C(300000000),
        .flushes_min = 20,
    };
}

/* ---- rounds ------------------------------------------------------------------------------- */

struct samples {
    double values[SAMPLES_MAX];
    size_t count;
    uint64_t end_ns;
};

static void start_samples(struct samples *samples, uint64_t budget_ns)
{
    samples->count = 0;
    samples->end_ns = sb_now_ns() + budget_ns;
}

static void add_sample(struct samples *samples, double value)
{
    samples->values[samples->count++] = value;
}

/* Whether another round is due: there is room, and it is the first or there is time left. */
static bool want_sample(const struct samples *samples)
{
    return samples->count < SAMPLES_MAX && (samples->count == 0 || sb_now_ns() < samples->end_ns);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the samples; 0 when there are none. */
static double sample_median(struct samples *samples)
{
    size_t count = samples->count;
    if (count == 0)
        return 0;
    qsort(samples->values, count, sizeof(samples->values[0]), compare_doubles);
    if (count % 2 == 1)
        return samples->values[count / 2];
    return (samples->values[count / 2 - 1] + samples->values[count / 2]) / 2;
}

/* The smallest sample: of times, the best. 0 when there are none. */
static double sample_best(struct samples *samples)
{
    (void)sample_median(samples);
    return samples->count > 0 ? samples->values[0] : 0;
}

/* ---- memory to measure on ----------------------------------------------------------------- */

/* An eighth of what this process could still have, by the machine and by its control group. */
static uint64_t memory_allowance_bytes(void)
{
    struct sb_machine machine;
    char text[8192];
    uint64_t available_kibibytes;
    sb_machine_read(&machine);
    uint64_t available_bytes = machine.memory_bytes;
    if (sb_read_text("/proc/meminfo", text, sizeof(text)) == 0 &&
        sb_text_u64(text, "MemAvailable", &available_kibibytes) == 0)
        available_bytes = available_kibibytes * 1024;
    if (machine.cgroup_memory_bytes > 0 && machine.cgroup_memory_bytes < available_bytes)
        available_bytes = machine.cgroup_memory_bytes;
    /* Nothing known, nothing hidden: a size that any machine has. */
    return available_bytes > 0 ? available_bytes / 8 : 16 * MIB;
}

/* The largest power of two that is within both; 0 if that is less than one MiB. */
static size_t fit_bytes(uint64_t wanted_bytes, uint64_t allowed_bytes)
{
    uint64_t most_bytes = wanted_bytes < allowed_bytes ? wanted_bytes : allowed_bytes;
    size_t bytes = MIB;
    while (bytes <= most_bytes / 2)
        bytes *= 2;
    return bytes <= most_bytes ? bytes : 0;
}

/* Fresh private memory in pages of the base size, or NULL. */
static void *map_pages(size_t bytes)
{
    if (bytes == 0)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    /* Refused where the kernel has no huge pages: then there is nothing to decline. */
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static void unmap_pages(void *memory, size_t bytes)
{
    if (memory)
        (void)munmap(memory, bytes);
}

/* ---- clock -------------------------------------------------------------------------------- */

#define CLOCK_BATCH 2048

static double measure_clock(struct samples *samples, uint64_t budget_ns)
{
    start_samples(samples, budget_ns);
    while (want_sample(samples)) {
        uint64_t begin_ns = sb_now_ns();
        for (unsigned i = 0; i < CLOCK_BATCH - 1; i++) {
            uint64_t now_ns = sb_now_ns();
            KEEP(now_ns);
        }
        add_sample(samples, (double)(sb_now_ns() - begin_ns) / CLOCK_BATCH);
    }
    return sample_best(samples);
}

#ifdef HAVE_TSC
static double measure_tsc(struct samples *samples, uint64_t budget_ns)
{
    start_samples(samples, budget_ns);
    while (want_sample(samples)) {
        uint64_t begin_ns = sb_now_ns();
        for (unsigned i = 0; i < CLOCK_BATCH; i++) {
            unsigned long long ticks = __rdtsc();
            KEEP(ticks);
        }
        add_sample(samples, (double)(sb_now_ns() - begin_ns) / CLOCK_BATCH);
    }
    return sample_best(samples);
}
#else
static double measure_tsc(struct samples *samples, uint64_t budget_ns)
{
    (void)samples;
    (void)budget_ns;
    return 0;
}
#endif

/* ---- first touch -------------------------------------------------------------------------- */

/* Writes one byte to each page; returns the nanoseconds per page. Writing without reading first
 * matters: a read would map the shared page of zeros, and the write then fault a second time. */
static double touch_pages(volatile char *memory, size_t bytes, size_t page_bytes)
{
    uint64_t begin_ns = sb_now_ns();
    for (size_t at = 0; at < bytes; at += page_bytes)
        memory[at] = 1;
    return (double)(sb_now_ns() - begin_ns) * (double)page_bytes / (double)bytes;
}

static void measure_touch(struct samples samples[2], uint64_t budget_ns,
                          struct sb_ceilings *ceilings)
{
    size_t bytes = (size_t)ceilings->touch_bytes;
    struct samples *first = &samples[0];
    struct samples *second = &samples[1];
    start_samples(first, budget_ns);
    start_samples(second, budget_ns);
    while (want_sample(first)) {
        char *memory = map_pages(bytes);
        if (!memory)
            break;
        add_sample(first, touch_pages(memory, bytes, ceilings->page_bytes));
        add_sample(second, touch_pages(memory, bytes, ceilings->page_bytes));
        unmap_pages(memory, bytes);
    }
    ceilings->touch_rounds = (uint32_t)first->count;
    if (first->count > 0)
        ceilings->first_touch_ns_per_page_initial = first->values[0];
    ceilings->first_touch_ns_per_page = sample_median(first);
    ceilings->second_touch_ns_per_page = sample_median(second);
}

/* ---- memory latency ----------------------------------------------------------------------- */

/* One cache line; holds the index of the line to load next. */
struct line {
    uint64_t next;
    char padding[56];
};
_Static_assert(sizeof(struct line) == 64, "the lines of the chain are cache lines");

#define CHASE_BATCH 4096

/* A scrambling of 0 .. mask (one less than a power of two, of `bits` bits) that can be undone: an
 * odd factor, then the high half folded into the low one. */
#define SCRAMBLE_FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t scramble(uint64_t x, uint64_t mask, unsigned bits)
{
    x = (x * SCRAMBLE_FACTOR) & mask;
    return x ^ (x >> ((bits + 1) / 2));
}

static uint64_t unscramble(uint64_t x, uint64_t mask, unsigned bits, uint64_t inverse)
{
    x ^= x >> ((bits + 1) / 2);
    return (x * inverse) & mask;
}

/* The odd number that undoes a multiplication by `factor`, modulo 2^64, by Newton's iteration: each
 * step doubles the number of correct low bits, of which the start has three. */
static uint64_t inverse_of(uint64_t factor)
{
    uint64_t inverse = factor;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - factor * inverse;
    return inverse;
}

/* Links all lines into one cycle in an order that no prefetcher foresees. A linear congruential
 * generator of full period (Hull and Dobell: odd increment, factor of 4k + 1) visits every index
 * once; scrambled indices hide its regular low bits. Computing each line's successor, instead of
 * shuffling, writes the memory in order and so takes a fraction of the measurement. */
static void link_lines(struct line *lines, uint64_t count)
{
    uint64_t mask = count - 1;
    unsigned bits = (unsigned)__builtin_ctzll(count);
    uint64_t inverse = inverse_of(SCRAMBLE_FACTOR);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t step = unscramble(i, mask, bits, inverse);
        step = (step * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407)) & mask;
        lines[i].next = scramble(step, mask, bits);
    }
}

static void measure_latency(struct samples *samples, uint64_t budget_ns,
                            struct sb_ceilings *ceilings)
{
    size_t bytes = (size_t)ceilings->memory_latency_bytes;
    struct line *lines = map_pages(bytes);
    if (!lines) {
        ceilings->memory_latency_bytes = 0;
        return;
    }
    link_lines(lines, bytes / sizeof(struct line));
    uint64_t at = 0;
    start_samples(samples, budget_ns);
    while (want_sample(samples)) {
        uint64_t begin_ns = sb_now_ns();
        for (unsigned i = 0; i < CHASE_BATCH; i++)
            at = lines[at].next;
        KEEP(at);
        add_sample(samples, (double)(sb_now_ns() - begin_ns) / CHASE_BATCH);
    }
    ceilings->memory_latency_ns = sample_median(samples);
    unmap_pages(lines, bytes);
}

/* ---- copy --------------------------------------------------------------------------------- */

static void measure_copy(struct samples *samples, uint64_t budget_ns, struct sb_ceilings *ceilings)
{
    size_t bytes = (size_t)ceilings->copy_bytes;
    char *from = map_pages(bytes);
    char *to = map_pages(bytes);
    if (!from || !to) {
        ceilings->copy_bytes = 0;
        goto out;
    }
    memset(from, 'f', bytes);
    memset(to, 't', bytes);
    start_samples(samples, budget_ns);
    while (want_sample(samples)) {
        uint64_t begin_ns = sb_now_ns();
        memcpy(to, from, bytes);
        KEEP(to);
        add_sample(samples, (double)(sb_now_ns() - begin_ns));
    }
    ceilings->copy_rounds = (uint32_t)samples->count;
    double best_ns = sample_best(samples);
    if (best_ns > 0)
        ceilings->copy_bytes_per_s = (double)bytes * 1e9 / best_ns;

out:
    unmap_pages(to, bytes);
    unmap_pages(from, bytes);
}

void sb_ceilings_measure(const struct sb_ceilings_plan *plan, struct sb_ceilings *ceilingsp)
{
    memset(ceilingsp, 0, sizeof(*ceilingsp));
    long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t allowed_bytes = memory_allowance_bytes();
    ceilingsp->page_bytes = page_bytes > 0 ? (uint32_t)page_bytes : 4096;
    ceilingsp->touch_bytes = fit_bytes(plan->touch_bytes, allowed_bytes);
    ceilingsp->memory_latency_bytes = fit_bytes(plan->latency_bytes, allowed_bytes);
    ceilingsp->copy_bytes = fit_bytes(plan->copy_bytes, allowed_bytes / 2);

    struct samples *samples = malloc(2 * sizeof(*samples));
    if (!samples)
        return;
    ceilingsp->clock_read_ns = measure_clock(samples, plan->budget_ns);
    ceilingsp->tsc_read_ns = measure_tsc(samples, plan->budget_ns);
    measure_touch(samples, plan->budget_ns, ceilingsp);
    measure_latency(samples, plan->budget_ns, ceilingsp);
    measure_copy(samples, plan->budget_ns, ceilingsp);
    free(samples);
}

/* ---- flushes ------------------------------------------------------------------------------ */

#define RECORD_BYTES UINT64_C(4096)
#define PREPARED_BYTES (4 * MIB)
/* Keeps the growing file at 64 MiB where flushes are free and would be made by the million. */
#define FLUSHES_MAX 16384
#define FLUSHES_WARMUP 3
#define PATIENCE_BUDGETS 20

/* The probe file: PREPARED_BYTES that have been written and flushed, then what append adds. It
 * keeps its name until the end, because some file systems do not log a file that has none. */
struct probe {
    int fd;
    char path[PATH_MAX];
    char *map;            /* the prepared part, NULL until it is mapped */
    uint64_t append_at;   /* where the file ends */
    uint64_t page_bytes;  /* unit of msync */
    uint64_t flushes_max; /* bounded by the free space as well */
    uint64_t serial;      /* stamped into each record, so that no two are the same */
    uint64_t record[RECORD_BYTES / sizeof(uint64_t)];
};

/* Makes the probe's i-th record dirty and flushes it. Returns 0, or -1 with errno set. */
typedef int (*flush_step_fn)(struct probe *probe, uint64_t i);

static int write_record(struct probe *probe, uint64_t offset)
{
    probe->record[0] = ++probe->serial;
    ssize_t written = pwrite(probe->fd, probe->record, sizeof(probe->record), (off_t)offset);
    if (written == (ssize_t)sizeof(probe->record))
        return 0;
    if (written >= 0)
        errno = ENOSPC;
    return -1;
}

static int append_step(struct probe *probe, uint64_t i)
{
    (void)i;
    if (write_record(probe, probe->append_at) != 0)
        return -1;
    probe->append_at += RECORD_BYTES;
    return fdatasync(probe->fd);
}

static int overwrite_step(struct probe *probe, uint64_t i)
{
    if (write_record(probe, i * RECORD_BYTES % PREPARED_BYTES) != 0)
        return -1;
    return fdatasync(probe->fd);
}

static int mapped_step(struct probe *probe, uint64_t i)
{
    char *page = probe->map + i * probe->page_bytes % PREPARED_BYTES;
    uint64_t serial = ++probe->serial;
    memcpy(page, &serial, sizeof(serial));
    return msync(page, probe->page_bytes, MS_SYNC);
}

/* Repeats a step: a few times unclocked, since the first flush of a file often costs more, then for
 * the budget and the smallest count, but not beyond patience. */
static void measure_flushes(struct probe *probe, const struct sb_ceilings_plan *plan,
                            flush_step_fn step, struct sb_flush_ceiling *ceiling)
{
    uint64_t i = 0;
    while (i < FLUSHES_WARMUP && step(probe, i) == 0)
        i++;
    if (i < FLUSHES_WARMUP) {
        ceiling->error_number = errno;
        return;
    }
    uint64_t begin_ns = sb_now_ns();
    for (;;) {
        if (step(probe, i++) != 0) {
            ceiling->error_number = errno;
            break;
        }
        ceiling->flushes++;
        ceiling->elapsed_ns = sb_now_ns() - begin_ns;
        bool enough =
            ceiling->elapsed_ns >= plan->flush_budget_ns && ceiling->flushes >= plan->flushes_min;
        bool endless = ceiling->elapsed_ns >= PATIENCE_BUDGETS * plan->flush_budget_ns;
        if (enough || endless || ceiling->flushes >= probe->flushes_max)
            break;
    }
    if (ceiling->elapsed_ns > 0)
        ceiling->flushes_per_s = (double)ceiling->flushes * 1e9 / (double)ceiling->elapsed_ns;
}

/* Bounds the file by the free space. A full file system must be met here: a store to a mapped page
 * that finds no room would end the process. */
static int check_space(struct probe *probe)
{
    struct statvfs space;
    if (fstatvfs(probe->fd, &space) != 0)
        return -1;
    uint64_t free_bytes = (uint64_t)space.f_bavail * space.f_frsize;
    if (free_bytes < 4 * PREPARED_BYTES) {
        errno = ENOSPC;
        return -1;
    }
    uint64_t room = free_bytes / 4 / RECORD_BYTES;
    probe->flushes_max = room < FLUSHES_MAX ? room : FLUSHES_MAX;
    return 0;
}

/* Fills a record with noise, for devices that compress, and writes the prepared part. */
static int prepare_file(struct probe *probe)
{
    uint64_t noise = SCRAMBLE_FACTOR;
    for (size_t i = 0; i < RECORD_BYTES / sizeof(uint64_t); i++) {
        /* Marsaglia's xorshift64. */
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        probe->record[i] = noise;
    }
    for (uint64_t at = 0; at < PREPARED_BYTES; at += RECORD_BYTES) {
        if (write_record(probe, at) != 0)
            return -1;
    }
    probe->append_at = PREPARED_BYTES;
    return fsync(probe->fd);
}

static int map_file(struct probe *probe)
{
    long page_bytes = sysconf(_SC_PAGESIZE);
    probe->page_bytes = page_bytes > 0 ? (uint64_t)page_bytes : RECORD_BYTES;
    void *map = mmap(NULL, PREPARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, probe->fd, 0);
    if (map == MAP_FAILED)
        return -1;
    probe->map = map;
    return 0;
}

static int open_probe(struct probe *probe, const char *dir)
{
    int length = snprintf(probe->path, sizeof(probe->path), "%s/.storebench-probe-XXXXXX", dir);
    if (length < 0 || (size_t)length >= sizeof(probe->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    probe->fd = mkostemp(probe->path, O_CLOEXEC);
    return probe->fd >= 0 ? 0 : -1;
}

static int first_error(const struct sb_flush_ceilings *ceilings)
{
    if (ceilings->overwrite.error_number)
        return ceilings->overwrite.error_number;
    if (ceilings->mapped.error_number)
        return ceilings->mapped.error_number;
    return ceilings->append.error_number;
}

int sb_flush_ceilings_measure(const struct sb_ceilings_plan *plan, const char *dir,
                              struct sb_flush_ceilings *ceilingsp)
{
    memset(ceilingsp, 0, sizeof(*ceilingsp));
    ceilingsp->record_bytes = RECORD_BYTES;
    int error = 0;
    struct probe *probe = calloc(1, sizeof(*probe));
    if (!probe)
        return -1;
    if (open_probe(probe, dir) != 0) {
        error = errno;
        free(probe);
        errno = error;
        return -1;
    }
    if (check_space(probe) != 0 || prepare_file(probe) != 0) {
        error = errno;
        goto out;
    }
    measure_flushes(probe, plan, overwrite_step, &ceilingsp->overwrite);
    if (map_file(probe) == 0)
        measure_flushes(probe, plan, mapped_step, &ceilingsp->mapped);
    else
        ceilingsp->mapped.error_number = errno;
    measure_flushes(probe, plan, append_step, &ceilingsp->append);
    error = first_error(ceilingsp);

out:
    unmap_pages(probe->map, PREPARED_BYTES);
    close(probe->fd);
    if (unlink(probe->path) != 0 && error == 0)
        error = errno;
    free(probe);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}
