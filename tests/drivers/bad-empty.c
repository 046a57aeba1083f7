/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bad-empty.c -- a module that offers no driver.
 */
#include "../../drivers/driver.h"

SB_EXPORT extern const struct sb_module SB_MODULE_SYMBOL;
SB_EXPORT const struct sb_module SB_MODULE_SYMBOL = {SB_DRIVER_ABI, sizeof(struct sb_driver), 0,
                                                     NULL};
