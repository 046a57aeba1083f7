/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tokyocabinet.c -- hand-written loops on Tokyo Cabinet's file hash: see hand.h.
 */
#include "hand.h"

#include <stdbool.h>
#include <tchdb.h>
#include <tcutil.h>

static TCHDB *db;

static void must(bool ok, const char *call)
{
    if (!ok)
        hand_die(call, tchdberrmsg(tchdbecode(db)));
}

static int log2_of(uint64_t number)
{
    int power = 0;

    while (number > 1) {
        number /= 2;
        power++;
    }
    return power;
}

static void hand_open(struct hand *hand)
{
    int apow = log2_of(hand_option(hand, "align_bytes", 16));
    int fpow = log2_of(hand_option(hand, "fbpmax", 1024));
    uint8_t flags = hand_option(hand, "large", 0) ? HDBTLARGE : 0;
    char path[4096];

    db = tchdbnew();
    (void)snprintf(path, sizeof(path), "%s/store.tch", hand->dir);
    must(tchdbtune(db, (int64_t)hand_option(hand, "bnum", 0), (int8_t)apow, (int8_t)fpow, flags),
         "tchdbtune");
    must(tchdbsetxmsiz(db, (int64_t)hand_option(hand, "xmsiz", 64u << 20)), "tchdbsetxmsiz");
    must(tchdbopen(db, path, HDBOWRITER | HDBOCREAT | HDBOTRUNC), "tchdbopen");
}

static void hand_write(const struct hand *hand)
{
    for (uint64_t i = 0; i < hand->records; i++)
        must(tchdbput(db, hand_key(hand->write_keys, i), KEY_BYTES, hand_value(hand, i),
                      (int)hand->value_bytes),
             "tchdbput");
}

static void hand_settle(void)
{
    must(tchdbsync(db), "tchdbsync");
}

static uint64_t hand_scan(const struct hand *hand, uint64_t *sum)
{
    TCXSTR *key = tcxstrnew(), *value = tcxstrnew();
    uint64_t seen = 0;

    (void)hand;
    must(tchdbiterinit(db), "tchdbiterinit");
    while (tchdbiternext3(db, key, value)) {
        *sum += hand_touch(tcxstrptr(value), (size_t)tcxstrsize(value));
        seen++;
    }
    tcxstrdel(key);
    tcxstrdel(value);
    return seen;
}

static uint64_t hand_read(const struct hand *hand, uint64_t count)
{
    int room = (int)hand->value_bytes + 8;
    char *buffer = malloc((size_t)room);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        int bytes = tchdbget3(db, hand_key(hand->read_keys, i), KEY_BYTES, buffer, room);

        must(bytes >= 0, "tchdbget3");
        sum += hand_touch(buffer, (size_t)bytes);
    }
    free(buffer);
    return sum;
}

static void hand_close(void)
{
    must(tchdbclose(db), "tchdbclose");
    tchdbdel(db);
}
