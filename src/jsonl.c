/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonl.c -- see jsonl.h. jansson decides in both directions what a string can hold, so that what
 * was written can be read.
 */
#include "jsonl.h"

#include "base64.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ------------------------------------------------------------------------------ */

static int wrong(struct sb_jsonl *record, const char *format, ...) SB_PRINTF(2, 3);

static int wrong(struct sb_jsonl *record, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(record->wrong, sizeof(record->wrong), format, args);
    va_end(args);
    return SB_ERR_UNSUPPORTED;
}

static int decode(struct sb_jsonl *record, const json_t *encoded, const char *name,
                  struct sb_slice *partp, void **bytesp)
{
    size_t text_bytes = json_string_length(encoded);

    *bytesp = malloc(text_bytes / 4 * 3 + 1);
    if (!*bytesp) {
        (void)wrong(record, "has a %s_base64 that does not fit into memory", name);
        return SB_ERR_NOMEM;
    }
    partp->data = *bytesp;
    if (sb_base64_decode(json_string_value(encoded), text_bytes, *bytesp, &partp->size_bytes))
        return wrong(record, "has a \"%s_base64\" that is not base64", name);
    return 0;
}

static int take_part(struct sb_jsonl *record, const char *name, struct sb_slice *partp,
                     void **bytesp)
{
    char encoded_name[32];
    const json_t *text, *encoded;

    (void)snprintf(encoded_name, sizeof(encoded_name), "%s_base64", name);
    text = json_object_get(record->object, name);
    encoded = json_object_get(record->object, encoded_name);
    if (!text && !encoded)
        return wrong(record, "has no \"%s\"", name);
    if (text && encoded)
        return wrong(record, "has both \"%s\" and \"%s\"", name, encoded_name);
    if (!json_is_string(text ? text : encoded))
        return wrong(record, "has a \"%s\" that is not a string", text ? name : encoded_name);
    if (encoded)
        return decode(record, encoded, name, partp, bytesp);
    *partp = (struct sb_slice){json_string_value(text), json_string_length(text)};
    return 0;
}

/* Members besides key and value: names them, if they are fit for a terminal. */
static int refuse_others(struct sb_jsonl *record)
{
    static const char *const known[] = {"key", "key_base64", "value", "value_base64"};
    const char *name;
    json_t *value;

    json_object_foreach(record->object, name, value)
    {
        bool found = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            found = found || strcmp(name, known[i]) == 0;
        if (!found && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
                                   "0123456789") == strlen(name))
            return wrong(record, "has a member \"%.40s\" besides key and value", name);
        if (!found)
            return wrong(record, "has another member besides key and value");
    }
    return 0;
}

int sb_jsonl_parse(struct sb_jsonl *record, const char *line, size_t bytes)
{
    json_error_t error;
    int rc;

    sb_jsonl_release(record);
    record->object = json_loadb(line, bytes, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
    if (!record->object)
        return wrong(record, "is not JSON (byte %d)", error.position);
    if (!json_is_object(record->object))
        return wrong(record, "is not {\"key\": ..., \"value\": ...}");
    rc = take_part(record, "key", &record->key, &record->key_bytes);
    if (!rc)
        rc = take_part(record, "value", &record->value, &record->value_bytes);
    return rc ? rc : refuse_others(record);
}

void sb_jsonl_release(struct sb_jsonl *record)
{
    json_decref(record->object);
    free(record->key_bytes);
    free(record->value_bytes);
    *record = (struct sb_jsonl){.wrong = ""};
}

/* ---- writing ------------------------------------------------------------------------------ */

static json_t *encode(struct sb_slice part)
{
    size_t text_bytes = SB_BASE64_TEXT_BYTES(part.size_bytes);
    char *text = malloc(text_bytes + 1);
    json_t *encoded = NULL;

    if (text) {
        sb_base64_encode(part.data, part.size_bytes, text);
        encoded = json_stringn_nocheck(text, text_bytes);
    }
    free(text);
    return encoded;
}

/* jansson takes no string that is not UTF-8. */
static int put_part(json_t *object, struct sb_slice part, const char *name,
                    const char *encoded_name)
{
    json_t *text = json_stringn(part.size_bytes ? part.data : "", part.size_bytes);

    if (text)
        return json_object_set_new(object, name, text);
    return json_object_set_new(object, encoded_name, encode(part));
}

int sb_jsonl_write(FILE *to, struct sb_slice key, struct sb_slice value)
{
    json_t *object = json_object();
    int rc = 0;

    if (!object || put_part(object, key, "key", "key_base64") ||
        put_part(object, value, "value", "value_base64"))
        rc = SB_ERR_NOMEM;
    else if (json_dumpf(object, to, 0) || putc_unlocked('\n', to) == EOF)
        rc = SB_ERR_FAILED;
    json_decref(object);
    return rc;
}
