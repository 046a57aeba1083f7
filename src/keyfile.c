/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keyfile.c -- see keyfile.h.
 */
#include "keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int sb_keyfile_open(struct sb_keyfile *file, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status = {0};
    void *map = MAP_FAILED;

    *file = (struct sb_keyfile){0};
    if (fd >= 0 && fstat(fd, &status) == 0 &&
        (size_t)status.st_size >= sizeof(struct sb_keyfile_header))
        map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (fd >= 0)
        (void)close(fd);
    if (map == MAP_FAILED)
        return sb_error_errno(errno ? errno : EINVAL, "cannot map %s", path);
    file->header = map;
    file->mapped_bytes = (uint64_t)status.st_size;
    file->anchors =
        (const uint64_t *)(const void *)((const char *)map + file->header->anchors_offset);
    return 0;
}

void sb_keyfile_close(struct sb_keyfile *file)
{
    if (file->header)
        (void)munmap((void *)(uintptr_t)file->header, file->mapped_bytes);
    *file = (struct sb_keyfile){0};
}

/* The record at an offset; moves the offset to the next one. */
static struct sb_slice read_record(const struct sb_keyfile *file, uint64_t *offsetp,
                                   struct sb_slice *valuep)
{
    const char *at = (const char *)file->header + *offsetp;
    uint32_t sizes[2];

    memcpy(sizes, at, sizeof(sizes));
    *offsetp += sizeof(sizes) + sizes[0] + sizes[1];
    if (valuep)
        *valuep = (struct sb_slice){at + sizeof(sizes) + sizes[0], sizes[1]};
    return (struct sb_slice){at + sizeof(sizes), sizes[0]};
}

struct sb_slice sb_keyfile_record(const struct sb_keyfile *file, uint64_t id,
                                  struct sb_slice *valuep)
{
    uint64_t offset = file->anchors[id / SB_KEYFILE_STRIDE];

    for (uint64_t left = id % SB_KEYFILE_STRIDE; left; left--)
        (void)read_record(file, &offset, NULL);
    return read_record(file, &offset, valuep);
}

static int compare(struct sb_slice a, struct sb_slice b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = memcmp(a.data, b.data, common);

    return order ? order : (a.size_bytes > b.size_bytes) - (a.size_bytes < b.size_bytes);
}

bool sb_keyfile_find(const struct sb_keyfile *file, struct sb_slice key, uint64_t *idp)
{
    uint64_t low = 0, high = (file->header->records + SB_KEYFILE_STRIDE - 1) / SB_KEYFILE_STRIDE;
    uint64_t offset, id;

    while (high - low > 1) { /* the last anchor whose key is not greater */
        uint64_t middle = low + (high - low) / 2;

        offset = file->anchors[middle];
        if (compare(read_record(file, &offset, NULL), key) <= 0)
            low = middle;
        else
            high = middle;
    }
    offset = file->anchors[low];
    for (id = low * SB_KEYFILE_STRIDE; id < file->header->records; id++) {
        int order = compare(read_record(file, &offset, NULL), key);

        if (order > 0)
            break;
        *idp = id;
        if (order == 0)
            return true;
    }
    return false;
}
