/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * jsonl.h -- a record as a line of JSON, the format of `storebench dump` and `load` and of pairs
 * that a user brings along:
 *
 *   {"key": "text", "value": "text"}
 *
 * What is not UTF-8 goes into "key_base64" or "value_base64" instead. A line says each of the two
 * once, and nothing else: a member that would be dropped is an error.
 */
#ifndef SB_JSONL_H
#define SB_JSONL_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct sb_jsonl {
    struct sb_slice key, value; /* valid until the next call on this struct */
    char wrong[128];            /* what is wrong with the line: "is not JSON" */

    json_t *object;                /* of the line; the slices may point into it */
    void *key_bytes, *value_bytes; /* what was base64; owned */
};

/* Takes a line apart, with or without its newline. SB_ERR_UNSUPPORTED: `wrong` is a predicate that
 * goes with "the line". Start with a zeroed struct; release it after the last line. */
int sb_jsonl_parse(struct sb_jsonl *record, const char *line, size_t bytes) SB_MUST_CHECK;
void sb_jsonl_release(struct sb_jsonl *record);

/* Writes a record as a line; the stream is checked by the caller, too. SB_ERR_NOMEM, or
 * SB_ERR_FAILED with errno when the stream does not take it. */
int sb_jsonl_write(FILE *to, struct sb_slice key, struct sb_slice value) SB_MUST_CHECK;

#endif
