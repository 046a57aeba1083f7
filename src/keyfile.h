/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keyfile.h -- a user's own keys, or keys and values, as a mapped file that is cheap to look into.
 *
 * keypack.h makes such a file from what the user has. It lies in a work folder for the time of one
 * campaign and is read by the same program on the same machine: numbers are in its byte order.
 *
 *   header | records in ascending key order | anchors
 *
 * A record is a key size and a value size (4 bytes each), the key and the value. Every
 * SB_KEYFILE_STRIDE-th record has an anchor, its offset: to find record `id` takes a walk over a
 * few records, and memory beside the mapping is not needed at all.
 */
#ifndef SB_KEYFILE_H
#define SB_KEYFILE_H

#include "error.h"

#include <stdbool.h>

enum { SB_KEYFILE_STRIDE = 32 };

struct sb_keyfile_header {
    char magic[8]; /* "sbkeys1" */
    uint64_t records;
    uint64_t key_bytes_min, key_bytes_max, key_bytes_total;
    uint64_t value_bytes_max, value_bytes_total;
    uint64_t has_values;     /* 1: the values are the user's too */
    uint64_t anchors_offset; /* in the file */
    uint64_t content_hash;   /* FNV-1a over all records */
};

struct sb_keyfile {
    const struct sb_keyfile_header *header; /* the mapping */
    const uint64_t *anchors;
    uint64_t mapped_bytes;
};

/* Maps a packed file, all of it resident, so that its part of the process's memory is known. */
int sb_keyfile_open(struct sb_keyfile *file, const char *path) SB_MUST_CHECK;
void sb_keyfile_close(struct sb_keyfile *file);

/* Key, and value if `valuep` is not NULL, of record `id` < records; both point into the mapping. */
struct sb_slice sb_keyfile_record(const struct sb_keyfile *file, uint64_t id,
                                  struct sb_slice *valuep);

/* The record of a key. False if there is none. */
bool sb_keyfile_find(const struct sb_keyfile *file, struct sb_slice key, uint64_t *idp);

#endif
