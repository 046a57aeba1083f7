/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.h -- the result document: built while the campaign runs, folded into one file at its end.
 *
 * results/schema/result-1.json describes every member. Raw counts and nanoseconds come from the
 * repeats; `derived` and `summary` are worked out here, in one place, from those.
 */
#ifndef SB_RESULT_H
#define SB_RESULT_H

#include "plan.h"

#include <jansson.h>

#define SB_RESULT_SCHEMA "storebench-result-1"

struct sb_result {
    json_t *document; /* owned */
    json_t *cells;    /* borrowed from the document */
    char *path;       /* of the file to come; owned */
    int partial_fd;   /* of PATH.partial, JSON Lines; -1: closed */
};

/* Starts a document for the plan, with all its cells, and PATH.partial beside the file to come. An
 * existing PATH is not touched until sb_result_finish replaces it. */
int sb_result_create(struct sb_result *result, const struct sb_plan *plan, const char *path,
                     char *const *command) SB_MUST_CHECK;

/* Sets a member of the document and notes it in the partial file; takes over `value`. */
int sb_result_set(struct sb_result *result, const char *key, json_t *value_take) SB_MUST_CHECK;

/* The cell of a scenario of a chain, borrowed. */
json_t *sb_result_cell(const struct sb_result *result, const struct sb_chain *chain,
                       size_t scenario_index);

/* Records what a driver told about its store, once for each cell. */
void sb_result_facts(json_t *cell, const json_t *facts);

/* Adds a repeat to a cell and to the partial file; derives its rates. Takes over `repeat`. */
int sb_result_add_repeat(struct sb_result *result, json_t *cell, json_t *repeat_take) SB_MUST_CHECK;

/* Sets a cell's figures of its counting repeat and notes them in the partial file. Cells that two
 * chains share keep those that came first, unless they failed. Takes over `counted`. */
int sb_result_set_counted(struct sb_result *result, json_t *cell,
                          json_t *counted_take) SB_MUST_CHECK;

/* Works out statuses and summaries, writes the file by rename and removes the partial one. */
int sb_result_finish(struct sb_result *result) SB_MUST_CHECK;

void sb_result_release(struct sb_result *result);

#endif
