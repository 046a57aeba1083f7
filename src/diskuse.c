/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * diskuse.c -- disk space of a directory tree; see diskuse.h.
 *
 * Files with several names are collected during the walk and counted at the end, once each.
 */
#include "diskuse.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sysinfo.h"

/* st_blocks counts in this unit, whatever the file system's block size is. */
#define STAT_BLOCK_BYTES 512

struct linked_file {
    dev_t device;
    ino_t inode;
    uint64_t apparent_bytes;
    uint64_t allocated_bytes;
};

struct linked_files {
    struct linked_file *files;
    size_t count;
    size_t capacity;
};

static uint64_t allocated_bytes(const struct stat *status)
{
    return (uint64_t)status->st_blocks * STAT_BLOCK_BYTES;
}

static int remember_linked(struct linked_files *linked, const struct stat *status)
{
    if (linked->count == linked->capacity) {
        size_t capacity = linked->capacity ? linked->capacity * 2 : 64;
        struct linked_file *files = reallocarray(linked->files, capacity, sizeof(*files));
        if (!files)
            return -1;
        linked->files = files;
        linked->capacity = capacity;
    }
    linked->files[linked->count++] = (struct linked_file){
        .device = status->st_dev,
        .inode = status->st_ino,
        .apparent_bytes = (uint64_t)status->st_size,
        .allocated_bytes = allocated_bytes(status),
    };
    return 0;
}

static int compare_linked(const void *left, const void *right)
{
    const struct linked_file *a = left;
    const struct linked_file *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return 0;
}

static void count_linked(struct linked_files *linked, struct sb_disk_use *usep)
{
    if (linked->count == 0)
        return;
    qsort(linked->files, linked->count, sizeof(*linked->files), compare_linked);
    for (size_t i = 0; i < linked->count; i++) {
        if (i > 0 && compare_linked(&linked->files[i - 1], &linked->files[i]) == 0)
            continue;
        usep->apparent_bytes += linked->files[i].apparent_bytes;
        usep->allocated_bytes += linked->files[i].allocated_bytes;
        usep->file_count++;
    }
}

static int count_file(const struct stat *status, struct linked_files *linked,
                      struct sb_disk_use *usep)
{
    if (!S_ISREG(status->st_mode))
        return 0;
    if (status->st_nlink > 1)
        return remember_linked(linked, status);
    usep->apparent_bytes += (uint64_t)status->st_size;
    usep->allocated_bytes += allocated_bytes(status);
    usep->file_count++;
    return 0;
}

/* Counts one entry of the walk. Returns 0, or -1 with errno set. */
static int count_entry(const FTSENT *entry, struct linked_files *linked, struct sb_disk_use *usep)
{
    switch (entry->fts_info) {
    case FTS_D:
        usep->directory_count++;
        usep->directory_allocated_bytes += allocated_bytes(entry->fts_statp);
        return 0;
    case FTS_F:
    case FTS_DEFAULT:
        return count_file(entry->fts_statp, linked, usep);
    case FTS_NS:
    case FTS_DNR:
    case FTS_ERR:
        if (entry->fts_errno == ENOENT && entry->fts_level > FTS_ROOTLEVEL)
            return 0;
        errno = entry->fts_errno;
        return -1;
    default:
        return 0;
    }
}

int sb_disk_use(const char *dir, struct sb_disk_use *usep)
{
    memset(usep, 0, sizeof(*usep));
    struct sb_disk_use use = {0};
    struct linked_files linked = {0};
    int saved_errno = 0;
    FTS *tree = NULL;
    char *top = strdup(dir);
    if (!top) {
        saved_errno = errno;
        goto out;
    }
    /* Without FTS_NOCHDIR the walk would change the directory of the whole process; FTS_COMFOLLOW
     * lets `dir` itself, and nothing below it, be a symbolic link. */
    char *const roots[] = {top, NULL};
    tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (!tree) {
        saved_errno = errno;
        goto out;
    }
    FTSENT *entry;
    while (errno = 0, (entry = fts_read(tree)) != NULL) {
        if (count_entry(entry, &linked, &use) != 0)
            break;
    }
    saved_errno = errno;
    if (saved_errno == 0 && use.directory_count == 0)
        saved_errno = ENOTDIR;
    if (saved_errno == 0) {
        count_linked(&linked, &use);
        *usep = use;
    }

out:
    if (tree)
        fts_close(tree);
    free(linked.files);
    free(top);
    if (saved_errno == 0)
        return 0;
    errno = saved_errno;
    return -1;
}

int sb_dirty_bytes(uint64_t *bytesp)
{
    *bytesp = 0;
    char text[8192];
    uint64_t dirty_kibibytes;
    uint64_t writeback_kibibytes;
    if (sb_read_text("/proc/meminfo", text, sizeof(text)) != 0 ||
        sb_text_u64(text, "Dirty", &dirty_kibibytes) != 0 ||
        sb_text_u64(text, "Writeback", &writeback_kibibytes) != 0)
        return -1;
    *bytesp = (dirty_kibibytes + writeback_kibibytes) * 1024;
    return 0;
}
