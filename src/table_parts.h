/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_parts.h -- what the files that make table.h share: table.c prints the document, with what
 * is above and below the tables; table_title.c, table_sheet.c, table_space.c and table_counted.c
 * print the tables of one group of cells.
 *
 * The document may come from elsewhere: it is only read by the getters of jsonx.h, and its texts
 * are cleaned before they are printed.
 */
#ifndef SB_TABLE_PARTS_H
#define SB_TABLE_PARTS_H

#include "table_layout.h"

#include <jansson.h>

enum {
    SB_TABLE_NAME_WIDTH = 60,   /* names and words are cut there */
    SB_TABLE_TEXT_WIDTH = 1000, /* and sentences there */
};

/* Different texts in the order of their first use, each with the names it is about. */
struct sb_remark {
    char *text;
    char *names; /* separated by ", " */
};

struct sb_remarks {
    struct sb_remark *entries; /* owned */
    size_t count;
};

/* Notes that the text is about `name` too; returns the index of the text. Both are copied. */
size_t sb_remarks_add(struct sb_remarks *remarks, const char *text, const char *name);
void sb_remarks_release(struct sb_remarks *remarks);

/* What all tables of a document have in common. */
struct sb_table {
    FILE *stream;
    struct sb_text_style style;
    const json_t *document;
    const char *harness_driver; /* the one that keeps nothing: never the best of a column */
    struct sb_remarks spreads;  /* kinds of interval that were shown */
    bool best_was_marked, settled_was_shown, share_was_shown, counted_was_shown;
};

/* Cells that may be compared with each other. */
struct sb_table_group {
    char *key;            /* everything they have in common, as text; owned */
    const json_t **cells; /* owned; the cells are borrowed */
    size_t cell_count;
    bool commits; /* of a scenario that counts commits: the batch sizes stand side by side */
};

/* The labels of a group, each once, sorted: the rows of its tables. */
struct sb_table_rows {
    const char **labels; /* owned; the texts are borrowed */
    size_t count;
};

void sb_table_rows_init(struct sb_table_rows *rows, const struct sb_table_group *group);
void sb_table_rows_release(struct sb_table_rows *rows);
size_t sb_table_row_of(const struct sb_table_rows *rows, const json_t *cell);

/* A cleaned copy that is short enough for a column. */
char *sb_table_name(const char *text) __attribute__((malloc));

/* Prints a sentence of which parts may come from the document, cleaned; releases it. */
void sb_table_sentence(const struct sb_table *table, const char *lead, char *text_take);

/* "text, more", or "more" when there is no text. */
char *sb_table_joined(char *text_take, char *more_take);

/* Members of a cell. */
const char *sb_cell_scenario(const json_t *cell);
const json_t *sb_cell_parameters(const json_t *cell);
bool sb_cell_ok(const json_t *cell);
bool sb_cell_fills(const json_t *cell); /* its scenario fills the store */

/* The scenario number `index` of those before it in its chain; NULL when there is none. */
const char *sb_cell_before(const json_t *cell, size_t index);

/* NaN when the cell has no such figure. */
double sb_cell_summary(const json_t *cell, const char *key, const char *member);

/* The title of the tables of groups[index]; the others say which parameters are worth a word. */
void sb_table_print_title(const struct sb_table *table, const struct sb_table_group *groups,
                          size_t group_count, size_t index);

/* The main table of a group, with the explanation of its footnotes and statuses. */
void sb_table_print_sheet(struct sb_table *table, const struct sb_table_group *group,
                          const struct sb_table_rows *rows);

/* The table of the space that its stores took, if there is anything to tell. */
void sb_table_print_space(const struct sb_table *table, const struct sb_table_group *group,
                          const struct sb_table_rows *rows);

/* The table of what its counting repeats counted, if there were any. */
void sb_table_print_counted(struct sb_table *table, const struct sb_table_group *group,
                            const struct sb_table_rows *rows);

/* sb_table_print() with the style chosen by the caller. */
void sb_table_print_styled(FILE *stream, const struct sb_text_style *style, const json_t *document);

#endif
