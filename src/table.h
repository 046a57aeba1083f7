/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.h -- the result as tables for a terminal.
 */
#ifndef SB_TABLE_H
#define SB_TABLE_H

#include <jansson.h>
#include <stdio.h>

/* Prints a finished document (result.h). Never mixes levels, record counts, sizes, directories or
 * in-memory with persistent stores in one table. */
void sb_table_print(FILE *stream, const json_t *document);

#endif
