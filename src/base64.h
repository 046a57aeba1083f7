/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * base64.h -- bytes as text, for keys and values that JSON strings cannot hold. The alphabet and
 * the padding are those of RFC 4648, section 4.
 */
#ifndef SB_BASE64_H
#define SB_BASE64_H

#include <stddef.h>

/* Room that the text of so many bytes takes, without a closing NUL. */
#define SB_BASE64_TEXT_BYTES(bytes) (((bytes) + 2) / 3 * 4)

/* Writes exactly SB_BASE64_TEXT_BYTES(bytes) characters and no NUL. */
void sb_base64_encode(const void *data, size_t bytes, char *text);

/* Writes at most text_bytes / 4 * 3 bytes to `out` and how many to *bytesp. -1 if the text is not
 * base64: a foreign character, missing or misplaced padding, or bits that no encoder sets. */
int sb_base64_decode(const char *text, size_t text_bytes, void *out, size_t *bytesp);

#endif
