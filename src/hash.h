/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hash.h -- 64-bit FNV-1a, for identities (cells, files, suites): stable, never for security.
 * Source: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm", RFC 9923.
 */
#ifndef SB_HASH_H
#define SB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define SB_HASH_START 0xcbf29ce484222325ull

/* Goes on from `hash` (SB_HASH_START at first). */
uint64_t sb_hash_bytes(uint64_t hash, const void *data, size_t bytes);

/* Hash of a NUL-ended string with its NUL, so that "ab","c" and "a","bc" differ. */
uint64_t sb_hash_text(uint64_t hash, const char *text);

/* Hash of a file's contents; 0 when it cannot be read. */
uint64_t sb_hash_file(const char *path);

#endif
