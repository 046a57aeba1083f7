/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.h -- keys and values by formula, so that every byte that a store returns can be checked
 * without a copy of the data.
 *
 * Key number `id` is written in decimal, padded with zeros to a fixed width: byte order is numeric
 * order. The value of (id, version) is a row of 64-bit words, word i being s + i * SB_GOLDEN in the
 * machine's byte order, where s is a mix of the campaign's seed, id and version. One word a 64-byte
 * line is enough to tell whose line it is: a wrong, stale, torn or truncated value fails.
 */
#ifndef SB_DATA_H
#define SB_DATA_H

#include "mix.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    SB_KEY_BYTES_MAX = 4096,
    SB_LINE_BYTES = 64,
    SB_LINE_WORDS = SB_LINE_BYTES / 8,
};

/* Writes key `id` into `key_bytes` bytes. The number must fit: see sb_key_bytes_min. */
void sb_key_write(void *key, size_t key_bytes, uint64_t id);

/* Reads a key back. False if it is not one that sb_key_write makes. */
bool sb_key_read(const void *key, size_t key_bytes, uint64_t *idp);

/* The least key size that can name `records` keys. */
size_t sb_key_bytes_min(uint64_t records);

/* The start word s of a value. */
static inline uint64_t sb_value_seed(uint64_t campaign_seed, uint64_t id, uint64_t version)
{
    return sb_mix64((campaign_seed + version * 0xd1342543de82ef95ull) ^ (id * SB_GOLDEN));
}

/* Writes a value of any size, 0 included. */
void sb_value_write(void *value, size_t value_bytes, uint64_t seed);

/* Offset of the first byte that differs from the value of `seed`, or value_bytes if none does. */
size_t sb_value_check(const void *value, size_t value_bytes, uint64_t seed);

static inline uint64_t sb_load64(const void *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* The last, short line of a value whose size leaves 1 to 7 bytes for it. */
uint64_t sb_value_short_line(const unsigned char *line, size_t bytes, uint64_t expected);

/* Touches every line of a value and returns 0 if the first word of each is the one of `seed`: the
 * check of the measured loop. The size must have been compared before. */
static inline uint64_t sb_value_touch(const void *value, size_t value_bytes, uint64_t seed)
{
    const unsigned char *line = value;
    uint64_t difference = 0;

    while (value_bytes >= 8) {
        difference |= sb_load64(line) ^ seed;
        seed += SB_LINE_WORDS * SB_GOLDEN;
        if (value_bytes <= SB_LINE_BYTES)
            return difference;
        value_bytes -= SB_LINE_BYTES;
        line += SB_LINE_BYTES;
    }
    return value_bytes ? difference | sb_value_short_line(line, value_bytes, seed) : difference;
}

/* For values that follow no formula: touches every line and folds the first word of each, in order,
 * into one. */
static inline uint64_t sb_value_signature(const void *value, size_t value_bytes)
{
    const unsigned char *line = value;
    uint64_t signature = value_bytes;

    while (value_bytes) {
        uint64_t word = 0;

        if (value_bytes >= sizeof(word))
            word = sb_load64(line);
        else
            memcpy(&word, line, value_bytes);
        signature = (signature << 5 | signature >> 59) ^ word;
        if (value_bytes <= SB_LINE_BYTES)
            break;
        value_bytes -= SB_LINE_BYTES;
        line += SB_LINE_BYTES;
    }
    return signature;
}

#endif
