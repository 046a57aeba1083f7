/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bad-size.c -- a module whose struct sb_driver has another size. Its table must not even be looked
 * at: it is none.
 */
#include "../../drivers/driver.h"

static const char no_table[1];

SB_EXPORT extern const struct sb_module SB_MODULE_SYMBOL;
SB_EXPORT const struct sb_module SB_MODULE_SYMBOL = {
    SB_DRIVER_ABI, sizeof(struct sb_driver) + 8, 1000,
    (const struct sb_driver *)(const void *)no_table};
