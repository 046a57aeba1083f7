/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * settle.h -- waits until a store is at rest: its background work is done and its files are written
 * back. Acknowledged writes are not yet paid for until then.
 */
#ifndef SB_SETTLE_H
#define SB_SETTLE_H

#include "store.h"

struct sb_settled {
    uint64_t settle_ns; /* until the last sign of work; the quiet time that proves it is left out */
    bool did_not_settle; /* still at work when the limit was reached */
};

/* Calls the driver's settle and sync, flushes the files below `dir`, then, if the process has other
 * threads, waits until they use no more CPU time and write no more bytes, at most `limit_ns`. */
int sb_settle(struct sb_store_handle *handle, const char *dir, uint64_t limit_ns,
              struct sb_settled *settled) SB_MUST_CHECK;

#endif
