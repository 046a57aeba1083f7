/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base64.c -- see base64.h.
 */
#include "base64.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void sb_base64_encode(const void *data, size_t bytes, char *text)
{
    const unsigned char *in = data;

    while (bytes) {
        size_t part = bytes < 3 ? bytes : 3;
        uint32_t word = (uint32_t)in[0] << 16;

        word |= part > 1 ? (uint32_t)in[1] << 8 : 0;
        word |= part > 2 ? (uint32_t)in[2] : 0;
        text[0] = alphabet[word >> 18];
        text[1] = alphabet[word >> 12 & 63];
        text[2] = part > 1 ? alphabet[word >> 6 & 63] : '=';
        text[3] = part > 2 ? alphabet[word & 63] : '=';
        text += 4;
        in += part;
        bytes -= part;
    }
}

/* -1 for a character that is not of the alphabet. */
static int value_of(char c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;

    return at ? (int)(at - alphabet) : -1;
}

int sb_base64_decode(const char *text, size_t text_bytes, void *out, size_t *bytesp)
{
    unsigned char *to = out;

    *bytesp = 0;
    if (text_bytes % 4)
        return -1;
    for (size_t i = 0; i < text_bytes; i += 4) {
        bool last = i + 4 == text_bytes;
        size_t padding = !last || text[i + 3] != '=' ? 0 : text[i + 2] == '=' ? 2 : 1;
        uint32_t word = 0;

        for (size_t j = 0; j < 4 - padding; j++) {
            int value = value_of(text[i + j]);

            if (value < 0)
                return -1;
            word |= (uint32_t)value << (18 - 6 * j);
        }
        if (word & ((1u << 8 * padding) - 1)) /* bits of a byte that is not there */
            return -1;
        for (size_t j = 0; j < 3 - padding; j++)
            to[(*bytesp)++] = (unsigned char)(word >> (16 - 8 * j));
    }
    return 0;
}
