/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * mem.h -- allocation that cannot fail: the program ends with one line when memory is out. For the
 * harness's small structures outside the measured loop; never for a user's data.
 */
#ifndef SB_MEM_H
#define SB_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* Zeroed memory for `count` objects; free() it. */
void *sb_alloc(size_t count, size_t object_bytes) __attribute__((malloc));

/* Array with room for at least `count` objects, contents kept; `array` may be NULL. Grows by
 * doubling at powers of two, so that appending one by one is cheap. */
void *sb_grow(void *array, size_t count, size_t object_bytes);

/* A formatted string; free() it. */
char *sb_format(const char *format, ...) __attribute__((format(printf, 1, 2), malloc));
char *sb_vformat(const char *format, va_list args) __attribute__((format(printf, 1, 0), malloc));

#endif
