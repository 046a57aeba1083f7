/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keypack.h -- makes a packed key file (keyfile.h) from a user's file of any size, in bounded
 * memory.
 *
 * The file goes through sort(1) of coreutils, which spills to disk: keys come out in byte order and
 * each once. Of pairs with one key the first in the file stays.
 *
 * Keys: one a line, or, with `nul`, one a NUL; a line may hold NULs and be up to 1 GiB long. Pairs:
 * JSON Lines as `storebench dump` writes them, if the first byte of the file is '{', else a key, a
 * tab and a value a line. Empty keys are left out, since most stores refuse them; both they and the
 * duplicates are counted.
 */
#ifndef SB_KEYPACK_H
#define SB_KEYPACK_H

#include "keyfile.h"

struct sb_keypack {
    uint64_t lines;      /* of the user's file */
    uint64_t empty;      /* empty keys, left out */
    uint64_t duplicates; /* keys that came again, left out */
    struct sb_keyfile_header header;
};

/* `folder` takes the packed file, `out_path`, and the sorter's temporary files. The error names
 * file and line. */
int sb_keypack_keys(const char *path, bool nul, const char *folder, const char *out_path,
                    struct sb_keypack *pack) SB_MUST_CHECK;
int sb_keypack_pairs(const char *path, const char *folder, const char *out_path,
                     struct sb_keypack *pack) SB_MUST_CHECK;

#endif
