/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * workdir.h -- the folders that storebench makes for its stores, and the only code that deletes.
 *
 * A campaign makes one folder `storebench-run-XXXXXX` in each directory that the user names, with a
 * manifest file in it; the stores lie below. Nothing is ever deleted outside a folder that has our
 * manifest. A folder whose campaign died (kill -9) is removed by the next campaign in that
 * directory.
 */
#ifndef SB_WORKDIR_H
#define SB_WORKDIR_H

#include "error.h"

#include <stdbool.h>

/* The directory used when none is named: $STOREBENCH_DIR, or /var/tmp, which is a disk where /tmp
 * may be memory. Static storage. */
const char *sb_workdir_default(void);

/* Removes folders of dead campaigns in `parent`, then makes a new one. *pathp is absolute; free()
 * it after sb_workdir_remove. */
int sb_workdir_create(const char *parent, char **pathp) SB_MUST_CHECK;

/* Removes a folder that sb_workdir_create made, with all that is in it. */
int sb_workdir_remove(const char *path) SB_MUST_CHECK;

/* Removes everything below `path`, a store's folder inside one of ours, and the folder itself.
 * Refuses a path whose parent has no manifest. Nothing to remove is no error. */
int sb_workdir_remove_store(const char *path) SB_MUST_CHECK;

#endif
