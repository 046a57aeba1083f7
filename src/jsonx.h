/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonx.h -- short forms for what this program does with jansson all the time.
 *
 * Setters stop the program when memory is out, like mem.h. Getters are for documents that may come
 * from elsewhere: a missing or wrong member gives the fallback, never a crash.
 */
#ifndef SB_JSONX_H
#define SB_JSONX_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

void sb_json_u64(json_t *object, const char *key, uint64_t value);
void sb_json_real(json_t *object, const char *key, double value);      /* null unless finite */
void sb_json_text(json_t *object, const char *key, const char *value); /* invalid UTF-8: '?' */
void sb_json_bool(json_t *object, const char *key, bool value);
void sb_json_hex(json_t *object, const char *key, uint64_t value); /* 16 digits, as a string */

/* Takes over the reference to `value`; returns it, borrowed. */
json_t *sb_json_take(json_t *object, const char *key, json_t *value);
void sb_json_append_take(json_t *array, json_t *value);
void sb_json_append_text(json_t *array, const char *value);

uint64_t sb_json_get_u64(const json_t *object, const char *key, uint64_t fallback);
double sb_json_get_real(const json_t *object, const char *key, double fallback);

/* The member KEY_mean, which tells the sizes of a user's own data, or else KEY. */
double sb_json_get_mean(const json_t *object, const char *key, double fallback);
const char *sb_json_get_text(const json_t *object, const char *key, const char *fallback);
bool sb_json_get_bool(const json_t *object, const char *key, bool fallback);

/* Writes the value as one line with its newline by a single write(2). False on failure. */
bool sb_json_write_line(int fd, const json_t *value);

#endif
