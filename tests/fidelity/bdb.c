/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bdb.c -- hand-written loops on Berkeley DB's B+tree without an environment: see hand.h.
 */
#include "hand.h"

#include <db.h>

static DB *db;

static void must(int rc, const char *call)
{
    if (rc)
        hand_die(call, db_strerror(rc));
}

static void hand_open(struct hand *hand)
{
    uint64_t cache_bytes = hand_option(hand, "cache_requested", 256u << 10);
    uint64_t page_bytes = hand_option(hand, "page", 0);
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/store.db", hand->dir);
    must(db_create(&db, NULL, 0), "db_create");
    must(db->set_cachesize(db, (uint32_t)(cache_bytes >> 30),
                           (uint32_t)(cache_bytes & ((1u << 30) - 1)), 1),
         "set_cachesize");
    if (page_bytes)
        must(db->set_pagesize(db, (uint32_t)page_bytes), "set_pagesize");
    must(db->open(db, NULL, path, NULL, DB_BTREE, DB_CREATE, 0644), "open");
}

static DBT entry(const void *data, size_t bytes)
{
    DBT dbt;

    memset(&dbt, 0, sizeof(dbt));
    dbt.data = (void *)(uintptr_t)data;
    dbt.size = (uint32_t)bytes;
    return dbt;
}

static void hand_write(const struct hand *hand)
{
    for (uint64_t i = 0; i < hand->records; i++) {
        DBT key = entry(hand_key(hand->write_keys, i), KEY_BYTES);
        DBT value = entry(hand_value(hand, i), hand->value_bytes);

        must(db->put(db, NULL, &key, &value, 0), "put");
    }
}

static void hand_settle(void)
{
    must(db->sync(db, 0), "sync");
}

static uint64_t hand_scan(const struct hand *hand, uint64_t *sum)
{
    DBT key = entry(NULL, 0), value = entry(NULL, 0);
    uint64_t seen = 0;
    DBC *cursor;

    (void)hand;
    must(db->cursor(db, NULL, &cursor, 0), "cursor");
    while (cursor->get(cursor, &key, &value, DB_NEXT) == 0) {
        *sum += hand_touch(value.data, value.size);
        seen++;
    }
    must(cursor->close(cursor), "close");
    return seen;
}

static uint64_t hand_read(const struct hand *hand, uint64_t count)
{
    DBT value = entry(NULL, 0);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        DBT key = entry(hand_key(hand->read_keys, i), KEY_BYTES);

        must(db->get(db, NULL, &key, &value, 0), "get");
        sum += hand_touch(value.data, value.size);
    }
    return sum;
}

static void hand_close(void)
{
    must(db->close(db, 0), "close");
}
