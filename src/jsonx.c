/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonx.c -- see jsonx.h.
 */
#include "jsonx.h"

#include "mem.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int failed)
{
    if (failed) {
        (void)fputs("storebench: out of memory for JSON\n", stderr);
        abort();
    }
}

/* jansson refuses text that is not UTF-8; an error text of a library may be anything. */
static json_t *text_value(const char *value)
{
    json_t *text = json_string(value);
    char *copy;

    if (text)
        return text;
    copy = sb_format("%s", value);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    text = json_string(copy);
    free(copy);
    must(!text);
    return text;
}

json_t *sb_json_take(json_t *object, const char *key, json_t *value)
{
    must(!value || json_object_set_new(object, key, value));
    return value;
}

void sb_json_append_take(json_t *array, json_t *value)
{
    must(!value || json_array_append_new(array, value));
}

void sb_json_append_text(json_t *array, const char *value)
{
    sb_json_append_take(array, text_value(value));
}

void sb_json_u64(json_t *object, const char *key, uint64_t value)
{
    sb_json_take(object, key, json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value)));
}

void sb_json_real(json_t *object, const char *key, double value)
{
    sb_json_take(object, key, isfinite(value) ? json_real(value) : json_null());
}

void sb_json_text(json_t *object, const char *key, const char *value)
{
    sb_json_take(object, key, text_value(value));
}

void sb_json_bool(json_t *object, const char *key, bool value)
{
    sb_json_take(object, key, json_boolean(value));
}

void sb_json_hex(json_t *object, const char *key, uint64_t value)
{
    char text[17];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, value);
    sb_json_text(object, key, text);
}

uint64_t sb_json_get_u64(const json_t *object, const char *key, uint64_t fallback)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return fallback;
    return (uint64_t)json_integer_value(value);
}

double sb_json_get_real(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

double sb_json_get_mean(const json_t *object, const char *key, double fallback)
{
    char mean_key[64];

    (void)snprintf(mean_key, sizeof(mean_key), "%s_mean", key);
    return sb_json_get_real(object, mean_key, sb_json_get_real(object, key, fallback));
}

const char *sb_json_get_text(const json_t *object, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_string(value) ? json_string_value(value) : fallback;
}

bool sb_json_get_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t wrote = write(fd, bytes, count);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        count -= (size_t)wrote;
    }
    return true;
}

bool sb_json_write_line(int fd, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *line;
    bool ok;

    must(!text);
    line = sb_format("%s\n", text);
    ok = write_all(fd, line, strlen(line));
    free(line);
    free(text);
    return ok;
}
