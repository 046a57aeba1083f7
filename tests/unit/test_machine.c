/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_machine.c -- facts about the machine, its ceilings, resource use and disk space.
 *
 * No test here asserts how fast anything is. Machines that are not at hand (no /proc, an ARM board,
 * a control group with limits) are shown as files below a temporary root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../src/ceilings.h"
#include "../../src/clock.h"
#include "../../src/diskuse.h"
#include "../../src/sysinfo.h"
#include "../../src/usage.h"

#define MIB (UINT64_C(1) << 20)

/* ---- a scratch directory per test --------------------------------------------------------- */

struct scratch {
    char dir[PATH_MAX / 2];
    char path[PATH_MAX];
};

static int make_scratch(void **state)
{
    const char *parent = getenv("TMPDIR");
    struct scratch *scratch = calloc(1, sizeof(*scratch));
    if (!scratch)
        return -1;
    int length = snprintf(scratch->dir, sizeof(scratch->dir), "%s/storebench-test-XXXXXX",
                          parent && parent[0] ? parent : "/tmp");
    *state = scratch;
    return length > 0 && (size_t)length < sizeof(scratch->dir) && mkdtemp(scratch->dir) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

static int remove_scratch(void **state)
{
    struct scratch *scratch = *state;
    int rc = nftw(scratch->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(scratch);
    return rc;
}

/* The path of `name` in the scratch directory; valid until the next call. */
static const char *in_scratch(struct scratch *scratch, const char *name)
{
    int length = snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->dir, name);
    assert_true(length > 0 && (size_t)length < sizeof(scratch->path));
    return scratch->path;
}

/* Writes a file in the scratch directory, with the directories on the way to it. */
static void put_file(struct scratch *scratch, const char *name, const char *text, size_t size)
{
    (void)in_scratch(scratch, name);
    for (char *slash = scratch->path + strlen(scratch->dir) + 1; (slash = strchr(slash, '/'));) {
        *slash = '\0';
        assert_true(mkdir(scratch->path, 0700) == 0 || errno == EEXIST);
        *slash++ = '/';
    }
    int fd = open(scratch->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    assert_int_equal(close(fd), 0);
}

static void put_text(struct scratch *scratch, const char *name, const char *text)
{
    put_file(scratch, name, text, strlen(text));
}

static unsigned count_entries(const char *dir)
{
    unsigned count = 0;
    DIR *stream = opendir(dir);
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return count;
}

/* ---- clock -------------------------------------------------------------------------------- */

static void test_clock(void **state)
{
    (void)state;
    uint64_t last_ns = sb_now_ns();
    assert_true(last_ns > 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now_ns = sb_now_ns();
        assert_true(now_ns >= last_ns);
        last_ns = now_ns;
    }
    char text[SB_ISO8601_BYTES];
    assert_ptr_equal(sb_wall_iso8601(text, sizeof(text)), text);
    assert_int_equal(strlen(text), 20);
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    for (size_t i = 0; i < 20; i++)
        assert_true(shape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == shape[i]);
    assert_string_equal(sb_wall_iso8601(text, 10), "");
}

/* ---- text files --------------------------------------------------------------------------- */

static void test_text(void **state)
{
    struct scratch *scratch = *state;
    static const char text[] = "MemTotal:       24684092 kB\nDirty : 7\nword: some text \nempty:\n"
                               "huge: 99999999999999999999\nmodel name\t: A CPU\n";
    uint64_t value = 1;
    char word[16];
    assert_int_equal(sb_text_u64(text, "MemTotal", &value), 0);
    assert_int_equal(value, 24684092);
    assert_int_equal(sb_text_u64(text, "Dirty", &value), 0);
    assert_int_equal(value, 7);
    static const char *const missing[] = {"Mem", "word", "empty", "huge", "Total", "absent"};
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        assert_int_equal(sb_text_u64(text, missing[i], &value), -1);
        assert_int_equal(value, 0);
    }
    assert_int_equal(sb_text_value(text, "word", word, sizeof(word)), 0);
    assert_string_equal(word, "some text");
    assert_int_equal(sb_text_value(text, "word", word, 5), 0);
    assert_string_equal(word, "some");
    assert_int_equal(sb_text_value(text, "model name", word, sizeof(word)), 0);
    assert_string_equal(word, "A CPU");
    assert_int_equal(sb_text_value(text, "absent", word, sizeof(word)), -1);
    assert_string_equal(word, "");

    put_text(scratch, "file", "0123456789");
    assert_int_equal(sb_read_text(in_scratch(scratch, "file"), word, 5), 0);
    assert_string_equal(word, "0123");
    assert_int_equal(sb_read_text(in_scratch(scratch, "none"), word, sizeof(word)), -1);
    assert_string_equal(word, "");
    assert_int_equal(sb_read_text(scratch->dir, word, sizeof(word)), -1);
}

/* ---- the machine -------------------------------------------------------------------------- */

static void test_machine_here(void **state)
{
    (void)state;
    struct sb_machine first;
    struct sb_machine second;
    sb_machine_read(&first);
    sb_machine_read(&second);
    assert_true(first.cores_online >= 1);
    assert_true(first.cores_usable >= 1);
    assert_true(first.page_bytes >= 4096);
    assert_string_not_equal(first.cpu_model, "");
    assert_string_not_equal(first.kernel, "unknown");
    assert_int_equal(strlen(first.fingerprint), 16);
    assert_int_equal(strspn(first.fingerprint, "0123456789abcdef"), 16);
    assert_string_equal(first.fingerprint, second.fingerprint);
    assert_string_equal(first.boot_id, second.boot_id);
    if (access("/proc/meminfo", R_OK) == 0)
        assert_true(first.memory_bytes >= 16 * MIB);
}

static void test_machine_without_proc(void **state)
{
    struct scratch *scratch = *state;
    struct sb_machine machine;
    sb_machine_read_root(&machine, in_scratch(scratch, "nothing"));
    assert_string_equal(machine.cpu_model, "unknown");
    assert_string_equal(machine.os_name, "unknown");
    assert_string_equal(machine.virtualisation, "unknown");
    assert_string_equal(machine.clock_source, "unknown");
    assert_string_equal(machine.huge_pages, "unknown");
    assert_string_equal(machine.boot_id, "unknown");
    assert_string_equal(machine.governor, "");
    assert_int_equal(machine.memory_bytes, 0);
    assert_int_equal(machine.cgroup_memory_bytes, 0);
    assert_false(machine.constant_tsc || machine.nonstop_tsc || machine.hypervisor);
    assert_true(machine.load_average_1min == 0);
    assert_int_equal(strlen(machine.fingerprint), 16);
}

/* A bare-metal x86 machine with a limit in an outer control group that is tighter than its own. */
static void put_machine(struct scratch *scratch)
{
    put_text(scratch, "proc/cpuinfo",
             "processor\t: 0\nmodel name\t: Made Up CPU\nmicrocode\t: 0x2a\n"
             "flags\t\t: fpu nonstop_tsc_s3 constant_tsc nonstop_tsc\n\nprocessor\t: 1\n");
    put_text(scratch, "proc/meminfo", "MemTotal:  8000000 kB\nMemFree: 1 kB\n");
    put_text(scratch, "proc/loadavg", "1.50 0.25 0.00 1/89 4326\n");
    put_text(scratch, "proc/sys/kernel/random/boot_id", "0b\n");
    put_text(scratch, "proc/self/cgroup", "5:cpu:/x\n0::/pod/outer/inner\n");
    put_text(scratch, "proc/self/mountinfo",
             "22 27 0:21 / /proc rw - proc proc rw\nnonsense\n"
             "31 23 0:38 /pod /sys/fs/c\\040g rw shared:1 master:2 - cgroup2 cgroup2 rw\n");
    put_text(scratch, "sys/fs/c g/outer/inner/memory.max", "max\n");
    put_text(scratch, "sys/fs/c g/outer/memory.max", "1073741824\n");
    put_text(scratch, "sys/fs/c g/memory.max", "4294967296\n");
    put_text(scratch, "sys/class/dmi/id/product_name", "Made Up Board  \n");
    put_text(scratch, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    put_text(scratch, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    put_text(scratch, "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    put_text(scratch, "etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Made Up 1 (x)\"\nID=x\n");
}

static void test_machine_made_up(void **state)
{
    struct scratch *scratch = *state;
    struct sb_machine machine;
    put_machine(scratch);
    sb_machine_read_root(&machine, scratch->dir);
    assert_string_equal(machine.cpu_model, "Made Up CPU");
    assert_string_equal(machine.microcode, "0x2a");
    assert_true(machine.constant_tsc && machine.nonstop_tsc);
    assert_false(machine.hypervisor);
    assert_string_equal(machine.virtualisation, "none");
    assert_int_equal(machine.memory_bytes, UINT64_C(8000000) * 1024);
    assert_int_equal(machine.cgroup_memory_bytes, 1024 * MIB);
    assert_string_equal(machine.dmi_product, "Made Up Board");
    assert_string_equal(machine.huge_pages, "madvise");
    assert_string_equal(machine.governor, "powersave");
    assert_string_equal(machine.clock_source, "hpet");
    assert_string_equal(machine.os_name, "Made Up 1 (x)");
    assert_string_equal(machine.boot_id, "0b");
    assert_true(machine.load_average_1min > 1.49 && machine.load_average_5min < 0.26);
}

/* Facts that change from boot to boot must not change the fingerprint; others must. */
static void test_machine_fingerprint(void **state)
{
    struct scratch *scratch = *state;
    struct sb_machine first;
    struct sb_machine second;
    put_machine(scratch);
    sb_machine_read_root(&first, scratch->dir);
    put_text(scratch, "proc/meminfo", "MemTotal:  8000100 kB\n");
    put_text(scratch, "proc/sys/kernel/random/boot_id", "1c\n");
    put_text(scratch, "proc/loadavg", "9 9 9\n");
    sb_machine_read_root(&second, scratch->dir);
    assert_string_equal(first.fingerprint, second.fingerprint);
    put_text(scratch, "proc/meminfo", "MemTotal:  16000000 kB\n");
    sb_machine_read_root(&second, scratch->dir);
    assert_string_not_equal(first.fingerprint, second.fingerprint);
    put_text(scratch, "proc/meminfo", "MemTotal:  8000000 kB\n");
    put_text(scratch, "proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
    sb_machine_read_root(&second, scratch->dir);
    assert_string_not_equal(first.fingerprint, second.fingerprint);
    assert_string_equal(second.cpu_model, "implementer 0x41 part 0xd0c");
    assert_string_equal(second.virtualisation, "unknown");
}

static void test_cgroup_version1(void **state)
{
    struct scratch *scratch = *state;
    struct sb_machine machine;
    put_text(scratch, "proc/self/cgroup", "4:cpu,memory:/a\n0::/\n");
    put_text(scratch, "proc/self/mountinfo",
             "35 31 0:32 / /cg/memory rw - cgroup cgroup rw,cpu,memory\n");
    put_text(scratch, "cg/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put_text(scratch, "cg/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    sb_machine_read_root(&machine, scratch->dir);
    assert_int_equal(machine.cgroup_memory_bytes, 0);
    put_text(scratch, "cg/memory/a/memory.limit_in_bytes", "2147483648\n");
    sb_machine_read_root(&machine, scratch->dir);
    assert_int_equal(machine.cgroup_memory_bytes, 2048 * MIB);
}

/* ---- a directory -------------------------------------------------------------------------- */

static void test_directory_here(void **state)
{
    struct scratch *scratch = *state;
    struct sb_directory directory;
    char resolved[PATH_MAX];
    assert_int_equal(sb_directory_read(&directory, scratch->dir), 0);
    assert_non_null(realpath(scratch->dir, resolved));
    assert_string_equal(directory.path, resolved);
    assert_true(directory.filesystem_magic != 0);
    assert_true(directory.block_bytes > 0);
    assert_true(directory.total_bytes > 0 && directory.free_bytes <= directory.total_bytes);
    assert_true(directory.rotational >= -1 && directory.rotational <= 1);
    if (access("/proc/self/mountinfo", R_OK) == 0) {
        assert_string_not_equal(directory.filesystem, "unknown");
        assert_int_equal(strncmp(resolved, directory.mount_point, strlen(directory.mount_point)),
                         0);
        assert_string_not_equal(directory.mount_options, "unknown");
    }
}

static void test_directory_in_memory(void **state)
{
    (void)state;
    struct sb_directory directory;
    if (sb_directory_read(&directory, "/dev/shm") != 0 ||
        directory.filesystem_magic != UINT64_C(0x01021994))
        skip();
    assert_string_equal(directory.filesystem, "tmpfs");
    assert_true(directory.memory_backed);
    assert_string_equal(directory.write_cache, "unknown");
    assert_int_equal(directory.rotational, -1);
}

static void test_directory_without_proc(void **state)
{
    struct scratch *scratch = *state;
    struct sb_directory directory;
    assert_int_equal(sb_directory_read_root(&directory, scratch->dir, "/nonexistent"), 0);
    assert_string_equal(directory.mount_point, "unknown");
    assert_string_equal(directory.write_cache, "unknown");
    assert_string_equal(directory.block_device, "unknown");
    assert_int_equal(directory.rotational, -1);
    assert_true(directory.total_bytes > 0);

    errno = 0;
    assert_int_equal(sb_directory_read(&directory, in_scratch(scratch, "none")), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(directory.filesystem, "unknown");
    assert_int_equal(directory.total_bytes, 0);
}

/* ---- ceilings ----------------------------------------------------------------------------- */

static void test_ceilings(void **state)
{
    (void)state;
    struct sb_ceilings_plan plan = sb_ceilings_plan(true);
    struct sb_ceilings ceilings;
    plan.budget_ns = 2000000;
    sb_ceilings_measure(&plan, &ceilings);
    assert_true(ceilings.clock_read_ns > 0);
    assert_true(ceilings.tsc_read_ns >= 0);
    assert_true(ceilings.page_bytes >= 4096);
    assert_true(ceilings.touch_rounds >= 1);
    assert_true(ceilings.touch_bytes >= MIB && ceilings.touch_bytes <= plan.touch_bytes);
    assert_true(ceilings.first_touch_ns_per_page_initial > 0);
    assert_true(ceilings.first_touch_ns_per_page > 0);
    assert_true(ceilings.second_touch_ns_per_page > 0);
    assert_true(ceilings.memory_latency_bytes >= MIB);
    assert_true(ceilings.memory_latency_bytes <= plan.latency_bytes);
    assert_true(ceilings.memory_latency_ns > 0);
    assert_true(ceilings.copy_rounds >= 1);
    assert_true(ceilings.copy_bytes_per_s > 0);
}

static void test_ceilings_without_budget(void **state)
{
    (void)state;
    struct sb_ceilings_plan plan = {.touch_bytes = MIB, .latency_bytes = 1, .copy_bytes = MIB};
    struct sb_ceilings ceilings;
    sb_ceilings_measure(&plan, &ceilings);
    assert_int_equal(ceilings.touch_rounds, 1);
    assert_int_equal(ceilings.copy_rounds, 1);
    assert_int_equal(ceilings.memory_latency_bytes, 0);
    assert_true(ceilings.memory_latency_ns == 0);
}

static void check_flushes(const struct sb_flush_ceiling *ceiling)
{
    assert_int_equal(ceiling->error_number, 0);
    assert_true(ceiling->flushes >= 1 && ceiling->flushes <= 16384);
    assert_true(ceiling->elapsed_ns > 0);
    assert_true(ceiling->flushes_per_s > 0);
}

static void test_flush_ceilings(void **state)
{
    struct scratch *scratch = *state;
    struct sb_ceilings_plan plan = sb_ceilings_plan(true);
    struct sb_flush_ceilings ceilings;
    assert_true(plan.flushes_min >= 20);
    plan.flush_budget_ns = 5000000;
    assert_int_equal(sb_flush_ceilings_measure(&plan, scratch->dir, &ceilings), 0);
    assert_int_equal(ceilings.record_bytes, 4096);
    check_flushes(&ceilings.append);
    check_flushes(&ceilings.overwrite);
    check_flushes(&ceilings.mapped);
    assert_int_equal(count_entries(scratch->dir), 0);
}

static void test_flush_ceilings_errors(void **state)
{
    struct scratch *scratch = *state;
    struct sb_ceilings_plan plan = sb_ceilings_plan(true);
    struct sb_flush_ceilings ceilings;
    errno = 0;
    assert_int_equal(sb_flush_ceilings_measure(&plan, in_scratch(scratch, "none"), &ceilings), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(ceilings.append.flushes, 0);

    char *endless = malloc(PATH_MAX + 1);
    assert_non_null(endless);
    memset(endless, 'x', PATH_MAX);
    endless[PATH_MAX] = '\0';
    assert_int_equal(sb_flush_ceilings_measure(&plan, endless, &ceilings), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    free(endless);
}

/* A limit on file size lets the fill fail half-way: the probe file must be gone all the same. */
static void test_flush_ceilings_cleanup(void **state)
{
    struct scratch *scratch = *state;
    struct sb_ceilings_plan plan = sb_ceilings_plan(true);
    struct sb_flush_ceilings ceilings;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit low = {.rlim_cur = MIB, .rlim_max = old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    int rc = sb_flush_ceilings_measure(&plan, scratch->dir, &ceilings);
    int error = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(rc, -1);
    assert_int_equal(error, EFBIG);
    assert_int_equal(ceilings.overwrite.flushes, 0);
    assert_int_equal(count_entries(scratch->dir), 0);
}

/* ---- usage -------------------------------------------------------------------------------- */

static void test_usage(void **state)
{
    struct scratch *scratch = *state;
    struct sb_usage before;
    struct sb_usage after;
    struct sb_usage diff;
    sb_usage_sample(&before);

    uint64_t begin_ns = sb_now_ns();
    while (sb_now_ns() - begin_ns < 20000000)
        continue;
    char block[4096];
    memset(block, 'x', sizeof(block));
    put_file(scratch, "file", block, sizeof(block));
    char *pages = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    (void)madvise(pages, MIB, MADV_NOHUGEPAGE);
    memset(pages, 1, MIB);
    assert_int_equal(munmap(pages, MIB), 0);

    sb_usage_sample(&after);
    sb_usage_diff(&before, &after, &diff);
    assert_true(diff.thread_cpu_ns > 0);
    assert_true(diff.cpu_user_ns + diff.cpu_system_ns > 0);
    assert_true(diff.minor_faults >= MIB / (uint64_t)sysconf(_SC_PAGESIZE));
    if (diff.io_readable) {
        assert_true(diff.write_call_bytes >= sizeof(block));
        assert_true(diff.write_calls >= 1);
        assert_true(diff.read_calls >= 1);
    }
}

static void test_usage_diff(void **state)
{
    (void)state;
    struct sb_usage before = {.minor_faults = 5, .io_readable = true, .write_bytes = 10};
    struct sb_usage after = {.minor_faults = 3, .io_readable = true, .write_bytes = 25};
    struct sb_usage diff;
    sb_usage_diff(&before, &after, &diff);
    assert_int_equal(diff.minor_faults, 0);
    assert_int_equal(diff.write_bytes, 15);
    assert_true(diff.io_readable);
    after.io_readable = false;
    sb_usage_diff(&before, &after, &after);
    assert_false(after.io_readable);
    assert_int_equal(after.write_bytes, 0);
}

static void test_memory(void **state)
{
    (void)state;
    struct sb_memory now;
    struct sb_memory max = {0};
    sb_memory_sample(&now);
    if (!now.readable)
        skip();
    assert_true(now.rss_anon_bytes > 0);
    assert_true(now.rss_file_bytes > 0);
    assert_true(now.peak_rss_bytes > 0);
    sb_memory_keep_max(&max, &now);
    assert_memory_equal(&max, &now, sizeof(max));
    now.rss_anon_bytes += 1;
    now.rss_file_bytes -= 1;
    sb_memory_keep_max(&max, &now);
    assert_int_equal(max.rss_anon_bytes, now.rss_anon_bytes);
    assert_int_equal(max.rss_file_bytes, now.rss_file_bytes + 1);
}

static void test_memory_reset_peak(void **state)
{
    (void)state;
    const size_t bytes = 64 * MIB;
    struct sb_memory high;
    struct sb_memory low;
    char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    memset(pages, 1, bytes);
    assert_int_equal(munmap(pages, bytes), 0);
    sb_memory_sample(&high);
    if (!high.readable || !sb_memory_reset_peak())
        skip();
    sb_memory_sample(&low);
    assert_true(high.peak_rss_bytes >= bytes);
    assert_true(low.peak_rss_bytes + bytes / 2 < high.peak_rss_bytes);
}

/* ---- disk use ----------------------------------------------------------------------------- */

static void test_disk_use_empty(void **state)
{
    struct scratch *scratch = *state;
    struct sb_disk_use use;
    assert_int_equal(sb_disk_use(scratch->dir, &use), 0);
    assert_int_equal(use.file_count, 0);
    assert_int_equal(use.apparent_bytes, 0);
    assert_int_equal(use.allocated_bytes, 0);
    assert_int_equal(use.directory_count, 1);

    errno = 0;
    assert_int_equal(sb_disk_use(in_scratch(scratch, "none"), &use), -1);
    assert_int_equal(errno, ENOENT);
    put_text(scratch, "file", "x");
    assert_int_equal(sb_disk_use(in_scratch(scratch, "file"), &use), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(use.file_count, 0);
}

static void test_disk_use_sparse(void **state)
{
    struct scratch *scratch = *state;
    struct sb_disk_use use;
    int fd = open(in_scratch(scratch, "sparse"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)(64 * MIB)), 0);
    assert_int_equal(pwrite(fd, "x", 1, (off_t)(32 * MIB)), 1);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(sb_disk_use(scratch->dir, &use), 0);
    assert_int_equal(use.file_count, 1);
    assert_int_equal(use.apparent_bytes, 64 * MIB);
    assert_true(use.allocated_bytes > 0 && use.allocated_bytes < 2 * MIB);
}

static void test_disk_use_links(void **state)
{
    struct scratch *scratch = *state;
    struct sb_disk_use use;
    char target[PATH_MAX];
    put_text(scratch, "a/one", "12345");
    put_text(scratch, "b/c/two", "123");
    put_text(scratch, "outside", "1234567");
    int length = snprintf(target, sizeof(target), "%s/a/one", scratch->dir);
    assert_true(length > 0 && (size_t)length < sizeof(target));
    for (char name[] = "b/c/link0"; name[8] <= '9'; name[8]++)
        assert_int_equal(link(target, in_scratch(scratch, name)), 0);
    /* Neither the link to a file nor the one that closes a loop may be followed. */
    assert_int_equal(symlink("../../outside", in_scratch(scratch, "b/c/soft")), 0);
    assert_int_equal(symlink("../..", in_scratch(scratch, "b/c/loop")), 0);
    assert_int_equal(mkfifo(in_scratch(scratch, "b/pipe"), 0600), 0);
    assert_int_equal(sb_disk_use(scratch->dir, &use), 0);
    assert_int_equal(use.file_count, 3);
    assert_int_equal(use.apparent_bytes, 15);
    assert_int_equal(use.directory_count, 4);

    assert_int_equal(sb_disk_use(in_scratch(scratch, "b"), &use), 0);
    assert_int_equal(use.file_count, 2);
    assert_int_equal(use.apparent_bytes, 8);
    /* The directory that is asked for may itself be named through a link. */
    assert_int_equal(symlink("b", in_scratch(scratch, "alias")), 0);
    assert_int_equal(sb_disk_use(in_scratch(scratch, "alias"), &use), 0);
    assert_int_equal(use.file_count, 2);
}

static void test_dirty(void **state)
{
    (void)state;
    uint64_t bytes = 1;
    if (sb_dirty_bytes(&bytes) != 0)
        assert_int_equal(bytes, 0);
    else
        assert_int_equal(bytes % 1024, 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, make_scratch, remove_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock),
        IN_SCRATCH(test_text),
        cmocka_unit_test(test_machine_here),
        IN_SCRATCH(test_machine_without_proc),
        IN_SCRATCH(test_machine_made_up),
        IN_SCRATCH(test_machine_fingerprint),
        IN_SCRATCH(test_cgroup_version1),
        IN_SCRATCH(test_directory_here),
        cmocka_unit_test(test_directory_in_memory),
        IN_SCRATCH(test_directory_without_proc),
        cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_ceilings_without_budget),
        IN_SCRATCH(test_flush_ceilings),
        IN_SCRATCH(test_flush_ceilings_errors),
        IN_SCRATCH(test_flush_ceilings_cleanup),
        IN_SCRATCH(test_usage),
        cmocka_unit_test(test_usage_diff),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_reset_peak),
        IN_SCRATCH(test_disk_use_empty),
        IN_SCRATCH(test_disk_use_sparse),
        IN_SCRATCH(test_disk_use_links),
        cmocka_unit_test(test_dirty),
    };
    return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
