/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * describe.h -- the machine, its directories and its ceilings as JSON: what `storebench probe`
 * prints and every result carries. The fields are those of sysinfo.h and ceilings.h.
 */
#ifndef SB_DESCRIBE_H
#define SB_DESCRIBE_H

#include "ceilings.h"
#include "sysinfo.h"

#include <jansson.h>

/* Each returns a new reference. */
json_t *sb_describe_machine(const struct sb_machine *machine);
json_t *sb_describe_directory(const struct sb_directory *directory);
json_t *sb_describe_ceilings(const struct sb_ceilings *ceilings);
json_t *sb_describe_flush_ceilings(const struct sb_flush_ceilings *ceilings);

/* Version, git commit, compiler and flags of this program. */
json_t *sb_describe_program(void);

#endif
