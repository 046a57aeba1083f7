/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lmdb.c -- LMDB: a copy-on-write B+tree in a memory map (driver `lmdb`).
 *
 * Levels. A commit without flushes (MDB_NOSYNC) has already written its pages to the file, so they
 * survive the death of the process: `none` and `process` are the same mode and `none` keeps
 * `process`. `power` is LMDB's default: fdatasync of the data, then a write of the meta page
 * through an O_DSYNC descriptor; with writemap=on, msync twice. MDB_NOMETASYNC is not offered as
 * `power`: lmdb.h says that a crash may undo the last commit. MDB_MAPASYNC is not offered at all:
 * on Linux msync(MS_ASYNC) writes nothing, so it is MDB_NOSYNC under another name.
 *
 * LMDB has no cache of its own; it reads through the kernel's page cache.
 */
#include "driver.h"

#include <errno.h>
#include <limits.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lmdb_options {
    int64_t writemap, readahead, mapsize_bytes;
};

/* The map is address space, not memory: generous, since a full map fails the commit. A randomly
 * filled tree is about two thirds full and copy-on-write keeps old pages for a while. */
enum { MAP_GROWTH = 4, RECORD_OVERHEAD_BYTES = 64 };
static const uint64_t map_bytes_min = 1ull << 30;

struct sb_store {
    const struct sb_host *host;
    MDB_env *env;
    MDB_dbi dbi;
};

struct sb_session {
    struct sb_store *store;
    MDB_txn *txn;    /* the open bracket, or NULL */
    MDB_txn *reader; /* kept between read brackets, reset, so that begin is a renew */
};

struct sb_cursor {
    const struct sb_host *host;
    MDB_cursor *cursor;
};

static int lmdb_fail(const struct sb_host *host, const char *call, int rc)
{
    enum sb_code code = SB_ERR_FAILED;

    if (rc == MDB_MAP_FULL || rc == ENOSPC)
        code = SB_ERR_FULL;
    else if (rc == MDB_BAD_VALSIZE || rc == MDB_TXN_FULL)
        code = SB_ERR_LIMIT;
    else if (rc == ENOMEM)
        code = SB_ERR_NOMEM;
    else if (rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_INVALID || rc == MDB_PANIC)
        code = SB_ERR_CORRUPT;
    else if (rc == EAGAIN || rc == EBUSY)
        code = SB_ERR_BUSY;
    return host->fail(code, rc, "%s: %s", call, mdb_strerror(rc));
}

static const char *lmdb_version(void)
{
    return mdb_version(NULL, NULL, NULL);
}

static uint64_t map_bytes(const struct sb_open *args, const struct lmdb_options *options)
{
    uint64_t bytes = map_bytes_min;
    uint64_t data;

    if (options->mapsize_bytes != SB_OPTION_UNSET)
        return (uint64_t)options->mapsize_bytes;
    if (args->map_bytes)
        return args->map_bytes;
    data = args->expected_bytes + args->expected_records * RECORD_OVERHEAD_BYTES;
    if (data < UINT64_MAX / MAP_GROWTH && data * MAP_GROWTH > bytes)
        bytes = data * MAP_GROWTH;
    return bytes;
}

static unsigned env_flags(const struct sb_open *args, const struct lmdb_options *options)
{
    /* MDB_NOTLS ties a reader to its transaction, so that sessions need not be threads. */
    unsigned flags = MDB_NOTLS;

    if (args->level != SB_LEVEL_POWER)
        flags |= MDB_NOSYNC;
    /* Tuned: lmdb.h calls MDB_WRITEMAP faster, at the price of protection from stray writes. */
    if (options->writemap == 1 ||
        (options->writemap == SB_OPTION_UNSET && args->profile == SB_PROFILE_TUNED))
        flags |= MDB_WRITEMAP;
    if (options->readahead == 0)
        flags |= MDB_NORDAHEAD;
    return flags;
}

static void describe(const struct sb_open *args, struct sb_store *store)
{
    const struct sb_host *host = args->host;
    unsigned flags = 0;
    MDB_envinfo info;
    MDB_stat stat;

    (void)mdb_env_get_flags(store->env, &flags);
    (void)mdb_env_info(store->env, &info);
    (void)mdb_env_stat(store->env, &stat);
    host->effective(args->report, SB_READ_BACK, "mapsize", "%zu", info.me_mapsize);
    host->effective(args->report, SB_READ_BACK, "page_bytes", "%u", stat.ms_psize);
    host->effective(args->report, SB_READ_BACK, "writemap", flags & MDB_WRITEMAP ? "on" : "off");
    host->effective(args->report, SB_READ_BACK, "sync", flags & MDB_NOSYNC ? "off" : "on");
    host->effective(args->report, SB_READ_BACK, "readahead", flags & MDB_NORDAHEAD ? "off" : "on");
    if (args->level == SB_LEVEL_NONE)
        host->keeps(args->report, SB_LEVEL_PROCESS);
    host->note(args->report, "LMDB has no cache of its own: it uses the page cache, uncapped.");
}

static int open_dbi(struct sb_store *store)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);

    if (rc)
        return lmdb_fail(store->host, "mdb_txn_begin", rc);
    rc = mdb_dbi_open(txn, NULL, 0, &store->dbi);
    if (rc) {
        mdb_txn_abort(txn);
        return lmdb_fail(store->host, "mdb_dbi_open", rc);
    }
    rc = mdb_txn_commit(txn);
    return rc ? lmdb_fail(store->host, "mdb_txn_commit", rc) : 0;
}

/* The library would make a new store where there is none. */
static int find_file(const struct sb_open *args)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/data.mdb", args->dir);

    if (args->mode == SB_CREATE)
        return 0;
    if (length < 0 || (size_t)length >= sizeof(path))
        return args->host->fail(SB_ERR_FAILED, ENAMETOOLONG, "lmdb: path too long: %s", args->dir);
    if (access(path, F_OK))
        return args->host->fail(SB_ERR_FAILED, errno, "data.mdb: %s", strerror(errno));
    return 0;
}

static int lmdb_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct lmdb_options *options = args->options;
    struct sb_store *store = calloc(1, sizeof(*store));
    int rc;

    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "lmdb: out of memory");
    store->host = args->host;
    rc = find_file(args);
    if (rc)
        goto out;
    rc = mdb_env_create(&store->env);
    if (rc) {
        rc = lmdb_fail(store->host, "mdb_env_create", rc);
        goto out;
    }
    rc = mdb_env_set_mapsize(store->env, map_bytes(args, options));
    if (rc) {
        rc = lmdb_fail(store->host, "mdb_env_set_mapsize", rc);
        goto out;
    }
    rc = mdb_env_open(store->env, args->dir, env_flags(args, options), 0644);
    if (rc) {
        rc = lmdb_fail(store->host, "mdb_env_open", rc);
        goto out;
    }
    rc = open_dbi(store);
    if (rc)
        goto out;
    describe(args, store);
    *storep = store;
    return 0;
out:
    if (store->env)
        mdb_env_close(store->env);
    free(store);
    return rc;
}

static int lmdb_close(struct sb_store *store)
{
    mdb_env_close(store->env);
    free(store);
    return 0;
}

static int lmdb_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "lmdb: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void lmdb_detach(struct sb_session *session)
{
    if (session->txn && session->txn != session->reader)
        mdb_txn_abort(session->txn);
    if (session->reader)
        mdb_txn_abort(session->reader);
    free(session);
}

static int lmdb_begin(struct sb_session *session, enum sb_txn kind)
{
    struct sb_store *store = session->store;
    int rc;

    if (kind == SB_WRITE) {
        rc = mdb_txn_begin(store->env, NULL, 0, &session->txn);
        return rc ? lmdb_fail(store->host, "mdb_txn_begin", rc) : 0;
    }
    if (session->reader)
        rc = mdb_txn_renew(session->reader);
    else
        rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &session->reader);
    if (rc)
        return lmdb_fail(store->host, "mdb_txn_begin", rc);
    session->txn = session->reader;
    return 0;
}

static int lmdb_commit(struct sb_session *session)
{
    MDB_txn *txn = session->txn;
    int rc;

    session->txn = NULL;
    if (txn == session->reader) {
        mdb_txn_reset(txn);
        return 0;
    }
    rc = mdb_txn_commit(txn); /* frees the transaction even when it fails */
    return rc ? lmdb_fail(session->store->host, "mdb_txn_commit", rc) : 0;
}

static int lmdb_abort(struct sb_session *session)
{
    MDB_txn *txn = session->txn;

    session->txn = NULL;
    if (txn == session->reader)
        mdb_txn_reset(txn);
    else
        mdb_txn_abort(txn);
    return 0;
}

static int put_flags(struct sb_session *session, struct sb_slice key, struct sb_slice value,
                     unsigned flags)
{
    MDB_val k = {key.size_bytes, (void *)(uintptr_t)key.data};
    MDB_val v = {value.size_bytes, (void *)(uintptr_t)value.data};
    int rc = mdb_put(session->txn, session->store->dbi, &k, &v, flags);

    return rc ? lmdb_fail(session->store->host, "mdb_put", rc) : 0;
}

static int lmdb_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    return put_flags(session, key, value, 0);
}

static int lmdb_append(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    return put_flags(session, key, value, MDB_APPEND);
}

static int lmdb_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    MDB_val k = {key.size_bytes, (void *)(uintptr_t)key.data};
    MDB_val v;
    int rc = mdb_get(session->txn, session->store->dbi, &k, &v);

    if (rc == MDB_NOTFOUND)
        return SB_NOTFOUND;
    if (rc)
        return lmdb_fail(session->store->host, "mdb_get", rc);
    valuep->data = v.mv_data;
    valuep->size_bytes = v.mv_size;
    return 0;
}

static int lmdb_del(struct sb_session *session, struct sb_slice key)
{
    MDB_val k = {key.size_bytes, (void *)(uintptr_t)key.data};
    int rc = mdb_del(session->txn, session->store->dbi, &k, NULL);

    if (rc == MDB_NOTFOUND)
        return SB_NOTFOUND;
    return rc ? lmdb_fail(session->store->host, "mdb_del", rc) : 0;
}

static int lmdb_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));
    int rc;

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "lmdb: out of memory");
    cursor->host = session->store->host;
    rc = mdb_cursor_open(session->txn, session->store->dbi, &cursor->cursor);
    if (rc) {
        free(cursor);
        return lmdb_fail(session->store->host, "mdb_cursor_open", rc);
    }
    *cursorp = cursor;
    return 0;
}

static int move(struct sb_cursor *cursor, MDB_val *k, MDB_cursor_op op, struct sb_slice *out[2])
{
    MDB_val v;
    int rc = mdb_cursor_get(cursor->cursor, k, &v, op);

    if (rc == MDB_NOTFOUND)
        return SB_NOTFOUND;
    if (rc)
        return lmdb_fail(cursor->host, "mdb_cursor_get", rc);
    *out[0] = (struct sb_slice){k->mv_data, k->mv_size};
    if (out[1])
        *out[1] = (struct sb_slice){v.mv_data, v.mv_size};
    return 0;
}

static int lmdb_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    MDB_val k;

    return move(cursor, &k, MDB_NEXT, (struct sb_slice *[]){keyp, valuep});
}

static int lmdb_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    MDB_val k = {key.size_bytes, (void *)(uintptr_t)key.data};

    /* LMDB has no empty key: everything is at or after it. */
    return move(cursor, &k, key.size_bytes ? MDB_SET_RANGE : MDB_FIRST,
                (struct sb_slice *[]){keyp, valuep});
}

static void lmdb_cursor_close(struct sb_cursor *cursor)
{
    mdb_cursor_close(cursor->cursor);
    free(cursor);
}

static int lmdb_sync(struct sb_store *store)
{
    int rc = mdb_env_sync(store->env, 1);

    return rc ? lmdb_fail(store->host, "mdb_env_sync", rc) : 0;
}

static int lmdb_counters(struct sb_store *store, const struct sb_host *host,
                         struct sb_report *report)
{
    MDB_stat stat;
    int rc = mdb_env_stat(store->env, &stat);

    if (rc)
        return lmdb_fail(store->host, "mdb_env_stat", rc);
    host->counter(report, "depth_levels", stat.ms_depth);
    host->counter(report, "branch_pages", stat.ms_branch_pages);
    host->counter(report, "leaf_pages", stat.ms_leaf_pages);
    host->counter(report, "overflow_pages", stat.ms_overflow_pages);
    host->counter(report, "entries", stat.ms_entries);
    return 0;
}

static int lmdb_tool(const struct sb_open *args, const char *verb)
{
    const struct sb_host *host = args->host;
    struct sb_store *store = NULL;
    MDB_envinfo info;
    MDB_stat stat;
    int rc;

    if (strcmp(verb, "stat") != 0)
        return host->fail(SB_ERR_UNSUPPORTED, 0, "lmdb has no tool '%s'; it has 'stat'", verb);
    rc = lmdb_open(args, &store);
    if (rc)
        return rc;
    (void)mdb_env_stat(store->env, &stat);
    (void)mdb_env_info(store->env, &info);
    host->print(args->report, "page size: %u bytes", stat.ms_psize);
    host->print(args->report, "depth: %u levels", stat.ms_depth);
    host->print(args->report, "branch pages: %zu", stat.ms_branch_pages);
    host->print(args->report, "leaf pages: %zu", stat.ms_leaf_pages);
    host->print(args->report, "overflow pages: %zu", stat.ms_overflow_pages);
    host->print(args->report, "entries: %zu", stat.ms_entries);
    host->print(args->report, "pages used: %zu", info.me_last_pgno + 1);
    host->print(args->report, "map size: %zu bytes", info.me_mapsize);
    return lmdb_close(store);
}

static const struct sb_option lmdb_options_table[] = {
    {"writemap", SB_OPTION_BOOL, NULL, NULL, 0, 1, NULL,
     "write through the memory map instead of pwrite", offsetof(struct lmdb_options, writemap)},
    {"readahead", SB_OPTION_BOOL, NULL, "on", 0, 1, NULL,
     "let the kernel read ahead; off helps random reads of data larger than memory",
     offsetof(struct lmdb_options, readahead)},
    {"mapsize", SB_OPTION_SIZE, "bytes", NULL, 1 << 20, INT64_MAX, NULL,
     "address space reserved for the map; default: 4 times the planned data, at least 1 GiB",
     offsetof(struct lmdb_options, mapsize_bytes)},
    {0},
};

static const struct sb_driver lmdb_drivers[] = {
    {
        .name = "lmdb",
        .summary = "LMDB: copy-on-write B+tree in a memory map",
        .caps = SB_CAP_ORDERED | SB_CAP_TXN | SB_CAP_SNAPSHOT | SB_CAP_OWN_WRITES | SB_CAP_READERS |
                SB_CAP_WRITERS | SB_CAP_ZERO_COPY | SB_CAP_PERSISTENT | SB_CAP_APPEND |
                SB_CAP_DELETE_MISS,
        .levels = SB_LEVELS_ALL,
        .key_bytes_min = 1,
        .key_bytes_max = 511,
        .value_bytes_max = UINT32_MAX,
        .options = lmdb_options_table,
        .options_bytes = sizeof(struct lmdb_options),
        .version = lmdb_version,
        .open = lmdb_open,
        .close = lmdb_close,
        .attach = lmdb_attach,
        .detach = lmdb_detach,
        .begin = lmdb_begin,
        .commit = lmdb_commit,
        .abort = lmdb_abort,
        .put = lmdb_put,
        .get = lmdb_get,
        .del = lmdb_del,
        .append = lmdb_append,
        .cursor_open = lmdb_cursor_open,
        .cursor_next = lmdb_cursor_next,
        .cursor_close = lmdb_cursor_close,
        .cursor_seek = lmdb_cursor_seek,
        .sync = lmdb_sync,
        .counters = lmdb_counters,
        .tool = lmdb_tool,
    },
};

SB_MODULE(lmdb_drivers);
