/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mem.c -- see mem.h.
 */
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>

static void *check(void *memory)
{
    if (!memory) {
        (void)fputs("storebench: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *sb_alloc(size_t count, size_t object_bytes)
{
    return check(calloc(count ? count : 1, object_bytes));
}

void *sb_grow(void *array, size_t count, size_t object_bytes)
{
    size_t room = 8;

    if (array && count > room && (count - 1) & (count - 2))
        return array; /* still inside the room made at the last power of two */
    if (array && count <= room && count > 1)
        return array;
    while (room < count)
        room *= 2;
    return check(reallocarray(array, room, object_bytes));
}

char *sb_vformat(const char *format, va_list args)
{
    char *text = NULL;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    return check(text);
}

char *sb_format(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = sb_vformat(format, args);
    va_end(args);
    return text;
}
