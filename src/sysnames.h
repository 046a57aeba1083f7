/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sysnames.h -- the names of the system calls that a storage library, its run-time or its threads
 * are likely to make.
 */
#ifndef SB_SYSNAMES_H
#define SB_SYSNAMES_H

#include <stdint.h>

/* Static storage; NULL for a number that is not in the table. */
const char *sb_system_call_name(uint64_t number);

#endif
