/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_layout.h -- text and tables in display columns: what a terminal shows, not bytes.
 *
 * Knows nothing of results. Any text may be given to sb_text_clean; everything else here takes text
 * that went through it or that the program made itself.
 */
#ifndef SB_TABLE_LAYOUT_H
#define SB_TABLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a stream wants it. */
struct sb_text_style {
    size_t width; /* display columns; 0: no limit */
    bool bold;    /* bold face may be used; else the best is marked by '*' */
};

/* A terminal: its width, at least 80 (COLUMNS goes first), and bold unless NO_COLOR is set.
 * Anything else: no limit, no bold. */
void sb_text_style_init(struct sb_text_style *style, FILE *stream);

/* A copy that is safe for a terminal: white space becomes a space, other control characters and
 * invisible ones that turn the direction of text become '?', and what is wider than `width_max`
 * is cut and ends in "…". free() it. */
char *sb_text_clean(const char *text, size_t width_max) __attribute__((malloc));

/* Display columns. */
size_t sb_text_width(const char *text);

/* Prints `lead`, then `text` broken at spaces so that it stands right of `lead`, and a newline. */
void sb_text_print(FILE *stream, const struct sb_text_style *style, const char *lead,
                   const char *text);

/* The parts of a cell stand below each other in all rows of a column: the figure at the right edge,
 * the others at the left. A part that no row has takes no room. */
enum sb_grid_part {
    SB_GRID_FIGURE, /* "1.23 M/s", or a word */
    SB_GRID_MARK,   /* "*" */
    SB_GRID_SPREAD, /* "±4%" */
    SB_GRID_FLAGS,  /* footnote letters and words */
    SB_GRID_PARTS
};

enum { SB_GRID_HEADS = 2 }; /* lines of head */

struct sb_grid_cell {
    char *parts[SB_GRID_PARTS]; /* owned; NULL: empty */
    bool bold;                  /* the figure is shown bold */
};

struct sb_grid_column {
    char *heads[SB_GRID_HEADS]; /* owned; NULL: empty */
    size_t part_widths[SB_GRID_PARTS];
    size_t width;
    bool left;   /* the figure stands at the left edge: names */
    bool joined; /* belongs to the column before: both stay on one page */
};

/* When the columns do not fit the width, the rest follows below, page by page; the first `lead`
 * columns are repeated on each page. */
struct sb_grid {
    struct sb_grid_column *columns; /* owned */
    struct sb_grid_cell *cells;     /* owned; row by row */
    size_t column_count, row_count, lead;
};

/* All columns and cells empty. */
void sb_grid_init(struct sb_grid *grid, size_t column_count, size_t row_count);
void sb_grid_release(struct sb_grid *grid);

struct sb_grid_cell *sb_grid_at(const struct sb_grid *grid, size_t row, size_t column);

/* Both take over `text`, which free() releases; what stood there is freed. */
void sb_grid_head(struct sb_grid *grid, size_t column, size_t line, char *text_take);
void sb_grid_put(struct sb_grid_cell *cell, enum sb_grid_part part, char *text_take);

/* Works out the widths and prints everything. Cells without a figure are shown as "-". */
void sb_grid_print(struct sb_grid *grid, FILE *stream, const struct sb_text_style *style);

#endif
