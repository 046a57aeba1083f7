/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * null.c -- a store that keeps nothing: what remains is the cost of the harness.
 *
 * Every operation goes the way of any other driver's: the same indirect calls, and a `get` that
 * returns bytes which the harness touches and compares. Those bytes are not what was put, so the
 * driver declares SB_CAP_DISCARDS and the harness counts the mismatches without judging them.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* `get` returns as many bytes as the last put had, and a cursor as many records as were put, so
 * that reads touch as much as anywhere else. One session at a time is enough for that. */
struct sb_store {
    const struct sb_host *host;
    uint64_t puts;
    struct sb_slice key, value;
    unsigned char *bytes; /* backs `key` and `value` */
    size_t bytes_max;
};

struct sb_session {
    struct sb_store *store;
};

struct sb_cursor {
    struct sb_store *store;
    uint64_t left;
};

enum { BYTES_MIN = 64 * 1024 };

static const char *null_version(void)
{
    return "null 1";
}

static int grow(struct sb_store *store, size_t bytes)
{
    unsigned char *grown = realloc(store->bytes, bytes);

    if (!grown)
        return store->host->fail(SB_ERR_NOMEM, 0, "null: no memory for a value of %zu bytes",
                                 bytes);
    memset(grown, 0xA5, bytes);
    store->bytes = grown;
    store->bytes_max = bytes;
    store->key.data = store->value.data = grown;
    return 0;
}

static int null_open(const struct sb_open *args, struct sb_store **storep)
{
    struct sb_store *store = calloc(1, sizeof(*store));
    int rc;

    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "null: out of memory");
    store->host = args->host;
    /* A store that is reopened has seen no put: it starts with what was planned. */
    if (args->mode != SB_CREATE && args->expected_records)
        store->puts = args->expected_records;
    rc = grow(store, BYTES_MIN);
    if (rc) {
        free(store);
        return rc;
    }
    *storep = store;
    return 0;
}

static int null_close(struct sb_store *store)
{
    free(store->bytes);
    free(store);
    return 0;
}

static int null_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "null: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void null_detach(struct sb_session *session)
{
    free(session);
}

static int null_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    size_t longest = key.size_bytes > value.size_bytes ? key.size_bytes : value.size_bytes;

    if (longest > store->bytes_max) {
        int rc = grow(store, longest);
        if (rc)
            return rc;
    }
    store->key.size_bytes = key.size_bytes;
    store->value.size_bytes = value.size_bytes;
    store->puts++;
    return 0;
}

static int null_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    (void)key;
    *valuep = session->store->value;
    return 0;
}

static int null_del(struct sb_session *session, struct sb_slice key)
{
    (void)session;
    (void)key;
    return 0;
}

static int null_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "null: out of memory");
    cursor->store = session->store;
    cursor->left = session->store->puts;
    *cursorp = cursor;
    return 0;
}

static int null_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    if (!cursor->left)
        return SB_NOTFOUND;
    cursor->left--;
    *keyp = cursor->store->key;
    if (valuep)
        *valuep = cursor->store->value;
    return 0;
}

static void null_cursor_close(struct sb_cursor *cursor)
{
    free(cursor);
}

static const struct sb_driver null_drivers[] = {
    {
        .name = "null",
        .summary = "keeps nothing: measures the harness itself",
        .caps = SB_CAP_DISCARDS | SB_CAP_ZERO_COPY,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .version = null_version,
        .open = null_open,
        .close = null_close,
        .attach = null_attach,
        .detach = null_detach,
        .put = null_put,
        .get = null_get,
        .del = null_del,
        .cursor_open = null_cursor_open,
        .cursor_next = null_cursor_next,
        .cursor_close = null_cursor_close,
    },
};

SB_MODULE(null_drivers);
