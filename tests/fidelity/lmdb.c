/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lmdb.c -- hand-written loops on LMDB's own calls: see hand.h. A write or read transaction covers
 * BATCH operations, as in the cell that it is compared with.
 */
#include "hand.h"

#include <lmdb.h>

static MDB_env *env;
static MDB_dbi dbi;

static void must(int rc, const char *call)
{
    if (rc)
        hand_die(call, mdb_strerror(rc));
}

static void hand_open(struct hand *hand)
{
    unsigned flags = MDB_NOTLS | MDB_NOSYNC;
    MDB_txn *txn;

    if (hand_option(hand, "writemap", 0))
        flags |= MDB_WRITEMAP;
    must(mdb_env_create(&env), "mdb_env_create");
    must(mdb_env_set_mapsize(env, hand_option(hand, "mapsize", 1u << 30)), "mdb_env_set_mapsize");
    must(mdb_env_open(env, hand->dir, flags, 0644), "mdb_env_open");
    must(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
    must(mdb_dbi_open(txn, NULL, 0, &dbi), "mdb_dbi_open");
    must(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void hand_write(const struct hand *hand)
{
    MDB_txn *txn = NULL;

    for (uint64_t i = 0; i < hand->records; i++) {
        MDB_val key = {KEY_BYTES, (void *)(uintptr_t)hand_key(hand->write_keys, i)};
        MDB_val value = {hand->value_bytes, (void *)(uintptr_t)hand_value(hand, i)};

        if (!txn)
            must(mdb_txn_begin(env, NULL, 0, &txn), "mdb_txn_begin");
        must(mdb_put(txn, dbi, &key, &value, 0), "mdb_put");
        if ((i + 1) % hand->batch == 0) {
            must(mdb_txn_commit(txn), "mdb_txn_commit");
            txn = NULL;
        }
    }
    if (txn)
        must(mdb_txn_commit(txn), "mdb_txn_commit");
}

static void hand_settle(void)
{
    must(mdb_env_sync(env, 1), "mdb_env_sync");
}

static uint64_t hand_scan(const struct hand *hand, uint64_t *sum)
{
    MDB_val key, value;
    MDB_cursor *cursor;
    uint64_t seen = 0;
    MDB_txn *txn;

    (void)hand;
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
    must(mdb_cursor_open(txn, dbi, &cursor), "mdb_cursor_open");
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
        *sum += hand_touch(value.mv_data, value.mv_size);
        seen++;
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return seen;
}

static uint64_t hand_read(const struct hand *hand, uint64_t count)
{
    uint64_t sum = 0;
    MDB_txn *txn;

    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), "mdb_txn_begin");
    for (uint64_t i = 0; i < count; i++) {
        MDB_val key = {KEY_BYTES, (void *)(uintptr_t)hand_key(hand->read_keys, i)};
        MDB_val value;

        must(mdb_get(txn, dbi, &key, &value), "mdb_get");
        sum += hand_touch(value.mv_data, value.mv_size);
        if ((i + 1) % hand->batch == 0) {
            mdb_txn_reset(txn);
            must(mdb_txn_renew(txn), "mdb_txn_renew");
        }
    }
    mdb_txn_abort(txn);
    return sum;
}

static void hand_close(void)
{
    mdb_env_close(env);
}
