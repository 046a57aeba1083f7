/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resume.h -- takes up a campaign that was ended early: by a signal, its time limit, or kill -9.
 */
#ifndef SB_RESUME_H
#define SB_RESUME_H

#include "result.h"

/* Reads an incomplete result FILE, or the FILE.partial of a campaign that was killed; a last line
 * that was cut is dropped. *documentp is a new reference. The error says what is wrong with the
 * file. */
int sb_resume_load(const char *path, json_t **documentp) SB_MUST_CHECK;

/* Copies the finished repeats of `document` into `result`, which was made from the same plan.
 * Repeats that failed are left out, so that they run again. SB_ERR_UNSUPPORTED when the plan has
 * other cells. */
int sb_resume_repeats(struct sb_result *result, const json_t *document) SB_MUST_CHECK;

/* Whether every cell of the chain has a repeat of that block. */
bool sb_resume_has(const struct sb_result *result, const struct sb_chain *chain, uint64_t block);

#endif
