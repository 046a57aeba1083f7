/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * error.c -- see error.h.
 */
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct sb_error last;

static SB_PRINTF(1, 0) void set_text(const char *format, va_list args)
{
    (void)vsnprintf(last.text, sizeof(last.text), format, args);
}

int sb_error_set(enum sb_code code, long native_code, const char *format, ...)
{
    va_list args;

    last.code = code;
    last.native_code = native_code;
    va_start(args, format);
    set_text(format, args);
    va_end(args);
    return code;
}

int sb_error_errno(int number, const char *format, ...)
{
    size_t used;
    va_list args;

    last.code = number == ENOSPC ? SB_ERR_FULL : number == ENOMEM ? SB_ERR_NOMEM : SB_ERR_FAILED;
    last.native_code = number;
    va_start(args, format);
    set_text(format, args);
    va_end(args);
    used = strlen(last.text);
    (void)snprintf(last.text + used, sizeof(last.text) - used, ": %s", strerror(number));
    return last.code;
}

const struct sb_error *sb_error_last(void)
{
    return &last;
}

int sb_error_prefix(const char *format, ...)
{
    char text[SB_ERROR_BYTES_MAX];
    size_t used;
    va_list args;

    memcpy(text, last.text, sizeof(text));
    va_start(args, format);
    set_text(format, args);
    va_end(args);
    used = strlen(last.text);
    (void)snprintf(last.text + used, sizeof(last.text) - used, "%s", text);
    return last.code;
}

void sb_error_clear(void)
{
    last.code = 0;
    last.native_code = 0;
    last.text[0] = '\0';
}

const char *sb_code_name(int code)
{
    switch (code) {
    case SB_OK:
        return "ok";
    case SB_NOTFOUND:
        return "not-found";
    case SB_ERR_FAILED:
        return "failed";
    case SB_ERR_UNSUPPORTED:
        return "unsupported";
    case SB_ERR_LIMIT:
        return "limit";
    case SB_ERR_NOMEM:
        return "out-of-memory";
    case SB_ERR_FULL:
        return "full";
    case SB_ERR_CORRUPT:
        return "corrupt";
    case SB_ERR_BUSY:
        return "busy";
    default:
        return "unknown";
    }
}
