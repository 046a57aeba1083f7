/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * paths.c -- see paths.h.
 */
#include "paths.h"

const char *sb_build_drivers_dir(void)
{
    return SB_BUILD_DRIVERS_DIR;
}

const char *sb_installed_drivers_dir(void)
{
    return SB_INSTALLED_DRIVERS_DIR;
}

const char *sb_source_workloads_dir(void)
{
    return SB_SOURCE_WORKLOADS_DIR;
}

const char *sb_installed_workloads_dir(void)
{
    return SB_INSTALLED_WORKLOADS_DIR;
}

const char *sb_program_path(void)
{
    /* Still this file when it was renamed or replaced while the program runs. */
    return "/proc/self/exe";
}
