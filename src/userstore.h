/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * userstore.h -- a store that belongs to the user, in a directory of theirs: what `dump`, `load`
 * and `tool` share. Nothing here, and nothing in these commands, removes a file of the directory.
 *
 * A store is opened as `run` would open it with its defaults: profile equal and a cache of 512 MiB
 * unless the driver's spelling has another.
 */
#ifndef SB_USERSTORE_H
#define SB_USERSTORE_H

#include "spec.h"
#include "store.h"

struct sb_userstore {
    struct sb_registry registry;
    struct sb_spec spec;
    char *dir;     /* absolute; owned */
    bool made_dir; /* by us: goes again when no store comes into it */
    struct sb_open args;
    struct sb_store_handle handle;
    bool scan_failed;
};

/* Finds the driver of `text`, fills the args but for dir and mode, and refuses a driver that keeps
 * its data in memory only. Runs this program again, with the same arguments, when the driver wants
 * a library preloaded. `argv` is the command's own. */
int sb_userstore_find(struct sb_userstore *us, const char *text, char *const *argv) SB_MUST_CHECK;

/* Sets the level from the word of --durability; NULL: the lowest that the driver has, or with
 * SB_RECOVER the lowest from process on, since a store of level none has no recovery. Comes after
 * the mode. */
int sb_userstore_set_level(struct sb_userstore *us, const char *word) SB_MUST_CHECK;

/* A directory that must exist and have something in it. */
int sb_userstore_set_dir(struct sb_userstore *us, const char *dir) SB_MUST_CHECK;

/* A directory for a new store: is made if it does not exist, and is refused unless it is empty. */
int sb_userstore_make_dir(struct sb_userstore *us, const char *dir) SB_MUST_CHECK;

/* Opens the store; the error names the directory. */
int sb_userstore_open(struct sb_userstore *us) SB_MUST_CHECK;

/* Hands every record to `visit`, in the order of the store's cursor, until one call is not 0 or a
 * signal came (sb_stop_signal). `scan_failed` tells a failure of the driver from one of `visit`. */
typedef int sb_userstore_visit(void *arg, struct sb_slice key, struct sb_slice value);
int sb_userstore_scan(struct sb_userstore *us, sb_userstore_visit *visit, void *arg) SB_MUST_CHECK;

/* Closes what is open. An error of the close is lost: call sb_store_close before, where it counts.
 */
void sb_userstore_release(struct sb_userstore *us);

/* From now on SIGINT, SIGTERM and SIGHUP set sb_stop_signal (runner.h) and interrupt a read; the
 * second one ends the program. A closed pipe is an error of write(2). */
void sb_userstore_catch_stop(void);

/* A library that crashes on a damaged store gets a line that says so, and exit status
 * SB_EXIT_FAILED. The directory is set. */
void sb_userstore_catch_crash(const struct sb_userstore *us);

/* Tells of an error: bad input (SB_ERR_UNSUPPORTED, SB_ERR_LIMIT) is SB_EXIT_USAGE, anything else
 * SB_EXIT_FAILED. `more` is NULL or goes after the text. */
int sb_userstore_complain(int rc, const char *more);

#endif
