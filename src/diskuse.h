/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * diskuse.h -- how much of the disk a directory takes, and how much is still to be written.
 *
 * Two sizes, because each alone misleads: the apparent size counts holes of sparse files, the
 * allocated size counts what was reserved and never filled. Delayed allocation shows its blocks
 * only once data has been written back, so settle before measuring. Any thread.
 */
#ifndef SB_DISKUSE_H
#define SB_DISKUSE_H

#include <stdint.h>

struct sb_disk_use {
    uint64_t apparent_bytes;  /* sum of the lengths of regular files */
    uint64_t allocated_bytes; /* sum of the space that their blocks take */
    uint64_t file_count;      /* regular files; the names of one file count once */

    /* Directories apart, the top one included: they matter to stores with a file per record. */
    uint64_t directory_count;
    uint64_t directory_allocated_bytes;
};

/* Walks the tree below `dir`, which may be a symbolic link; those below it are neither followed nor
 * counted, nor are sockets, pipes and devices. A file that disappears during the walk (a store that
 * cleans up in the background) is left out. Returns 0, or -1 with errno set when `dir` or something
 * below it cannot be read; the struct is then all zero. */
int sb_disk_use(const char *dir, struct sb_disk_use *usep);

/* Bytes of the whole machine's page cache that are dirty or being written back at the moment.
 * Returns 0, or -1 when /proc/meminfo does not tell, with 0 bytes. */
int sb_dirty_bytes(uint64_t *bytesp);

#endif
