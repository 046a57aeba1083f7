/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settle.c -- see settle.h.
 */
#include "settle.h"

#include "clock.h"
#include "usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <time.h>
#include <unistd.h>

/* A store counts as quiet after two looks of 50 ms with under 2 ms of CPU time and no byte written.
 * A compaction pauses for less. Above FILES_MAX one syncfs is cheaper than a flush a file. */
enum {
    LOOK_NS = 50 * 1000 * 1000,
    QUIET_CPU_NS = 2 * 1000 * 1000,
    QUIET_LOOKS = 2,
    FILES_MAX = 256,
};

static _Thread_local unsigned files_seen;

static int flush_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    int fd;

    (void)walk;
    if (type != FTW_F || !S_ISREG(status->st_mode))
        return 0;
    if (++files_seen > FILES_MAX)
        return 1; /* ends the walk: syncfs takes over */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0; /* the store may have removed it meanwhile */
    (void)fdatasync(fd);
    (void)close(fd);
    return 0;
}

static int flush_files(const char *dir)
{
    int walked, fd;

    files_seen = 0;
    walked = nftw(dir, flush_file, 16, FTW_PHYS);
    if (walked == 0)
        return 0;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return sb_error_errno(errno, "%s", dir);
    walked = syncfs(fd);
    (void)close(fd);
    return walked ? sb_error_errno(errno, "syncfs of %s", dir) : 0;
}

static bool has_other_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned count = 0;

    if (!tasks)
        return true; /* cannot tell: look at the CPU time */
    for (const struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    (void)closedir(tasks);
    return count > 1;
}

static void wait_until_quiet(uint64_t limit_ns, struct sb_settled *settled, uint64_t begin_ns)
{
    const struct timespec look = {0, LOOK_NS};
    struct sb_usage before, after, used;
    unsigned quiet = 0;

    while (quiet < QUIET_LOOKS) {
        sb_usage_sample(&before);
        (void)nanosleep(&look, NULL);
        sb_usage_sample(&after);
        sb_usage_diff(&before, &after, &used);
        if (used.cpu_user_ns + used.cpu_system_ns < QUIET_CPU_NS && !used.write_bytes) {
            quiet++;
            continue;
        }
        quiet = 0;
        settled->settle_ns = sb_now_ns() - begin_ns;
        if (settled->settle_ns > limit_ns) {
            settled->did_not_settle = true;
            return;
        }
    }
}

int sb_settle(struct sb_store_handle *handle, const char *dir, uint64_t limit_ns,
              struct sb_settled *settled)
{
    uint64_t begin_ns = sb_now_ns();
    int rc;

    *settled = (struct sb_settled){0};
    rc = sb_store_settle(handle);
    if (!rc)
        rc = sb_store_sync(handle);
    if (!rc && (handle->caps & SB_CAP_PERSISTENT))
        rc = flush_files(dir);
    settled->settle_ns = sb_now_ns() - begin_ns;
    if (!rc && has_other_threads())
        wait_until_quiet(limit_ns, settled, begin_ns);
    return rc;
}
