/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bad-abi.c -- a module of another ABI. Its table must not even be looked at: it is none.
 */
#include "../../drivers/driver.h"

static const char no_table[1];

SB_EXPORT extern const struct sb_module SB_MODULE_SYMBOL;
SB_EXPORT const struct sb_module SB_MODULE_SYMBOL = {
    SB_DRIVER_ABI + 1, sizeof(struct sb_driver), 1000,
    (const struct sb_driver *)(const void *)no_table};
