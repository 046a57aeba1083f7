/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bad-tables.c -- drivers whose tables break the contract in one place each, and, as the last one,
 * a driver that must be loaded all the same. None of them is ever opened.
 */
#include "../../drivers/driver.h"

static const char *stub_version(void)
{
    return "stub 1";
}

static int stub_open(const struct sb_open *args, struct sb_store **storep)
{
    (void)storep;
    return args->host->fail(SB_ERR_UNSUPPORTED, 0, "a stub has no store");
}

static int stub_close(struct sb_store *store)
{
    (void)store;
    return 0;
}

static int stub_attach(struct sb_store *store, struct sb_session **sessionp)
{
    (void)store;
    (void)sessionp;
    return SB_ERR_UNSUPPORTED;
}

static void stub_detach(struct sb_session *session)
{
    (void)session;
}

static int stub_session(struct sb_session *session)
{
    (void)session;
    return 0;
}

static int stub_begin(struct sb_session *session, enum sb_txn kind)
{
    (void)session;
    (void)kind;
    return 0;
}

static int stub_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    (void)session;
    (void)key;
    (void)value;
    return 0;
}

static int stub_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    (void)session;
    (void)key;
    (void)valuep;
    return SB_NOTFOUND;
}

static int stub_del(struct sb_session *session, struct sb_slice key)
{
    (void)session;
    (void)key;
    return 0;
}

static int stub_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    (void)session;
    (void)cursorp;
    return SB_ERR_UNSUPPORTED;
}

static int stub_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    (void)cursor;
    (void)keyp;
    (void)valuep;
    return SB_NOTFOUND;
}

static void stub_cursor_close(struct sb_cursor *cursor)
{
    (void)cursor;
}

struct stub_options {
    int64_t number;
};

static const struct sb_option outside[] = {
    {"far", SB_OPTION_INT, NULL, "1", 0, 9, NULL, "outside the struct", 8},
    {NULL, SB_OPTION_BOOL, NULL, NULL, 0, 0, NULL, NULL, 0},
};
static const struct sb_option twice[] = {
    {"same", SB_OPTION_INT, NULL, "1", 0, 9, NULL, "one", 0},
    {"same", SB_OPTION_INT, NULL, "1", 0, 9, NULL, "the other", 0},
    {NULL, SB_OPTION_BOOL, NULL, NULL, 0, 0, NULL, NULL, 0},
};
static const struct sb_option reserved[] = {
    {"cache", SB_OPTION_SIZE, NULL, "1", 0, 9, NULL, "the harness's own", 0},
    {NULL, SB_OPTION_BOOL, NULL, NULL, 0, 0, NULL, NULL, 0},
};
static const struct sb_option wordless[] = {
    {"choice", SB_OPTION_ENUM, NULL, NULL, 0, 0, NULL, "without choices", 0},
    {NULL, SB_OPTION_BOOL, NULL, NULL, 0, 0, NULL, NULL, 0},
};

#define NO_CURSOR                                                                                  \
    .summary = "a stub", .levels = SB_LEVEL_BIT(SB_LEVEL_NONE), .version = stub_version,           \
    .open = stub_open, .close = stub_close, .attach = stub_attach, .detach = stub_detach,          \
    .get = stub_get, .del = stub_del, .cursor_open = stub_cursor_open,                             \
    .cursor_next = stub_cursor_next
#define NO_PUT NO_CURSOR, .cursor_close = stub_cursor_close
#define ALL NO_PUT, .put = stub_put
#define OPTIONS(table) .options = table, .options_bytes = sizeof(struct stub_options)

static const struct sb_driver bad_drivers[] = {
    {ALL, .name = NULL},
    {ALL, .name = ""},
    {ALL, .name = "Bad_Name"},
    {NO_PUT, .name = "bad-put"},
    {NO_CURSOR, .name = "bad-cursor", .put = stub_put},
    {ALL, .name = "bad-order", .caps = SB_CAP_ORDERED},
    {ALL, .name = "bad-txn", .caps = SB_CAP_TXN},
    {ALL, .name = "bad-abort", .caps = SB_CAP_TXN, .begin = stub_begin, .commit = stub_session},
    {ALL, .name = "bad-commit", .begin = stub_begin},
    {ALL, .name = "bad-append", .caps = SB_CAP_APPEND},
    {ALL, .name = "bad-append-hook", .append = stub_put},
    {.name = "bad-summary"},
    {.name = "bad-level", .summary = "a stub", .levels = 0},
    {.name = "bad-memory", .summary = "a stub", .levels = SB_LEVELS_ALL},
    {ALL, .name = "bad-outside", OPTIONS(outside)},
    {ALL, .name = "bad-twice", OPTIONS(twice)},
    {ALL, .name = "bad-reserved", OPTIONS(reserved)},
    {ALL, .name = "bad-wordless", OPTIONS(wordless)},
    {ALL, .name = "good-neighbour"},
    {ALL, .name = "good-neighbour"},
};

SB_MODULE(bad_drivers);
