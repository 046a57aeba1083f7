/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bdb.c -- Berkeley DB 5.3: B+tree (`bdb-btree`) and extended linear hash (`bdb-hash`).
 *
 * The option `env` chooses the library's product: `none` is a database handle of its own, `cdb` a
 * Concurrent Data Store environment, `txn` a transactional one. `auto` takes the cheapest that
 * keeps the level: `none` at level none, `txn` above. Environments are private to the process, so
 * that their regions live on the heap and not in files that the kernel writes back.
 *
 * Levels. `none` and `cdb` keep changed pages in the cache; what reaches the file before a sync is
 * whatever was evicted, in no useful order, and there is no log to repair it. So they keep level
 * `none` only. A DB->sync in every commit puts each on the device, but writes the pages of a split
 * one by one: killed between two such writes, a hash lost 35 of 130 acknowledged records and a
 * B+tree could not read 16 of 262. The option sync=on does that at level none, for those who want
 * its price; `process` and `power` refuse both environments. `txn` is a write-ahead log and atomic
 * at each level: a commit stays in the log buffer (DB_TXN_NOSYNC), is written to the log
 * (DB_TXN_WRITE_NOSYNC), or written and flushed (the library's default). After a crash the
 * environment is opened with DB_RECOVER.
 *
 * Checkpoints are the application's duty. The committing session takes one when the log has grown
 * by `checkpoint` bytes (64 MiB) since the last, inside the measured time, and the driver takes one
 * in settle and one before close: a private environment that ends without one needs recovery.
 *
 * Threads. Handles are free-threaded and locks are taken only for more than one session. Writers of
 * `txn` put one after the other, so that they cannot deadlock, and commit side by side, so that the
 * library can group their flushes. A read outside a transaction can lose a deadlock: it is retried.
 */
#include "driver.h"

#include <db.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum env_choice { ENV_AUTO, ENV_NONE, ENV_CDB, ENV_TXN };
/* Above the library's default, 100, which reads outside transactions have. */
enum { WRITER_PRIORITY = 200 };

enum locks_choice { LOCKS_AUTO, LOCKS_ON, LOCKS_OFF };

static const char *const env_names[] = {"auto", "none", "cdb", "txn"};
static const char file_name[] = "data.db";

enum { KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB };
enum { PAGE_BYTES_MIN = 512, PAGE_BYTES_MAX = 64 * KIB, PAGE_BYTES_DEFAULT_MAX = 16 * KIB };
enum { CHECKPOINT_BYTES = 64 * MIB, CHECKPOINT_PROBES = 16, LOG_RECORD_BYTES = 128 };
enum { BUFFER_BYTES_MIN = 4 * KIB, TEXT_BYTES = 256, LOCK_TABLE_MAX = 1 << 20 };

/* The library adds a quarter to caches smaller than this (DB_ENV->set_cachesize, API reference),
 * and room for the heads of its hash chains, two pages. */
static const uint64_t cache_raised_below_bytes = 500ull * MIB;
enum { CACHE_HEADS_BYTES = 8 * KIB, CACHE_BYTES_SMALL = 64 * KIB };

/* Programmer's reference, "Hash access method specific configuration": pages have a header of 32
 * bytes and a pair costs 8 more than its data. What is longer than a quarter of a page goes to
 * pages of its own and leaves a reference. */
enum { HASH_PAGE_OVERHEAD = 32, HASH_PAIR_OVERHEAD = 8, HASH_OFFPAGE_PAIR_BYTES = 40 };

/* Tuned: the chapter on transaction tuning of the programmer's reference advises a log buffer that
 * holds the largest transactions; the default is 32 000 bytes. */
enum { TUNED_LOG_BUFFER_BYTES = 1 * MIB };

struct bdb_options {
    int64_t env, sync, page_bytes, minkey, ffactor;
    int64_t checkpoint_bytes, log_buffer_bytes, log_dsync, locks; /* of env=txn */
};

struct sb_store {
    const struct sb_host *host;
    DB_ENV *env; /* NULL with env=none */
    DB *db;
    enum env_choice mode;
    bool shared;               /* more than one session */
    bool locks;                /* transactions lock pages */
    bool flush;                /* sync=on: a commit is a DB->sync */
    uint32_t checkpoint_kib;   /* log written between two checkpoints; 0: none in commits */
    uint64_t probe_bytes;      /* written by a session before it asks whether one is due */
    pthread_mutex_t writer;    /* with `shared` and `locks`: held from begin to commit */
    pthread_mutex_t text_lock; /* guards `text` */
    char text[TEXT_BYTES];     /* the library's explanation of the last error */
};

struct buffer {
    void *data;
    uint32_t size_bytes;
};

struct sb_session {
    struct sb_store *store;
    DB_TXN *txn; /* of the open write bracket, or NULL */
    bool writing;
    uint64_t written_bytes; /* a low estimate of the log since the last probe */
    struct buffer value;
};

struct sb_cursor {
    struct sb_session *session;
    DBC *cursor;
    struct buffer key, value;
};

/* ---- errors -------------------------------------------------------------------------------- */

/* Without a callback the library would print to stderr. */
static void keep_text(const DB_ENV *env, const char *prefix, const char *text)
{
    struct sb_store *store = env->app_private;

    (void)prefix;
    if (!store)
        return;
    pthread_mutex_lock(&store->text_lock);
    (void)snprintf(store->text, sizeof(store->text), "%s", text);
    pthread_mutex_unlock(&store->text_lock);
}

static enum sb_code bdb_code(int rc)
{
    switch (rc) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return SB_ERR_FULL;
    case ENOMEM:
        return SB_ERR_NOMEM;
    case EAGAIN:
    case EBUSY:
        return SB_ERR_BUSY;
    case DB_RUNRECOVERY:
    case DB_PAGE_NOTFOUND:
    case DB_VERIFY_BAD:
    case DB_LOG_VERIFY_BAD:
        return SB_ERR_CORRUPT;
    default:
        return SB_ERR_FAILED;
    }
}

static int bdb_fail(struct sb_store *store, const char *call, int rc)
{
    char text[TEXT_BYTES];

    pthread_mutex_lock(&store->text_lock);
    memcpy(text, store->text, sizeof(text));
    store->text[0] = '\0';
    pthread_mutex_unlock(&store->text_lock);
    return store->host->fail(bdb_code(rc), rc, "%s: %s%s%s", call, db_strerror(rc),
                             text[0] ? ": " : "", text);
}

static int bdb_result(struct sb_store *store, const char *call, int rc)
{
    return rc ? bdb_fail(store, call, rc) : 0;
}

static int refuse(const struct sb_open *args, const char *why)
{
    return args->host->fail(SB_ERR_UNSUPPORTED, 0, "%s: %s", args->driver->name, why);
}

/* ---- open ---------------------------------------------------------------------------------- */

static const char *bdb_version(void)
{
    return db_version(NULL, NULL, NULL);
}

static bool is_set(int64_t option)
{
    return option != SB_OPTION_UNSET;
}

static int choose_mode(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;

    if (is_set(args->driver->variant == DB_HASH ? options->minkey : options->ffactor))
        return refuse(args, args->driver->variant == DB_HASH ? "minkey is an option of bdb-btree"
                                                             : "ffactor is an option of bdb-hash");
    store->shared = args->sessions > 1;
    store->mode = (enum env_choice)options->env;
    if (store->mode == ENV_AUTO)
        store->mode = args->level == SB_LEVEL_NONE ? ENV_NONE : ENV_TXN;
    if (store->mode == ENV_TXN) {
        if (options->sync)
            return refuse(args, "sync needs env=none or env=cdb; env=txn syncs at level power");
        store->locks =
            options->locks == LOCKS_ON || (options->locks == LOCKS_AUTO && store->shared);
        return 0;
    }
    if (args->level != SB_LEVEL_NONE)
        return refuse(args, "without a log a crash can damage the file, so env=none and env=cdb "
                            "keep level none only; use env=txn");
    if (is_set(options->checkpoint_bytes) || is_set(options->log_buffer_bytes) ||
        is_set(options->log_dsync) || options->locks != LOCKS_AUTO)
        return refuse(args, "checkpoint, log_buffer, log_dsync and locks need env=txn, which is "
                            "automatic at levels process and power only");
    store->flush = options->sync == 1;
    return 0;
}

/* What to pass so that the cache is as large as the budget, or 0 for the library's default. */
static uint64_t cache_bytes(const struct sb_open *args)
{
    uint64_t bytes = args->cache_bytes;

    if (args->profile == SB_PROFILE_DEFAULT)
        return 0;
    if (bytes / 5 * 4 >= cache_raised_below_bytes)
        return bytes;
    return (bytes > CACHE_BYTES_SMALL ? bytes - CACHE_HEADS_BYTES : bytes) / 5 * 4;
}

static int set_cache(const struct sb_open *args, struct sb_store *store)
{
    uint64_t bytes = cache_bytes(args);
    uint32_t gib = (uint32_t)(bytes / GIB);
    uint32_t rest_bytes = (uint32_t)(bytes % GIB);
    int rc;

    if (!bytes)
        return 0;
    if (store->env)
        rc = store->env->set_cachesize(store->env, gib, rest_bytes, 1);
    else
        rc = store->db->set_cachesize(store->db, gib, rest_bytes, 1);
    return bdb_result(store, "set_cachesize", rc);
}

static int set_log(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;
    int64_t buffer_bytes = options->log_buffer_bytes;
    DB_ENV *env = store->env;
    int rc = env->log_set_config(env, DB_LOG_AUTO_REMOVE, 1);

    if (!rc && options->log_dsync == 1)
        rc = env->log_set_config(env, DB_LOG_DSYNC, 1);
    if (rc)
        return bdb_fail(store, "DB_ENV->log_set_config", rc);
    if (!is_set(buffer_bytes) && args->profile == SB_PROFILE_TUNED)
        buffer_bytes = TUNED_LOG_BUFFER_BYTES;
    if (!is_set(buffer_bytes))
        return 0;
    rc = env->set_lg_bsize(env, (uint32_t)buffer_bytes);
    if (rc)
        return bdb_fail(store, "DB_ENV->set_lg_bsize", rc);
    /* The library wants a log file to hold four buffers; its default is 10 MiB. */
    if (buffer_bytes > 10 * MIB / 4)
        rc = env->set_lg_max(env, (uint32_t)buffer_bytes * 4);
    return bdb_result(store, "DB_ENV->set_lg_max", rc);
}

static int set_locks(const struct sb_open *args, struct sb_store *store)
{
    uint64_t pages = args->batch_records;
    DB_ENV *env = store->env;
    /* In a cycle of waits the reader is the one to lose, see bdb_get: writers have a priority, and
     * a reader has no write lock. */
    int rc = env->set_lk_detect(env, DB_LOCK_MINWRITE);

    if (rc)
        return bdb_fail(store, "DB_ENV->set_lk_detect", rc);
    /* A transaction locks about one page for each put. The table of a private environment grows
     * without a limit, but its hash chains would, too. */
    if (pages > LOCK_TABLE_MAX)
        pages = LOCK_TABLE_MAX;
    if (args->profile != SB_PROFILE_DEFAULT && pages > 1000)
        rc = env->set_lk_tablesize(env, (uint32_t)pages);
    return bdb_result(store, "DB_ENV->set_lk_tablesize", rc);
}

static int set_txn(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;
    DB_ENV *env = store->env;
    int64_t interval_bytes =
        is_set(options->checkpoint_bytes) ? options->checkpoint_bytes : (int64_t)CHECKPOINT_BYTES;
    int rc = 0;

    store->checkpoint_kib = (uint32_t)(interval_bytes / KIB);
    store->probe_bytes = interval_bytes ? (uint64_t)interval_bytes / CHECKPOINT_PROBES : UINT64_MAX;
    if (args->level == SB_LEVEL_NONE)
        rc = env->set_flags(env, DB_TXN_NOSYNC, 1);
    else if (args->level == SB_LEVEL_PROCESS)
        rc = env->set_flags(env, DB_TXN_WRITE_NOSYNC, 1);
    if (rc)
        return bdb_fail(store, "DB_ENV->set_flags", rc);
    rc = set_log(args, store);
    if (!rc && store->locks)
        rc = set_locks(args, store);
    return rc;
}

static int open_env(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;
    uint32_t flags = DB_CREATE | DB_PRIVATE | DB_INIT_MPOOL;
    int rc = db_env_create(&store->env, 0);

    if (rc)
        return bdb_fail(store, "db_env_create", rc);
    store->env->app_private = store;
    store->env->set_errcall(store->env, keep_text);
    rc = set_cache(args, store);
    if (!rc && store->mode == ENV_TXN)
        rc = set_txn(args, store);
    if (rc)
        return rc;
    /* The mutexes and hash chains of the cache are sized for pages of 4 KiB unless told. */
    if (is_set(options->page_bytes))
        rc = store->env->set_mp_pagesize(store->env, (uint32_t)options->page_bytes);
    if (rc)
        return bdb_fail(store, "DB_ENV->set_mp_pagesize", rc);
    if (store->mode == ENV_CDB)
        flags |= DB_INIT_CDB;
    else
        flags |= DB_INIT_TXN | DB_INIT_LOG;
    if (store->locks)
        flags |= DB_INIT_LOCK;
    if (store->shared)
        flags |= DB_THREAD;
    if (store->mode == ENV_TXN && args->mode == SB_RECOVER)
        flags |= DB_RECOVER;
    rc = store->env->open(store->env, args->dir, flags, 0644);
    return bdb_result(store, "DB_ENV->open", rc);
}

/* The library takes the file system's block, within bounds. */
static uint64_t page_bytes(const struct sb_open *args)
{
    const struct bdb_options *options = args->options;
    struct stat st;

    if (is_set(options->page_bytes))
        return (uint64_t)options->page_bytes;
    if (stat(args->dir, &st) || st.st_blksize < PAGE_BYTES_MIN)
        return PAGE_BYTES_MIN;
    return st.st_blksize > PAGE_BYTES_DEFAULT_MAX ? PAGE_BYTES_DEFAULT_MAX
                                                  : (uint64_t)st.st_blksize;
}

/* The expected number of records has an effect only together with the fill factor. */
static int set_hash(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;
    uint64_t records = args->profile == SB_PROFILE_DEFAULT ? 0 : args->expected_records;
    uint64_t page = page_bytes(args);
    uint64_t pair_bytes, fill = 0;
    int rc = 0;

    if (records > UINT32_MAX)
        records = UINT32_MAX;
    if (records && args->expected_bytes) {
        pair_bytes = args->expected_bytes / args->expected_records;
        if (pair_bytes > page / 4)
            pair_bytes = HASH_OFFPAGE_PAIR_BYTES;
        fill = (page - HASH_PAGE_OVERHEAD) / (pair_bytes + HASH_PAIR_OVERHEAD);
    }
    if (is_set(options->ffactor))
        fill = (uint64_t)options->ffactor;
    if (fill)
        rc = store->db->set_h_ffactor(store->db, (uint32_t)fill);
    if (rc)
        return bdb_fail(store, "DB->set_h_ffactor", rc);
    if (records && fill)
        rc = store->db->set_h_nelem(store->db, (uint32_t)records);
    return bdb_result(store, "DB->set_h_nelem", rc);
}

static int set_db(const struct sb_open *args, struct sb_store *store)
{
    const struct bdb_options *options = args->options;
    int rc = 0;

    if (is_set(options->page_bytes))
        rc = store->db->set_pagesize(store->db, (uint32_t)options->page_bytes);
    if (rc)
        return bdb_fail(store, "DB->set_pagesize", rc);
    if (args->driver->variant == DB_HASH)
        return set_hash(args, store);
    if (is_set(options->minkey))
        rc = store->db->set_bt_minkey(store->db, (uint32_t)options->minkey);
    return bdb_result(store, "DB->set_bt_minkey", rc);
}

static int file_path(const struct sb_open *args, char *path, size_t path_bytes)
{
    int length = snprintf(path, path_bytes, "%s/%s", args->dir, file_name);

    if (length < 0 || (size_t)length >= path_bytes)
        return args->host->fail(SB_ERR_FAILED, ENAMETOOLONG, "%s: %s", args->dir,
                                db_strerror(ENAMETOOLONG));
    return 0;
}

/* An environment leaves files of its own in a directory that has no store. */
static int find_file(const struct sb_open *args, struct sb_store *store)
{
    char path[4096];
    int rc = args->mode == SB_CREATE ? 0 : file_path(args, path, sizeof(path));

    if (rc || args->mode == SB_CREATE)
        return rc;
    return bdb_result(store, file_name, access(path, F_OK) ? errno : 0);
}

/* The file is opened for writing even to be read: the library maps small read-only files and would
 * read them around its cache. */
static int open_db(const struct sb_open *args, struct sb_store *store)
{
    DBTYPE type = (DBTYPE)args->driver->variant;
    uint32_t flags = args->mode == SB_CREATE ? DB_CREATE : 0;
    char path[4096];
    const char *name = store->env ? file_name : path;
    int rc = db_create(&store->db, store->env, 0);

    if (rc)
        return bdb_fail(store, "db_create", rc);
    rc = file_path(args, path, sizeof(path));
    if (rc)
        return rc;
    if (!store->env) {
        store->db->dbenv->app_private = store;
        store->db->set_errcall(store->db, keep_text);
        rc = set_cache(args, store);
    }
    if (!rc)
        rc = set_db(args, store);
    if (rc)
        return rc;
    if (store->shared)
        flags |= DB_THREAD;
    if (store->mode == ENV_TXN)
        flags |= DB_AUTO_COMMIT;
    rc = store->db->open(store->db, NULL, name, NULL, type, flags, 0644);
    return bdb_result(store, "DB->open", rc);
}

static const char *commit_name(const struct sb_open *args, const struct sb_store *store)
{
    if (store->mode != ENV_TXN)
        return store->flush ? "DB->sync" : "nothing";
    if (args->level == SB_LEVEL_NONE)
        return "DB_TXN_NOSYNC";
    return args->level == SB_LEVEL_PROCESS ? "DB_TXN_WRITE_NOSYNC" : "flush";
}

static void describe_log(const struct sb_open *args, struct sb_store *store)
{
    const struct sb_host *host = args->host;
    DB_ENV *env = store->env;
    uint32_t buffer_bytes = 0, file_bytes = 0;
    int dsync = 0;

    (void)env->get_lg_bsize(env, &buffer_bytes);
    (void)env->get_lg_max(env, &file_bytes);
    (void)env->log_get_config(env, DB_LOG_DSYNC, &dsync);
    host->effective(args->report, SB_READ_BACK, "log_buffer", "%u", buffer_bytes);
    host->effective(args->report, SB_READ_BACK, "log_file", "%u", file_bytes);
    host->effective(args->report, SB_READ_BACK, "log_dsync", dsync ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "locks", store->locks ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "checkpoint", "%llu",
                    (unsigned long long)store->checkpoint_kib * KIB);
}

static void describe_caps(const struct sb_open *args, const struct sb_store *store, uint32_t page)
{
    const struct sb_host *host = args->host;
    struct stat st;

    if (store->mode == ENV_NONE)
        host->lacks(args->report, SB_CAP_TXN | SB_CAP_WRITERS | SB_CAP_RECOVERY);
    else if (store->mode == ENV_CDB)
        host->lacks(args->report, SB_CAP_TXN | SB_CAP_RECOVERY);
    else if (store->shared && !store->locks)
        host->lacks(args->report, SB_CAP_WRITERS);
    if (store->flush)
        host->note(args->report,
                   "Each commit is one DB->sync, which keeps no level: a crash inside "
                   "it can damage the file, and there is no log to repair it.");
    if (store->mode == ENV_TXN && args->level == SB_LEVEL_POWER && !stat(args->dir, &st) &&
        page > (uint64_t)st.st_blksize)
        host->note(args->report, "Pages are larger than the file system's blocks: a loss of power "
                                 "can tear one, which the log cannot repair.");
}

static void describe(const struct sb_open *args, struct sb_store *store)
{
    const struct sb_host *host = args->host;
    uint32_t page = 0, gib = 0, bytes = 0, value = 0;
    int regions = 0;

    (void)store->db->get_pagesize(store->db, &page);
    if (store->env)
        (void)store->env->get_cachesize(store->env, &gib, &bytes, &regions);
    else
        (void)store->db->get_cachesize(store->db, &gib, &bytes, &regions);
    host->effective(args->report, SB_REQUESTED, "env", "%s", env_names[store->mode]);
    host->effective(args->report, SB_REQUESTED, "commit", "%s", commit_name(args, store));
    host->effective(args->report, SB_READ_BACK, "page", "%u", page);
    if (cache_bytes(args))
        host->effective(args->report, SB_REQUESTED, "cache_requested", "%llu",
                        (unsigned long long)cache_bytes(args));
    host->effective(args->report, SB_READ_BACK, "cache", "%llu",
                    (unsigned long long)gib * GIB + bytes);
    if (args->driver->variant == DB_HASH) {
        (void)store->db->get_h_ffactor(store->db, &value);
        host->effective(args->report, SB_READ_BACK, "ffactor", "%u", value);
        (void)store->db->get_h_nelem(store->db, &value);
        host->effective(args->report, SB_READ_BACK, "nelem", "%u", value);
    } else {
        (void)store->db->get_bt_minkey(store->db, &value);
        host->effective(args->report, SB_READ_BACK, "minkey", "%u", value);
    }
    if (store->mode == ENV_TXN)
        describe_log(args, store);
    describe_caps(args, store, page);
}

static void free_store(struct sb_store *store)
{
    pthread_mutex_destroy(&store->writer);
    pthread_mutex_destroy(&store->text_lock);
    free(store);
}

/* Closes what is open after a failure, which is already reported and must stay the one told. */
static void discard(struct sb_store *store)
{
    if (store->db)
        (void)store->db->close(store->db, DB_NOSYNC);
    if (store->env)
        (void)store->env->close(store->env, 0);
    free_store(store);
}

static int bdb_open(const struct sb_open *args, struct sb_store **storep)
{
    struct sb_store *store = calloc(1, sizeof(*store));
    int rc;

    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "%s: out of memory", args->driver->name);
    store->host = args->host;
    pthread_mutex_init(&store->writer, NULL);
    pthread_mutex_init(&store->text_lock, NULL);
    rc = choose_mode(args, store);
    if (!rc)
        rc = find_file(args, store);
    if (!rc && store->mode != ENV_NONE)
        rc = open_env(args, store);
    if (!rc)
        rc = open_db(args, store);
    if (rc) {
        discard(store);
        return rc;
    }
    describe(args, store);
    *storep = store;
    return 0;
}

static int checkpoint(struct sb_store *store)
{
    return bdb_result(store, "DB_ENV->txn_checkpoint",
                      store->env->txn_checkpoint(store->env, 0, 0, DB_FORCE));
}

static int bdb_close(struct sb_store *store)
{
    int rc = store->mode == ENV_TXN ? checkpoint(store) : 0;
    DB *db = store->db;
    DB_ENV *env = store->env;

    if (rc)
        (void)db->close(db, DB_NOSYNC);
    else
        rc = bdb_result(store, "DB->close", db->close(db, 0));
    if (env && rc)
        (void)env->close(env, 0);
    else if (env)
        rc = bdb_result(store, "DB_ENV->close", env->close(env, 0));
    free_store(store);
    return rc;
}

/* ---- sessions and commit units ------------------------------------------------------------- */

static int grow(struct sb_store *store, struct buffer *buffer, uint64_t size_bytes)
{
    uint64_t bytes = buffer->size_bytes ? buffer->size_bytes : BUFFER_BYTES_MIN;
    void *data;

    while (bytes < size_bytes)
        bytes *= 2;
    if (bytes > UINT32_MAX)
        bytes = UINT32_MAX;
    data = realloc(buffer->data, bytes);
    if (!data)
        return store->host->fail(SB_ERR_NOMEM, 0, "bdb: out of memory for %llu bytes",
                                 (unsigned long long)bytes);
    buffer->data = data;
    buffer->size_bytes = (uint32_t)bytes;
    return 0;
}

static int bdb_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));
    int rc;

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "bdb: out of memory");
    session->store = store;
    rc = grow(store, &session->value, BUFFER_BYTES_MIN);
    if (rc) {
        free(session);
        return rc;
    }
    *sessionp = session;
    return 0;
}

static void end_writing(struct sb_session *session)
{
    session->txn = NULL;
    session->writing = false;
    if (session->store->shared && session->store->locks)
        pthread_mutex_unlock(&session->store->writer);
}

static int bdb_begin(struct sb_session *session, enum sb_txn kind)
{
    struct sb_store *store = session->store;
    int rc;

    if (kind == SB_READ)
        return 0;
    if (store->mode == ENV_TXN) {
        if (store->shared && store->locks)
            pthread_mutex_lock(&store->writer);
        rc = store->env->txn_begin(store->env, NULL, &session->txn, 0);
        if (rc) {
            end_writing(session);
            return bdb_fail(store, "DB_ENV->txn_begin", rc);
        }
        if (store->shared && store->locks)
            rc = session->txn->set_priority(session->txn, WRITER_PRIORITY);
        if (rc) {
            (void)session->txn->abort(session->txn);
            end_writing(session);
            return bdb_fail(store, "DB_TXN->set_priority", rc);
        }
    }
    session->writing = true;
    return 0;
}

static int commit_txn(struct sb_session *session)
{
    struct sb_store *store = session->store;
    DB_TXN *txn = session->txn;
    int rc;

    /* The next writer may start: this one asks for no more locks, so it can block no cycle. */
    end_writing(session);
    rc = txn->commit(txn, 0);
    if (rc)
        return bdb_fail(store, "DB_TXN->commit", rc);
    if (session->written_bytes < store->probe_bytes)
        return 0;
    session->written_bytes = 0;
    rc = store->env->txn_checkpoint(store->env, store->checkpoint_kib, 0, 0);
    return bdb_result(store, "DB_ENV->txn_checkpoint", rc);
}

static int bdb_commit(struct sb_session *session)
{
    struct sb_store *store = session->store;

    if (!session->writing)
        return 0;
    if (session->txn)
        return commit_txn(session);
    session->writing = false;
    return store->flush ? bdb_result(store, "DB->sync", store->db->sync(store->db, 0)) : 0;
}

static int bdb_abort(struct sb_session *session)
{
    DB_TXN *txn = session->txn;
    int rc;

    if (!session->writing)
        return 0;
    if (!txn) {
        session->writing = false;
        return session->store->host->fail(SB_ERR_UNSUPPORTED, 0,
                                          "bdb: only env=txn can undo a batch");
    }
    rc = txn->abort(txn);
    end_writing(session);
    return bdb_result(session->store, "DB_TXN->abort", rc);
}

static void bdb_detach(struct sb_session *session)
{
    if (session->txn)
        (void)bdb_abort(session);
    free(session->value.data);
    free(session);
}

/* ---- operations ---------------------------------------------------------------------------- */

static DBT dbt(struct sb_slice slice)
{
    return (DBT){.data = (void *)(uintptr_t)slice.data, .size = (uint32_t)slice.size_bytes};
}

static DBT dbt_into(const struct buffer *buffer)
{
    return (DBT){.data = buffer->data, .ulen = buffer->size_bytes, .flags = DB_DBT_USERMEM};
}

static int bdb_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    DBT k = dbt(key);
    DBT v = dbt(value);
    int rc;

    if (key.size_bytes > UINT32_MAX || value.size_bytes > UINT32_MAX)
        return store->host->fail(SB_ERR_LIMIT, 0, "bdb: keys and values end at 4 GiB");
    session->written_bytes += key.size_bytes + value.size_bytes + LOG_RECORD_BYTES;
    rc = store->db->put(store->db, session->txn, &k, &v, 0);
    return rc ? bdb_fail(store, "DB->put", rc) : 0;
}

/* The unlikely ends of bdb_get. Returns 0 to try again. */
static int get_again(struct sb_session *session, int rc, uint32_t size_bytes)
{
    if (rc == DB_BUFFER_SMALL)
        return grow(session->store, &session->value, size_bytes);
    if (rc == DB_LOCK_DEADLOCK && !session->txn)
        return 0;
    return bdb_fail(session->store, "DB->get", rc);
}

static int bdb_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    DB *db = session->store->db;
    DBT k = dbt(key);
    int rc;

    do {
        DBT v = dbt_into(&session->value);

        rc = db->get(db, session->txn, &k, &v, 0);
        if (!rc) {
            valuep->data = v.data;
            valuep->size_bytes = v.size;
            return 0;
        }
        if (rc == DB_NOTFOUND)
            return SB_NOTFOUND;
        rc = get_again(session, rc, v.size);
    } while (!rc);
    return rc;
}

static int bdb_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;
    DBT k = dbt(key);
    int rc;

    session->written_bytes += key.size_bytes + LOG_RECORD_BYTES;
    rc = store->db->del(store->db, session->txn, &k, 0);
    if (rc == DB_NOTFOUND)
        return SB_NOTFOUND;
    return rc ? bdb_fail(store, "DB->del", rc) : 0;
}

/* ---- cursors ------------------------------------------------------------------------------- */

static void bdb_cursor_close(struct sb_cursor *cursor)
{
    if (cursor->cursor)
        (void)cursor->cursor->close(cursor->cursor);
    free(cursor->key.data);
    free(cursor->value.data);
    free(cursor);
}

static int bdb_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_store *store = session->store;
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));
    int rc;

    if (!cursor)
        return store->host->fail(SB_ERR_NOMEM, 0, "bdb: out of memory");
    cursor->session = session;
    rc = grow(store, &cursor->key, BUFFER_BYTES_MIN);
    if (!rc)
        rc = grow(store, &cursor->value, BUFFER_BYTES_MIN);
    if (!rc)
        rc = bdb_result(store, "DB->cursor",
                        store->db->cursor(store->db, session->txn, &cursor->cursor, 0));
    if (rc) {
        bdb_cursor_close(cursor);
        return rc;
    }
    *cursorp = cursor;
    return 0;
}

/* Moves to the next record, or with DB_SET_RANGE to the first whose key is at or after the first
 * `key_bytes` of cursor->key. */
static int move(struct sb_cursor *cursor, uint32_t flag, uint32_t key_bytes, struct sb_slice *keyp,
                struct sb_slice *valuep)
{
    struct sb_store *store = cursor->session->store;
    int rc;

    do {
        DBT k = dbt_into(&cursor->key);
        DBT v = dbt_into(&cursor->value);

        k.size = key_bytes;
        if (!valuep)
            v.flags |= DB_DBT_PARTIAL; /* no bytes of it, and no read of its overflow pages */
        rc = cursor->cursor->get(cursor->cursor, &k, &v, flag);
        if (!rc) {
            *keyp = (struct sb_slice){k.data, k.size};
            if (valuep)
                *valuep = (struct sb_slice){v.data, v.size};
            return 0;
        }
        if (rc == DB_NOTFOUND)
            return SB_NOTFOUND;
        if (rc != DB_BUFFER_SMALL)
            return bdb_fail(store, "DBC->get", rc);
        /* The cursor has not moved. When only the value did not fit, the key of the record found
         * may be in the buffer already: searching for it finds it again. */
        if (k.size > k.ulen)
            rc = grow(store, &cursor->key, k.size);
        else
            key_bytes = k.size;
        if (k.size <= k.ulen)
            rc = grow(store, &cursor->value, v.size);
    } while (!rc);
    return rc;
}

static int bdb_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    return move(cursor, DB_NEXT, 0, keyp, valuep);
}

static int bdb_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                           struct sb_slice *valuep)
{
    int rc;

    if (key.size_bytes > UINT32_MAX)
        return SB_NOTFOUND; /* never: memcmp order would need the record's first 4 GiB */
    if (key.size_bytes > cursor->key.size_bytes) {
        rc = grow(cursor->session->store, &cursor->key, key.size_bytes);
        if (rc)
            return rc;
    }
    if (key.size_bytes) /* the key may be the one that the cursor returned last */
        memmove(cursor->key.data, key.data, key.size_bytes);
    return move(cursor, DB_SET_RANGE, (uint32_t)key.size_bytes, keyp, valuep);
}

/* ---- the whole store ----------------------------------------------------------------------- */

static int bdb_sync(struct sb_store *store)
{
    if (store->mode == ENV_TXN)
        return bdb_result(store, "DB_ENV->log_flush", store->env->log_flush(store->env, NULL));
    return bdb_result(store, "DB->sync", store->db->sync(store->db, 0));
}

static int bdb_settle(struct sb_store *store)
{
    return store->mode == ENV_TXN ? checkpoint(store) : bdb_sync(store);
}

static int count_log(struct sb_store *store, const struct sb_host *host, struct sb_report *report)
{
    DB_LOG_STAT *log = NULL;
    int rc = store->env->log_stat(store->env, &log, 0);

    if (rc)
        return bdb_fail(store, "DB_ENV->log_stat", rc);
    host->counter(report, "log_bytes", (uint64_t)log->st_w_mbytes * MIB + log->st_w_bytes);
    host->counter(report, "log_writes", log->st_wcount);
    host->counter(report, "log_flushes", log->st_scount);
    free(log);
    return 0;
}

static int bdb_counters(struct sb_store *store, const struct sb_host *host,
                        struct sb_report *report)
{
    DB_ENV *env = store->db->dbenv; /* its own with env=none */
    DB_MPOOL_STAT *pool = NULL;
    int rc = env->memp_stat(env, &pool, NULL, 0);

    if (rc)
        return bdb_fail(store, "DB_ENV->memp_stat", rc);
    host->counter(report, "cache_hits", pool->st_cache_hit);
    host->counter(report, "cache_misses", pool->st_cache_miss);
    host->counter(report, "pages_read", pool->st_page_in);
    host->counter(report, "pages_written", pool->st_page_out);
    free(pool);
    return store->mode == ENV_TXN ? count_log(store, host, report) : 0;
}

/* ---- tools --------------------------------------------------------------------------------- */

struct tool {
    const struct sb_open *args;
    char line[TEXT_BYTES * 2]; /* the start of the line that is being written */
    size_t line_bytes;
};

static void print_text(const DB_ENV *env, const char *prefix, const char *text)
{
    struct tool *tool = env->app_private;

    (void)prefix;
    tool->args->host->print(tool->args->report, "%s", text);
}

/* A stream's write function that prints whole lines; a long one comes out in pieces. */
static ssize_t print_lines(void *cookie, const char *data, size_t size_bytes)
{
    struct tool *tool = cookie;
    size_t i;

    for (i = 0; i < size_bytes; i++) {
        bool end = data[i] == '\n';

        if (!end)
            tool->line[tool->line_bytes++] = data[i];
        if (!end && tool->line_bytes < sizeof(tool->line))
            continue;
        tool->args->host->print(tool->args->report, "%.*s", (int)tool->line_bytes, tool->line);
        tool->line_bytes = 0;
    }
    return (ssize_t)size_bytes;
}

static int tool_fail(const struct sb_open *args, const char *call, int rc)
{
    return args->host->fail(bdb_code(rc), rc, "%s: %s", call, db_strerror(rc));
}

/* DB->verify ends the handle, whatever it returns. */
static int tool_verify(struct tool *tool, DB *db, const char *path, bool salvage)
{
    cookie_io_functions_t functions = {.write = print_lines};
    FILE *lines = NULL;
    int rc;

    if (salvage) {
        lines = fopencookie(tool, "w", functions);
        if (!lines) {
            (void)db->close(db, DB_NOSYNC);
            return tool_fail(tool->args, "fopencookie", errno);
        }
    }
    rc = db->verify(db, path, NULL, lines, salvage ? DB_SALVAGE : 0);
    if (lines)
        (void)fclose(lines);
    if (rc)
        return tool_fail(tool->args, "DB->verify", rc);
    if (!salvage)
        tool->args->host->print(tool->args->report, "%s: no damage found", file_name);
    return 0;
}

static void print_btree(const struct sb_open *args, const DB_BTREE_STAT *stat)
{
    const struct sb_host *host = args->host;

    host->print(args->report, "page size: %u bytes", stat->bt_pagesize);
    host->print(args->report, "records: %u", stat->bt_ndata);
    host->print(args->report, "depth: %u levels", stat->bt_levels);
    host->print(args->report, "pages: %u", stat->bt_pagecnt);
    host->print(args->report, "internal pages: %u", stat->bt_int_pg);
    host->print(args->report, "leaf pages: %u", stat->bt_leaf_pg);
    host->print(args->report, "overflow pages: %u", stat->bt_over_pg);
    host->print(args->report, "free pages: %u", stat->bt_free);
    host->print(args->report, "free bytes in leaf pages: %llu",
                (unsigned long long)stat->bt_leaf_pgfree);
}

static void print_hash(const struct sb_open *args, const DB_HASH_STAT *stat)
{
    const struct sb_host *host = args->host;

    host->print(args->report, "page size: %u bytes", stat->hash_pagesize);
    host->print(args->report, "records: %u", stat->hash_ndata);
    host->print(args->report, "fill factor: %u", stat->hash_ffactor);
    host->print(args->report, "buckets: %u", stat->hash_buckets);
    host->print(args->report, "pages: %u", stat->hash_pagecnt);
    host->print(args->report, "overflow pages of buckets: %u", stat->hash_overflows);
    host->print(args->report, "pages of large items: %u", stat->hash_bigpages);
    host->print(args->report, "free pages: %u", stat->hash_free);
    host->print(args->report, "free bytes in buckets: %llu", (unsigned long long)stat->hash_bfree);
}

static int tool_stat(const struct sb_open *args, DB *db, const char *path)
{
    DBTYPE type = (DBTYPE)args->driver->variant;
    void *stat = NULL;
    int rc = db->open(db, NULL, path, NULL, type, DB_RDONLY, 0);

    if (rc) {
        (void)db->close(db, DB_NOSYNC);
        return tool_fail(args, "DB->open", rc);
    }
    rc = db->stat(db, NULL, &stat, 0);
    (void)db->close(db, DB_NOSYNC);
    if (rc)
        return tool_fail(args, "DB->stat", rc);
    if (type == DB_BTREE)
        print_btree(args, stat);
    else
        print_hash(args, stat);
    free(stat);
    return 0;
}

/* The tools read the file without its environment: complete for a store that was closed. */
static int bdb_tool(const struct sb_open *args, const char *verb)
{
    bool verify = !strcmp(verb, "verify");
    bool salvage = !strcmp(verb, "salvage");
    struct tool tool = {.args = args};
    char path[4096];
    DB *db;
    int rc;

    if (!verify && !salvage && strcmp(verb, "stat") != 0)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s has no tool '%s'; it has 'verify', 'stat' and 'salvage'",
                                args->driver->name, verb);
    rc = file_path(args, path, sizeof(path));
    if (rc)
        return rc;
    rc = db_create(&db, NULL, 0);
    if (rc)
        return tool_fail(args, "db_create", rc);
    db->dbenv->app_private = &tool;
    db->set_errcall(db, print_text);
    return verify || salvage ? tool_verify(&tool, db, path, salvage) : tool_stat(args, db, path);
}

/* ---- the tables ---------------------------------------------------------------------------- */

static const struct sb_option bdb_options_table[] = {
    {"env", SB_OPTION_ENUM, NULL, "auto", 0, 0, "auto|none|cdb|txn",
     "plain handle, Concurrent Data Store or transactions; auto: the cheapest for the level",
     offsetof(struct bdb_options, env)},
    {"sync", SB_OPTION_BOOL, NULL, "off", 0, 1, NULL,
     "env=none, env=cdb: DB->sync in every commit; keeps no level, see the notes",
     offsetof(struct bdb_options, sync)},
    {"page", SB_OPTION_SIZE, "bytes", NULL, PAGE_BYTES_MIN, PAGE_BYTES_MAX, NULL,
     "page size, a power of two; default: the file system's block",
     offsetof(struct bdb_options, page_bytes)},
    {"minkey", SB_OPTION_INT, "keys", NULL, 2, 100, NULL,
     "bdb-btree: keys that must fit in a page, longer items go to pages of their own; default 2",
     offsetof(struct bdb_options, minkey)},
    {"ffactor", SB_OPTION_INT, "records", NULL, 1, 10000, NULL,
     "bdb-hash: records in a bucket before it splits; default: from the planned size",
     offsetof(struct bdb_options, ffactor)},
    {"checkpoint", SB_OPTION_SIZE, "bytes", NULL, 0, 1ll << 40, NULL,
     "env=txn: log between two checkpoints, default 64MiB; 0: only in settle and close",
     offsetof(struct bdb_options, checkpoint_bytes)},
    {"log_buffer", SB_OPTION_SIZE, "bytes", NULL, 8 * KIB, 256 * MIB, NULL,
     "env=txn: log buffer; default 32000 bytes, tuned 1MiB",
     offsetof(struct bdb_options, log_buffer_bytes)},
    {"log_dsync", SB_OPTION_BOOL, NULL, NULL, 0, 1, NULL,
     "env=txn: flush the log by O_DSYNC instead of fdatasync",
     offsetof(struct bdb_options, log_dsync)},
    {"locks", SB_OPTION_ENUM, NULL, "auto", 0, 0, "auto|on|off",
     "env=txn: lock pages; auto: only for more than one session",
     offsetof(struct bdb_options, locks)},
    {0},
};

/* A file has up to 2^32 pages: 16 TiB of pages of 4 KiB. */
#define BDB_COMMON                                                                                 \
    .levels = SB_LEVELS_ALL, .key_bytes_max = UINT32_MAX, .value_bytes_max = UINT32_MAX,           \
    .database_bytes_max = 1ull << 44, .options = bdb_options_table,                                \
    .options_bytes = sizeof(struct bdb_options), .version = bdb_version, .open = bdb_open,         \
    .close = bdb_close, .attach = bdb_attach, .detach = bdb_detach, .begin = bdb_begin,            \
    .commit = bdb_commit, .abort = bdb_abort, .put = bdb_put, .get = bdb_get, .del = bdb_del,      \
    .cursor_open = bdb_cursor_open, .cursor_next = bdb_cursor_next,                                \
    .cursor_close = bdb_cursor_close, .sync = bdb_sync, .settle = bdb_settle,                      \
    .counters = bdb_counters, .tool = bdb_tool

enum {
    BDB_CAPS = SB_CAP_TXN | SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_WRITERS |
               SB_CAP_PERSISTENT | SB_CAP_CACHE | SB_CAP_DELETE_MISS | SB_CAP_RECOVERY
};

static const struct sb_driver bdb_drivers[] = {
    {
        .name = "bdb-btree",
        .summary = "Berkeley DB: B+tree, plain or transactional",
        .variant = DB_BTREE,
        .caps = BDB_CAPS | SB_CAP_ORDERED,
        .cursor_seek = bdb_cursor_seek,
        BDB_COMMON,
    },
    {
        .name = "bdb-hash",
        .summary = "Berkeley DB: extended linear hashing, plain or transactional",
        .variant = DB_HASH,
        .caps = BDB_CAPS,
        BDB_COMMON,
    },
};

SB_MODULE(bdb_drivers);
