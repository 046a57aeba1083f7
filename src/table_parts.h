/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_parts.h -- what the files that make table.h share: table.c prints the document, with what
 * is above and below the tables; table_sheet.c prints the tables of one group of cells.
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
    bool best_was_marked;
};

/* Cells that may be compared with each other. */
struct sb_table_group {
    char *key;            /* everything they have in common, as text; owned */
    const json_t **cells; /* owned; the cells are borrowed */
    size_t cell_count;
    bool commits; /* of a scenario that counts commits: the batch sizes stand side by side */
};

/* Prints the tables of groups[index]; the others say which parameters are worth mentioning. */
void sb_table_print_group(struct sb_table *table, const struct sb_table_group *groups,
                          size_t group_count, size_t index);

/* sb_table_print() with the style chosen by the caller. */
void sb_table_print_styled(FILE *stream, const struct sb_text_style *style, const json_t *document);

#endif
