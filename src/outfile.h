/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * outfile.h -- output that never looks complete when it is not: FILE.partial until it is finished,
 * then renamed to FILE; or standard output, whose failure is told once and in our words.
 */
#ifndef SB_OUTFILE_H
#define SB_OUTFILE_H

#include "error.h"

#include <stdbool.h>
#include <stdio.h>

struct sb_outfile {
    FILE *stream;        /* NULL: closed */
    const char *path;    /* borrowed; NULL for standard output */
    char *partial;       /* owned */
    const char *to_name; /* for messages: the path, or "standard output" */
    int line_errno;      /* of the first line that could not be written */
};

/* "-" or NULL is standard output. An existing file is replaced when the new one is finished; an
 * existing FILE.partial is an error, since it may be somebody's. */
int sb_outfile_open(struct sb_outfile *out, const char *path) SB_MUST_CHECK;

/* The error for a write to the stream that failed, by errno. */
int sb_outfile_failed(const struct sb_outfile *out);

/* A line and its newline; a failure shows in sb_outfile_finish. */
void sb_outfile_line(struct sb_outfile *out, const char *line);

/* Writes everything out and, for a file, puts it on the device and in its place. On failure the
 * partial file is removed. */
int sb_outfile_finish(struct sb_outfile *out) SB_MUST_CHECK;

/* Closes without finishing, and removes the partial file unless it is to be kept. Harmless when
 * closed. */
void sb_outfile_discard(struct sb_outfile *out, bool keep);

#endif
