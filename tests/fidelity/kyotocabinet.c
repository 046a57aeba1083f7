/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kyotocabinet.c -- hand-written loops on Kyoto Cabinet's file hash: see hand.h.
 */
#include "hand.h"

#include <kclangc.h>

static KCDB *db;

static void must(int32_t ok, const char *call)
{
    if (!ok)
        hand_die(call, kcdbemsg(db));
}

static void hand_open(struct hand *hand)
{
    char path[4096];

    db = kcdbnew();
    (void)snprintf(path, sizeof(path), "%s/store.kch#bnum=%" PRIu64 "#msiz=%" PRIu64, hand->dir,
                   hand_option(hand, "bnum", 1048583), hand_option(hand, "msiz", 64u << 20));
    must(kcdbopen(db, path, KCOWRITER | KCOCREATE | KCOTRUNCATE), "kcdbopen");
}

static void hand_write(const struct hand *hand)
{
    for (uint64_t i = 0; i < hand->records; i++)
        must(kcdbset(db, hand_key(hand->write_keys, i), KEY_BYTES, hand_value(hand, i),
                     hand->value_bytes),
             "kcdbset");
}

static void hand_settle(void)
{
    must(kcdbsync(db, 1, NULL, NULL), "kcdbsync");
}

static uint64_t hand_scan(const struct hand *hand, uint64_t *sum)
{
    KCCUR *cursor = kcdbcursor(db);
    uint64_t seen = 0;
    char *key;

    (void)hand;
    must(kccurjump(cursor), "kccurjump");
    for (;;) {
        size_t key_bytes, value_bytes;
        const char *value;

        key = kccurget(cursor, &key_bytes, &value, &value_bytes, 1);
        if (!key)
            break;
        *sum += hand_touch(value, value_bytes);
        seen++;
        kcfree(key);
    }
    kccurdel(cursor);
    return seen;
}

static uint64_t hand_read(const struct hand *hand, uint64_t count)
{
    size_t room = hand->value_bytes + 8;
    char *buffer = malloc(room);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        int32_t bytes = kcdbgetbuf(db, hand_key(hand->read_keys, i), KEY_BYTES, buffer, room);

        must(bytes >= 0, "kcdbgetbuf");
        sum += hand_touch(buffer, (size_t)bytes);
    }
    free(buffer);
    return sum;
}

static void hand_close(void)
{
    must(kcdbclose(db), "kcdbclose");
    kcdbdel(db);
}
