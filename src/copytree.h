/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * copytree.h -- a copy of a store's directory, for tools that change what they work on.
 */
#ifndef SB_COPYTREE_H
#define SB_COPYTREE_H

#include "error.h"

/* Copies the regular files and directories below `from` into `to`, a directory that exists and has
 * none of these names. Anything else, a symbolic link or a socket, is an error: no store of ours
 * has one. */
int sb_copy_tree(const char *from, const char *to) SB_MUST_CHECK;

#endif
