/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * owndata.h -- the options --keys-from and --pairs-from: a user's file becomes a packed key file in
 * a work folder of its own for the time of one campaign.
 */
#ifndef SB_OWNDATA_H
#define SB_OWNDATA_H

#include "keypack.h"

#include <jansson.h>

struct sb_own_data {
    const char *path;  /* of the user's file; borrowed */
    bool pairs;        /* keys and values; else keys alone */
    bool nul;          /* keys end in a NUL, not in a newline */
    char *folder;      /* owned */
    char *packed_path; /* for the processes of the repeats; owned */
    struct sb_keypack pack;
};

/* Packs own->path into a new work folder in `parent`. Release it in any case: that removes the
 * folder. */
int sb_own_data_prepare(struct sb_own_data *own, const char *parent) SB_MUST_CHECK;
void sb_own_data_release(struct sb_own_data *own);

/* The result's member `own_data`, a new object. */
json_t *sb_own_data_describe(const struct sb_own_data *own);

#endif
