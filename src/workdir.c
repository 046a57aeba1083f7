/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * workdir.c -- see workdir.h.
 */
#include "workdir.h"

#include "mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char folder_prefix[] = "storebench-run-";
static const char manifest_name[] = "storebench.manifest";
static const char manifest_text[] = "storebench run folder: made and removed by storebench; pid ";

const char *sb_workdir_default(void)
{
    const char *named = getenv("STOREBENCH_DIR");

    return named && *named ? named : "/var/tmp";
}

/* The process that owns the folder, or 0 if the folder is not ours. */
static long manifest_pid(const char *folder)
{
    char *path = sb_format("%s/%s", folder, manifest_name);
    char text[sizeof(manifest_text) + 32];
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

    if (file)
        (void)fclose(file);
    free(path);
    text[got] = '\0';
    if (strncmp(text, manifest_text, sizeof(manifest_text) - 1) != 0)
        return 0;
    return strtol(text + sizeof(manifest_text) - 1, NULL, 10);
}

static int write_manifest(const char *folder)
{
    char *path = sb_format("%s/%s", folder, manifest_name);
    FILE *file = fopen(path, "wxe");
    int rc = 0;

    if (!file || fprintf(file, "%s%ld\n", manifest_text, (long)getpid()) < 0)
        rc = sb_error_errno(errno, "cannot write %s", path);
    if (file && fclose(file) && !rc)
        rc = sb_error_errno(errno, "cannot write %s", path);
    free(path);
    return rc;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path) && errno != ENOENT ? -1 : 0;
}

/* The manifest goes last, so that an interrupted removal can be taken up again. */
static int remove_but_manifest(const char *path, const struct stat *status, int type,
                               struct FTW *walk)
{
    if (walk->level == 0 || (walk->level == 1 && strcmp(path + walk->base, manifest_name) == 0))
        return 0;
    return remove_entry(path, status, type, walk);
}

static int walk_failed(const char *path)
{
    return sb_error_errno(errno, "cannot remove %s", path);
}

int sb_workdir_remove_store(const char *path)
{
    char *parent = sb_format("%s/..", path);
    int rc = 0;

    if (access(path, F_OK) != 0)
        goto out;
    if (!manifest_pid(parent)) {
        rc = sb_error_set(SB_ERR_FAILED, 0, "will not remove %s: its folder is not storebench's",
                          path);
        goto out;
    }
    if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        rc = walk_failed(path);
out:
    free(parent);
    return rc;
}

int sb_workdir_remove(const char *path)
{
    char *manifest;
    int rc = 0;

    if (!manifest_pid(path))
        return sb_error_set(SB_ERR_FAILED, 0, "will not remove %s: it has no storebench manifest",
                            path);
    if (nftw(path, remove_but_manifest, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
        return walk_failed(path);
    manifest = sb_format("%s/%s", path, manifest_name);
    if (unlink(manifest) || rmdir(path))
        rc = walk_failed(path);
    free(manifest);
    return rc;
}

static bool is_alive(long pid)
{
    return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static void remove_dead(const char *parent)
{
    DIR *dir = opendir(parent);

    if (!dir)
        return;
    for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char *path;
        long pid;

        if (strncmp(entry->d_name, folder_prefix, sizeof(folder_prefix) - 1) != 0)
            continue;
        path = sb_format("%s/%s", parent, entry->d_name);
        pid = manifest_pid(path);
        if (pid > 0 && !is_alive(pid) && sb_workdir_remove(path) == 0)
            (void)fprintf(stderr, "storebench: removed %s, left by a run that was killed\n", path);
        free(path);
    }
    (void)closedir(dir);
}

int sb_workdir_create(const char *parent, char **pathp)
{
    char *absolute = realpath(parent, NULL);
    char *path;
    int rc;

    *pathp = NULL;
    if (!absolute)
        return sb_error_errno(errno, "directory %s", parent);
    remove_dead(absolute);
    path = sb_format("%s/%sXXXXXX", absolute, folder_prefix);
    if (!mkdtemp(path))
        rc = sb_error_errno(errno, "cannot make a folder in %s", absolute);
    else
        rc = write_manifest(path);
    free(absolute);
    if (rc) {
        (void)rmdir(path); /* fails when it was never made: harmless */
        free(path);
        return rc;
    }
    *pathp = path;
    return 0;
}
