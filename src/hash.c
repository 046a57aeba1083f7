/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hash.c -- see hash.h.
 */
#include "hash.h"

#include <stdio.h>
#include <string.h>

uint64_t sb_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    return hash;
}

uint64_t sb_hash_text(uint64_t hash, const char *text)
{
    return sb_hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t sb_hash_file(const char *path)
{
    unsigned char buffer[16384];
    uint64_t hash = SB_HASH_START;
    FILE *file = fopen(path, "rb");
    size_t got;

    if (!file)
        return 0;
    while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0)
        hash = sb_hash_bytes(hash, buffer, got);
    if (ferror(file))
        hash = 0;
    (void)fclose(file);
    return hash;
}
