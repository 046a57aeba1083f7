/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paths.h -- where the program finds its parts. The build compiles the folders in.
 */
#ifndef SB_PATHS_H
#define SB_PATHS_H

/* Static strings. */
const char *sb_build_drivers_dir(void);
const char *sb_installed_drivers_dir(void);
const char *sb_source_workloads_dir(void);
const char *sb_installed_workloads_dir(void);

/* The path of this program's file, for running it again; static storage. */
const char *sb_program_path(void);

#endif
