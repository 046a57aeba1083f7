/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * data.c -- see data.h.
 */
#include "data.h"

void sb_key_write(void *key, size_t key_bytes, uint64_t id)
{
    char *digits = key;

    while (key_bytes) {
        digits[--key_bytes] = (char)('0' + id % 10);
        id /= 10;
    }
}

bool sb_key_read(const void *key, size_t key_bytes, uint64_t *idp)
{
    const unsigned char *digits = key;
    uint64_t id = 0;

    for (size_t i = 0; i < key_bytes; i++) {
        unsigned digit = digits[i] - '0';

        if (digit > 9 || id > (UINT64_MAX - digit) / 10)
            return false;
        id = id * 10 + digit;
    }
    *idp = id;
    return key_bytes > 0;
}

size_t sb_key_bytes_min(uint64_t records)
{
    uint64_t last = records ? records - 1 : 0;
    size_t digits = 1;

    while (last >= 10) {
        last /= 10;
        digits++;
    }
    return digits;
}

void sb_value_write(void *value, size_t value_bytes, uint64_t seed)
{
    unsigned char *bytes = value;

    for (; value_bytes >= sizeof(seed); value_bytes -= sizeof(seed)) {
        memcpy(bytes, &seed, sizeof(seed));
        bytes += sizeof(seed);
        seed += SB_GOLDEN;
    }
    memcpy(bytes, &seed, value_bytes);
}

size_t sb_value_check(const void *value, size_t value_bytes, uint64_t seed)
{
    const unsigned char *bytes = value;
    size_t offset = 0;

    while (offset < value_bytes) {
        size_t word_bytes = value_bytes - offset < 8 ? value_bytes - offset : 8;

        if (memcmp(bytes + offset, &seed, word_bytes) != 0) {
            const unsigned char *expected = (const unsigned char *)&seed;
            size_t i = 0;

            while (bytes[offset + i] == expected[i])
                i++;
            return offset + i;
        }
        offset += word_bytes;
        seed += SB_GOLDEN;
    }
    return value_bytes;
}

uint64_t sb_value_short_line(const unsigned char *line, size_t bytes, uint64_t expected)
{
    return memcmp(line, &expected, bytes) != 0;
}
