/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * error.h -- the last error of the calling thread: a code of driver.h, the library's own code and a
 * text fit for a user. Functions that can fail return the code; whoever reports it reads the text.
 */
#ifndef SB_ERROR_H
#define SB_ERROR_H

#include "../drivers/driver.h"

#define SB_MUST_CHECK __attribute__((warn_unused_result))

enum { SB_ERROR_BYTES_MAX = 512 };

struct sb_error {
    int code; /* 0: none so far */
    long native_code;
    char text[SB_ERROR_BYTES_MAX];
};

/* Records an error and returns `code`. The text is cut at SB_ERROR_BYTES_MAX - 1 bytes. */
int sb_error_set(enum sb_code code, long native_code, const char *format, ...) SB_PRINTF(3, 4);

/* The same for errno: appends ": " and strerror(number). ENOSPC becomes SB_ERR_FULL, ENOMEM
 * SB_ERR_NOMEM, anything else SB_ERR_FAILED. */
int sb_error_errno(int number, const char *format, ...) SB_PRINTF(2, 3);

/* Never NULL; borrowed, changed by the thread's next error. */
const struct sb_error *sb_error_last(void);

/* Puts a prefix ("quick.json: ") before the text that is recorded; returns its code. */
int sb_error_prefix(const char *format, ...) SB_PRINTF(1, 2);

/* Forgets the last error. */
void sb_error_clear(void);

/* "failed", "unsupported", "limit", ...: the word for a code, for results. */
const char *sb_code_name(int code);

#endif
