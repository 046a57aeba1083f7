/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test_flushcount.c -- which system calls are flushes, with descriptors that are opened, copied,
 * inherited and closed. Calls are made up; nothing is traced. One test asks the kernel itself
 * about what the others take for granted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "../../src/count.h"
#include "../../src/counting.h"
#include "../../src/sysnames.h"

static struct sb_flushcount count;
static struct sb_descriptors descriptors;

static int set_up(void **state)
{
    (void)state;
    descriptors = (struct sb_descriptors){0};
    count = (struct sb_flushcount){0};
    sb_flushcount_begin(&count);
    sb_flushcount_start(&count);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sb_descriptors_release(&descriptors);
    return 0;
}

static struct sb_system_call make(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    return (struct sb_system_call){.number = number, .args = {a, b, c}};
}

static void run(struct sb_system_call call, int64_t result)
{
    sb_flushcount_enter(&count, &descriptors, &call);
    sb_flushcount_leave(&count, &descriptors, &call, result);
}

static void open_file(int fd, uint64_t flags)
{
    run(make(SYS_openat, (uint64_t)AT_FDCWD, 0, flags), fd);
}

static uint64_t flushes(void)
{
    uint64_t sum = 0;

    for (int kind = 0; kind < SB_FLUSH_KINDS; kind++)
        sum += count.totals.flushes[kind];
    return sum;
}

/* Whether a write of 10 bytes to the descriptor is a flush. */
static bool write_flushes(int fd)
{
    uint64_t before = count.totals.flushes[SB_FLUSH_SYNC_WRITE];
    uint64_t others = flushes() - before;

    run(make(SYS_write, (uint64_t)fd, 0, 10), 10);
    assert_int_equal(flushes() - count.totals.flushes[SB_FLUSH_SYNC_WRITE], others);
    return count.totals.flushes[SB_FLUSH_SYNC_WRITE] == before + 1;
}

/* ---- flush calls -------------------------------------------------------------------------- */

static void test_flush_calls(void **state)
{
    (void)state;
    run(make(SYS_fsync, 5, 0, 0), 0);
    run(make(SYS_fdatasync, 5, 0, 0), 0);
    run(make(SYS_fdatasync, 5, 0, 0), 0);
    run(make(SYS_syncfs, 5, 0, 0), 0);
    run(make(SYS_sync, 0, 0, 0), 0);
    assert_int_equal(count.totals.flushes[SB_FLUSH_FSYNC], 1);
    assert_int_equal(count.totals.flushes[SB_FLUSH_FDATASYNC], 2);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNCFS], 1);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNC], 1);
    assert_int_equal(flushes(), 5);
    assert_int_equal(count.totals.system_calls, 5);
    assert_int_equal(count.totals.by_number[SYS_fdatasync], 2);
}

static void test_msync_by_its_flags(void **state)
{
    (void)state;
    run(make(SYS_msync, 0, 4096, MS_ASYNC), 0);
    run(make(SYS_msync, 0, 4096, MS_INVALIDATE), 0);
    assert_int_equal(flushes(), 0);
    run(make(SYS_msync, 0, 4096, MS_SYNC), 0);
    run(make(SYS_msync, 0, 4096, MS_SYNC | MS_INVALIDATE), 0);
    assert_int_equal(count.totals.flushes[SB_FLUSH_MSYNC], 2);
    assert_int_equal(flushes(), 2);
    assert_int_equal(count.totals.msync_bytes, 2 * 4096);
    run(make(SYS_msync, 0, 4096, MS_SYNC), -ENOMEM);
    assert_int_equal(count.totals.msync_bytes, 2 * 4096);
}

static void test_sync_file_range_by_its_flags(void **state)
{
#ifdef SYS_sync_file_range
    struct sb_system_call call = make(SYS_sync_file_range, 5, 0, 4096);

    call.args[3] = SYNC_FILE_RANGE_WRITE;
    run(call, 0);
    assert_int_equal(flushes(), 0);
    call.args[3] = SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    run(call, 0);
    call.args[3] = SYNC_FILE_RANGE_WAIT_BEFORE;
    run(call, 0);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNC_FILE_RANGE], 2);
#endif
    (void)state;
}

static void test_a_call_that_fails_is_no_flush(void **state)
{
    (void)state;
    open_file(5, O_RDWR | O_DSYNC);
    run(make(SYS_fsync, 5, 0, 0), -EIO);
    run(make(SYS_write, 5, 0, 10), -ENOSPC);
    assert_int_equal(flushes(), 0);
    assert_int_equal(count.totals.bytes_written, 0);
    assert_int_equal(count.totals.system_calls, 3);
}

/* ---- descriptors -------------------------------------------------------------------------- */

static void test_open_flags(void **state)
{
    struct sb_system_call openat2 = make(SYS_openat2, (uint64_t)AT_FDCWD, 0, 0);

    (void)state;
    open_file(5, O_RDWR);
    assert_false(write_flushes(5));
    open_file(6, O_RDWR | O_DSYNC);
    assert_true(write_flushes(6));
    open_file(7, O_WRONLY | O_SYNC | O_CREAT);
    assert_true(write_flushes(7));
    open_file(8, O_RDWR | O_DIRECT); /* past the page cache, but not past that of the device */
    assert_false(write_flushes(8));
    openat2.open_flags = O_DSYNC;
    run(openat2, 9);
    assert_true(write_flushes(9));
    run(make(SYS_open_by_handle_at, 3, 0, O_RDWR | O_DSYNC), 10);
    assert_true(write_flushes(10));
#ifdef SYS_open
    run(make(SYS_open, 0, O_RDWR | O_DSYNC, 0600), 11);
    assert_true(write_flushes(11));
#endif
    open_file(5000, O_DSYNC | O_RDWR);
    assert_true(write_flushes(5000));
    assert_false(write_flushes(4999));
    assert_false(write_flushes(60000));
}

static void test_failed_open(void **state)
{
    (void)state;
    open_file(-ENOENT, O_RDWR | O_DSYNC);
    assert_int_equal(descriptors.count, 0);
}

static void test_close_and_open_again(void **state)
{
    (void)state;
    open_file(5, O_RDWR | O_DSYNC);
    run(make(SYS_close, 5, 0, 0), 0);
    assert_false(write_flushes(5));
    open_file(5, O_RDWR);
    assert_false(write_flushes(5));
    open_file(5, O_RDWR | O_DSYNC); /* the number of one that was closed in a way not seen */
    assert_true(write_flushes(5));
    open_file(5, O_RDWR);
    assert_false(write_flushes(5));
}

/* Between the entry of a close and its return, another thread may get the number again. */
static void test_close_in_two_threads(void **state)
{
    struct sb_system_call close_call = make(SYS_close, 5, 0, 0);

    (void)state;
    open_file(5, O_RDWR);
    sb_flushcount_enter(&count, &descriptors, &close_call);
    open_file(5, O_RDWR | O_DSYNC);
    sb_flushcount_leave(&count, &descriptors, &close_call, 0);
    assert_true(write_flushes(5));
}

static void test_dup(void **state)
{
    (void)state;
    open_file(5, O_RDWR | O_DSYNC);
    open_file(6, O_RDWR);
    run(make(SYS_dup, 5, 0, 0), 7);
    assert_true(write_flushes(7));
    run(make(SYS_dup3, 5, 6, O_CLOEXEC), 6); /* takes the place of one without */
    assert_true(write_flushes(6));
    run(make(SYS_fcntl, 5, F_DUPFD, 20), 20);
    run(make(SYS_fcntl, 5, F_DUPFD_CLOEXEC, 21), 21);
    assert_true(write_flushes(20));
    assert_true(write_flushes(21));
    run(make(SYS_close, 5, 0, 0), 0);
    assert_false(write_flushes(5));
    assert_true(write_flushes(7));
    open_file(8, O_RDWR);
    run(make(SYS_dup3, 8, 7, 0), 7); /* and the other way round */
    assert_false(write_flushes(7));
    run(make(SYS_dup, 20, 0, 0), -EMFILE);
#ifdef SYS_dup2
    run(make(SYS_dup2, 20, 22, 0), 22);
    assert_true(write_flushes(22));
    run(make(SYS_dup2, 22, 22, 0), 22);
    assert_true(write_flushes(22));
#endif
}

static void test_fcntl_does_not_change_it(void **state)
{
    (void)state;
    open_file(5, O_RDWR);
    run(make(SYS_fcntl, 5, F_SETFL, O_DSYNC | O_SYNC | O_APPEND), 0);
    assert_false(write_flushes(5));
    open_file(6, O_RDWR | O_DSYNC);
    run(make(SYS_fcntl, 6, F_SETFL, O_APPEND), 0);
    run(make(SYS_fcntl, 6, F_SETFD, FD_CLOEXEC), 0);
    assert_true(write_flushes(6));
}

static void test_close_range(void **state)
{
    (void)state;
    for (int fd = 5; fd < 10; fd++)
        open_file(fd, O_RDWR | O_DSYNC);
    run(make(SYS_close_range, 6, 7, 0), 0);
    assert_true(write_flushes(5));
    assert_false(write_flushes(6));
    assert_false(write_flushes(7));
    assert_true(write_flushes(8));
    run(make(SYS_close_range, 8, UINT32_MAX, CLOSE_RANGE_CLOEXEC), 0);
    assert_true(write_flushes(9));
    sb_descriptors_exec(&descriptors);
    assert_false(write_flushes(9));
    assert_true(write_flushes(5));
}

static void test_fork_and_exec(void **state)
{
    struct sb_descriptors parent = descriptors, child;

    (void)state;
    open_file(5, O_RDWR | O_DSYNC);
    open_file(6, O_RDWR | O_DSYNC | O_CLOEXEC);
    open_file(7, O_RDWR | O_DSYNC | O_CLOEXEC);
    run(make(SYS_fcntl, 7, F_SETFD, 0), 0);
    parent = descriptors;
    sb_descriptors_copy(&child, &parent);
    run(make(SYS_close, 5, 0, 0), 0);
    assert_true(sb_descriptors_sync(&child, 5));
    sb_descriptors_exec(&child);
    assert_true(sb_descriptors_sync(&child, 5));
    assert_false(sb_descriptors_sync(&child, 6));
    assert_true(sb_descriptors_sync(&child, 7));
    assert_true(sb_descriptors_sync(&descriptors, 6));
    sb_descriptors_release(&child);
}

/* ---- bytes -------------------------------------------------------------------------------- */

static void test_bytes(void **state)
{
    struct sb_system_call copy = make(SYS_copy_file_range, 5, 0, 6);

    (void)state;
    open_file(6, O_RDWR | O_DSYNC);
    run(make(SYS_pwrite64, 4, 0, 100), 60);
    run(make(SYS_writev, 4, 0, 1), 7);
    run(make(SYS_pwritev, 4, 0, 1), 3);
    run(make(SYS_pread64, 4, 0, 100), 50);
    run(make(SYS_readv, 4, 0, 1), 5);
    assert_int_equal(count.totals.bytes_written, 70);
    assert_int_equal(count.totals.bytes_read, 55);
    assert_int_equal(flushes(), 0);
    run(copy, 1000);
    assert_int_equal(count.totals.bytes_written, 1070);
    assert_int_equal(count.totals.bytes_read, 1055);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNC_WRITE], 1);
    run(make(SYS_pwrite64, 6, 0, 1), 1);
    run(make(SYS_pwritev, 6, 0, 1), 1);
    run(make(SYS_writev, 6, 0, 1), 1);
    run(make(SYS_sendfile, 6, 4, 0), 1);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNC_WRITE], 5);
}

static void test_pwritev2_flags(void **state)
{
    struct sb_system_call call = make(SYS_pwritev2, 5, 0, 1);

    (void)state;
    open_file(5, O_RDWR);
    call.args[5] = RWF_HIPRI;
    run(call, 10);
    assert_int_equal(flushes(), 0);
    call.args[5] = RWF_DSYNC;
    run(call, 10);
    call.args[5] = RWF_SYNC;
    run(call, 10);
    call.args[5] = RWF_DSYNC;
    run(call, -EOPNOTSUPP);
    assert_int_equal(count.totals.flushes[SB_FLUSH_SYNC_WRITE], 2);
    assert_int_equal(count.totals.bytes_written, 30);
}

/* ---- when it counts ----------------------------------------------------------------------- */

static void test_spans(void **state)
{
    struct sb_system_call late = make(SYS_fsync, 5, 0, 0);

    (void)state;
    sb_flushcount_stop(&count);
    open_file(5, O_RDWR | O_DSYNC); /* is known all the same */
    run(make(SYS_fsync, 5, 0, 0), 0);
    assert_int_equal(count.totals.system_calls, 0);
    assert_int_equal(flushes(), 0);
    sb_flushcount_start(&count);
    assert_true(write_flushes(5));
    sb_flushcount_enter(&count, &descriptors, &late);
    sb_flushcount_stop(&count);
    sb_flushcount_leave(&count, &descriptors, &late, 0); /* it began while the clock ran */
    assert_int_equal(count.totals.flushes[SB_FLUSH_FSYNC], 1);
    assert_int_equal(count.totals.spans, 2);
}

/* With or without a vDSO the counts are the same. */
static void test_readings_of_a_clock_do_not_count(void **state)
{
    (void)state;
    run(make(SYS_clock_gettime, CLOCK_MONOTONIC, 0, 0), 0);
    run(make(SYS_clock_gettime, CLOCK_REALTIME, 0, 0), 0);
    run(make(SYS_gettimeofday, 0, 0, 0), 0);
    assert_int_equal(count.totals.system_calls, 0);
    run(make(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, 0, 0), 0);
    run(make(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, 0, 0), 0);
    assert_int_equal(count.totals.system_calls, 2);
}

static void test_scenarios(void **state)
{
    (void)state;
    run(make(SYS_fsync, 5, 0, 0), 0);
    sb_flushcount_stop(&count);
    sb_flushcount_end(&count);
    sb_flushcount_start(&count); /* what follows a scenario is off the record */
    run(make(SYS_fsync, 5, 0, 0), 0);
    assert_int_equal(flushes(), 1);
    assert_int_equal(count.totals.valid, SB_FLUSH_TOTALS_VALID);
    sb_flushcount_begin(&count);
    run(make(SYS_fsync, 5, 0, 0), 0);
    assert_int_equal(flushes(), 0);
    sb_flushcount_start(&count);
    run(make(SYS_fsync, 5, 0, 0), 0);
    assert_int_equal(flushes(), 1);
}

static void test_what_cannot_be_seen_is_told(void **state)
{
    (void)state;
    assert_int_equal(count.totals.unseen, 0);
    sb_flushcount_stop(&count);
    run(make(SYS_io_uring_setup, 8, 0, 0), 5);
    sb_flushcount_begin(&count); /* a ring that was set up before stays in use */
    assert_int_equal(count.totals.unseen, SB_UNSEEN_IO_URING);
    run(make(SYS_io_submit, 8, 0, 0), 1);
    assert_int_equal(count.totals.unseen, SB_UNSEEN_IO_URING | SB_UNSEEN_AIO);
}

static void test_numbers_beyond_the_table(void **state)
{
    (void)state;
    run(make(SB_SYSTEM_CALLS + 7, 0, 0, 0), 0);
    run(make(UINT64_MAX, 0, 0, 0), -ENOSYS);
    assert_int_equal(count.totals.by_number[SB_SYSTEM_CALLS - 1], 2);
    assert_int_equal(count.totals.system_calls, 2);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(sb_system_call_name(SYS_pwrite64), "pwrite64");
    assert_string_equal(sb_system_call_name(SYS_fdatasync), "fdatasync");
    assert_null(sb_system_call_name(SB_SYSTEM_CALLS + 7));
    assert_string_equal(sb_flush_kind_name(SB_FLUSH_FSYNC), "fsync");
    assert_string_equal(sb_flush_kind_name(SB_FLUSH_SYNC_WRITE), "sync_write");
}

/* ---- the kernel and the repeat ------------------------------------------------------------ */

static void test_the_kernel_agrees(void **state)
{
    char path[] = "/tmp/storebench-flushcount.XXXXXX";
    int plain = mkostemp(path, O_CLOEXEC), sync;

    (void)state;
    assert_true(plain >= 0);
    sync = open(path, O_RDWR | O_DSYNC | O_CLOEXEC);
    (void)unlink(path);
    assert_true(sync >= 0);
    assert_int_equal(fcntl(plain, F_SETFL, O_DSYNC | O_SYNC), 0);
    assert_int_equal(fcntl(plain, F_GETFL) & O_SYNC, 0);
    assert_int_equal(fcntl(sync, F_SETFL, 0), 0);
    assert_int_equal(fcntl(sync, F_GETFL) & O_SYNC, O_DSYNC);
    assert_int_equal(close(plain) | close(sync), 0);
}

static void test_marks_are_harmless(void **state)
{
    struct sb_flush_totals totals;

    (void)state;
    errno = 0;
    assert_int_equal(syscall(SYS_prctl, SB_COUNTING_OPTION, SB_COUNTING_START, 0l, 0l, 0l), -1);
    assert_int_equal(errno, EINVAL);
    assert_false(sb_counting_fetch(&totals));
    sb_counting_on = true;
    sb_counting_mark(SB_COUNTING_START);
    assert_false(sb_counting_fetch(&totals)); /* nobody traces this process */
    assert_int_equal(totals.valid, 0);
    sb_counting_on = false;
}

static void test_limits_keep_whole_commits(void **state)
{
    struct sb_params params;

    (void)state;
    sb_params_defaults(&params);
    params.batch = 3;
    sb_count_limit(&params);
    assert_int_equal(params.records, 19998);
    assert_int_equal(params.commits, 200);
    assert_int_equal(params.phase_min_ns, 0);
    params.records = 5000;
    params.batch = 100000;
    sb_count_limit(&params);
    assert_int_equal(params.batch, 5000);
    assert_int_equal(params.records, 5000);
    assert_int_equal(params.commits, 40);
    params.records = params.batch = params.commits = 1;
    sb_count_limit(&params);
    assert_true(params.records == 1 && params.batch == 1 && params.commits == 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_flush_calls),
        TEST(test_msync_by_its_flags),
        TEST(test_sync_file_range_by_its_flags),
        TEST(test_a_call_that_fails_is_no_flush),
        TEST(test_open_flags),
        TEST(test_failed_open),
        TEST(test_close_and_open_again),
        TEST(test_close_in_two_threads),
        TEST(test_dup),
        TEST(test_fcntl_does_not_change_it),
        TEST(test_close_range),
        TEST(test_fork_and_exec),
        TEST(test_bytes),
        TEST(test_pwritev2_flags),
        TEST(test_spans),
        TEST(test_readings_of_a_clock_do_not_count),
        TEST(test_scenarios),
        TEST(test_what_cannot_be_seen_is_told),
        TEST(test_numbers_beyond_the_table),
        TEST(test_names),
        TEST(test_the_kernel_agrees),
        TEST(test_marks_are_harmless),
        TEST(test_limits_keep_whole_commits),
    };

    return cmocka_run_group_tests_name("flushcount", tests, NULL, NULL);
}
