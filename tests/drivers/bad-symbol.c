/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bad-symbol.c -- a shared object with the name of a module that is none.
 */
#include "../../drivers/driver.h"

SB_EXPORT extern const int some_other_symbol;
SB_EXPORT const int some_other_symbol = 1;
