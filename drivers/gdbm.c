/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gdbm.c -- GNU dbm: an extendible hash in one file (driver `gdbm`).
 *
 * Levels: `none` only. A store is in the file, through the mapping or write(2), when gdbm_store
 * returns, but not in an order that survives a kill. An overwrite frees the old record before it
 * places the new one, mostly on the same bytes, and the bucket that says how many follows later: a
 * kill between them tears or loses the acknowledged record, and it can damage others, with or
 * without the map. gdbm_recover rebuilds a file whose every read fails, and SB_RECOVER calls it,
 * but it cannot bring those back: in loops of kills during puts, overwrites and deletes one or two
 * in a hundred lost acknowledged data, also with gdbm_sync in every commit. The option sync=on does
 * that at level none, for those who want its price. The flag GDBM_SYNC is not offered: it flushes
 * only when the header or the directory has changed. gdbm_failure_atomic would keep `power`, but
 * only where the file system can clone files, and is not offered.
 *
 * The library has no locks between threads: one session works at a time.
 */
#include "driver.h"

#include <errno.h>
#include <gdbm.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file_name[] = "data.gdbm";

/* The library counts bytes in int and adds the two sizes of a record. */
enum { KEY_BYTES_MAX = 1 << 29, VALUE_BYTES_MAX = 1 << 30 };
enum { BLOCK_BYTES_MIN = 512, BLOCK_BYTES_MAX = 1 << 20, CACHE_BUCKETS_MIN = 4 };
enum { TEXT_BYTES = 256 };

struct gdbm_options {
    int64_t sync, block_bytes, mmap, preread, coalesce, centfree;
};

struct sb_store {
    const struct sb_host *host;
    GDBM_FILE file;
    bool flush; /* sync=on */
};

struct sb_session {
    struct sb_store *store;
    char *value; /* of the last get, malloc'ed by the library */
};

struct sb_cursor {
    struct sb_store *store;
    datum key; /* the current one, malloc'ed by the library; dptr is NULL before the first */
    char *value;
    bool ended;
};

static enum sb_code code_of(gdbm_error error, int system_error)
{
    if (gdbm_check_syserr(error) && (system_error == ENOSPC || system_error == EDQUOT))
        return SB_ERR_FULL;
    switch (error) {
    case GDBM_MALLOC_ERROR:
        return SB_ERR_NOMEM;
    case GDBM_DIR_OVERFLOW:
        return SB_ERR_LIMIT;
    case GDBM_CANT_BE_READER:
    case GDBM_CANT_BE_WRITER:
        return SB_ERR_BUSY;
    case GDBM_BAD_MAGIC_NUMBER:
    case GDBM_BYTE_SWAPPED:
    case GDBM_BAD_FILE_OFFSET:
    case GDBM_FILE_EOF:
    case GDBM_NEED_RECOVERY:
    case GDBM_BAD_BUCKET:
    case GDBM_BAD_HEADER:
    case GDBM_BAD_AVAIL:
    case GDBM_BAD_HASH_TABLE:
    case GDBM_BAD_DIR_ENTRY:
    case GDBM_BUCKET_CACHE_CORRUPTED:
    case GDBM_BAD_HASH_ENTRY:
        return SB_ERR_CORRUPT;
    default:
        return SB_ERR_FAILED;
    }
}

static int fail_call(const struct sb_host *host, GDBM_FILE file, const char *call)
{
    gdbm_error error = gdbm_last_errno(file);

    return host->fail(code_of(error, gdbm_last_syserr(file)), error, "%s: %s", call,
                      gdbm_db_strerror(file));
}

static const char *version(void)
{
    return gdbm_version;
}

/* ---- open ---------------------------------------------------------------------------------- */

static int open_file(const struct sb_open *args, int flags, GDBM_FILE *filep)
{
    const struct gdbm_options *options = args->options;
    int block_bytes = options->block_bytes == SB_OPTION_UNSET ? 0 : (int)options->block_bytes;
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/%s", args->dir, file_name);
    gdbm_error error;
    int system_error;

    if (length < 0 || (size_t)length >= sizeof(path))
        return args->host->fail(SB_ERR_FAILED, ENAMETOOLONG, "gdbm: %s: path too long", args->dir);
    if (!options->mmap)
        flags |= GDBM_NOMMAP;
    if (options->preread)
        flags |= GDBM_PREREAD;
    /* With a function for fatal errors the library would exit after calling it. */
    *filep = gdbm_open(path, block_bytes, flags | GDBM_CLOEXEC, 0644, NULL);
    if (*filep)
        return 0;
    system_error = errno;
    error = gdbm_errno;
    if (gdbm_check_syserr(error))
        return args->host->fail(code_of(error, system_error), error, "gdbm_open: %s: %s",
                                gdbm_strerror(error), strerror(system_error));
    return args->host->fail(code_of(error, 0), error, "gdbm_open: %s", gdbm_strerror(error));
}

static int recover(const struct sb_open *args, struct sb_store *store)
{
    gdbm_recovery result = {0};

    /* It checks the file first and rebuilds it only if that finds something. */
    if (gdbm_recover(store->file, &result, GDBM_RCVR_DEFAULT))
        return fail_call(store->host, store->file, "gdbm_recover");
    if (result.failed_keys || result.failed_buckets)
        store->host->note(args->report, "gdbm_recover gave up %zu records and %zu buckets.",
                          result.failed_keys, result.failed_buckets);
    return 0;
}

/* The cache counts buckets of one block each, and rounds up to a power of two: the greatest power
 * that fits the budget is passed. Any number switches off the automatic growth. */
static size_t cache_buckets(uint64_t cache_bytes, int block_bytes)
{
    uint64_t budget = cache_bytes / (uint64_t)block_bytes;
    uint64_t buckets = CACHE_BUCKETS_MIN;

    while (buckets <= budget / 2)
        buckets *= 2;
    return (size_t)buckets;
}

static int set_options(const struct sb_open *args, struct sb_store *store)
{
    const struct gdbm_options *options = args->options;
    int coalesce = (int)options->coalesce;
    int centfree = (int)options->centfree;
    int block_bytes = 0;
    size_t buckets;

    if (coalesce && gdbm_setopt(store->file, GDBM_SETCOALESCEBLKS, &coalesce, sizeof(coalesce)))
        return fail_call(store->host, store->file, "gdbm_setopt(GDBM_SETCOALESCEBLKS)");
    if (centfree && gdbm_setopt(store->file, GDBM_SETCENTFREE, &centfree, sizeof(centfree)))
        return fail_call(store->host, store->file, "gdbm_setopt(GDBM_SETCENTFREE)");
    if (args->profile == SB_PROFILE_DEFAULT || !args->cache_bytes)
        return 0;
    if (gdbm_setopt(store->file, GDBM_GETBLOCKSIZE, &block_bytes, sizeof(block_bytes)) ||
        block_bytes <= 0)
        return fail_call(store->host, store->file, "gdbm_setopt(GDBM_GETBLOCKSIZE)");
    buckets = cache_buckets(args->cache_bytes, block_bytes);
    if (gdbm_setopt(store->file, GDBM_SETCACHESIZE, &buckets, sizeof(buckets)))
        return fail_call(store->host, store->file, "gdbm_setopt(GDBM_SETCACHESIZE)");
    return 0;
}

static int get_int(struct sb_store *store, int option)
{
    int value = -1;

    (void)gdbm_setopt(store->file, option, &value, sizeof(value));
    return value;
}

static void describe(const struct sb_open *args, struct sb_store *store)
{
    const struct sb_host *host = args->host;
    const struct gdbm_options *options = args->options;
    size_t buckets = 0;

    (void)gdbm_setopt(store->file, GDBM_GETCACHESIZE, &buckets, sizeof(buckets));
    host->effective(args->report, SB_READ_BACK, "block", "%d", get_int(store, GDBM_GETBLOCKSIZE));
    host->effective(args->report, SB_READ_BACK, "bucket_records", "%d",
                    get_int(store, GDBM_GETBUCKETSIZE));
    host->effective(args->report, SB_READ_BACK, "cache_buckets", "%zu", buckets);
    host->effective(args->report, SB_READ_BACK, "cache_grows", "%s",
                    get_int(store, GDBM_GETCACHEAUTO) ? "on" : "off");
    host->effective(args->report, SB_READ_BACK, "mmap", "%s",
                    get_int(store, GDBM_GETMMAP) ? "on" : "off");
    host->effective(args->report, SB_READ_BACK, "coalesce", "%s",
                    get_int(store, GDBM_GETCOALESCEBLKS) ? "on" : "off");
    /* Its getter answers the opposite in 1.23. */
    host->effective(args->report, SB_REQUESTED, "centfree", "%s", options->centfree ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "commit", "%s",
                    store->flush ? "gdbm_sync" : "nothing");
    if (store->flush)
        host->note(args->report, "Each commit is one gdbm_sync, which keeps no level: a crash "
                                 "inside it can damage records that were acknowledged.");
    host->note(
        args->report, "%s",
        get_int(store, GDBM_GETMMAP)
            ? "The cache holds buckets; the records are read through a map of the whole file, "
              "which is uncapped."
            : "The cache holds buckets; the records are read through the page cache.");
}

static int prepare(const struct sb_open *args, struct sb_store *store)
{
    int rc = 0;

    if (args->mode == SB_RECOVER)
        rc = recover(args, store);
    else if (gdbm_needs_recovery(store->file))
        rc = args->host->fail(SB_ERR_CORRUPT, GDBM_NEED_RECOVERY, "gdbm_open: %s",
                              gdbm_strerror(GDBM_NEED_RECOVERY));
    return rc ? rc : set_options(args, store);
}

static int store_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct gdbm_options *options = args->options;
    struct sb_store *store;
    int rc;

    if (args->level != SB_LEVEL_NONE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "gdbm: keeps level none only");
    store = calloc(1, sizeof(*store));
    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "gdbm: out of memory");
    store->host = args->host;
    store->flush = options->sync == 1;
    rc = open_file(args, args->mode == SB_CREATE ? GDBM_NEWDB : GDBM_WRITER, &store->file);
    if (!rc)
        rc = prepare(args, store);
    if (rc) {
        if (store->file)
            (void)gdbm_close(store->file);
        free(store);
        return rc;
    }
    describe(args, store);
    *storep = store;
    return 0;
}

static int store_close(struct sb_store *store)
{
    const struct sb_host *host = store->host;
    int rc = 0;

    if (gdbm_close(store->file)) /* frees the handle even when it fails */
        rc = host->fail(code_of(gdbm_errno, errno), gdbm_errno, "gdbm_close: %s",
                        gdbm_strerror(gdbm_errno));
    free(store);
    return rc;
}

/* ---- sessions and operations --------------------------------------------------------------- */

static int attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "gdbm: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void detach(struct sb_session *session)
{
    free(session->value);
    free(session);
}

static int store_sync(struct sb_store *store)
{
    return gdbm_sync(store->file) ? fail_call(store->host, store->file, "gdbm_sync") : 0;
}

static int commit(struct sb_session *session)
{
    return session->store->flush ? store_sync(session->store) : 0;
}

/* The library refuses a NULL pointer even for no bytes. */
static datum datum_of(struct sb_slice slice)
{
    const void *data = slice.data ? slice.data : "";

    return (datum){(char *)(uintptr_t)data, (int)slice.size_bytes};
}

static int put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;

    if (key.size_bytes > KEY_BYTES_MAX || value.size_bytes > VALUE_BYTES_MAX)
        return store->host->fail(SB_ERR_LIMIT, 0, "gdbm: keys end at %d bytes, values at %d",
                                 KEY_BYTES_MAX, VALUE_BYTES_MAX);
    if (gdbm_store(store->file, datum_of(key), datum_of(value), GDBM_REPLACE))
        return fail_call(store->host, store->file, "gdbm_store");
    return 0;
}

static int get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct sb_store *store = session->store;
    datum value;

    if (key.size_bytes > KEY_BYTES_MAX)
        return SB_NOTFOUND;
    value = gdbm_fetch(store->file, datum_of(key));
    free(session->value);
    session->value = value.dptr;
    if (!value.dptr)
        return gdbm_last_errno(store->file) == GDBM_ITEM_NOT_FOUND
                   ? SB_NOTFOUND
                   : fail_call(store->host, store->file, "gdbm_fetch");
    valuep->data = value.dptr;
    valuep->size_bytes = (size_t)value.dsize;
    return 0;
}

static int del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;

    if (key.size_bytes > KEY_BYTES_MAX)
        return SB_NOTFOUND;
    if (!gdbm_delete(store->file, datum_of(key)))
        return 0;
    return gdbm_last_errno(store->file) == GDBM_ITEM_NOT_FOUND
               ? SB_NOTFOUND
               : fail_call(store->host, store->file, "gdbm_delete");
}

/* ---- cursors ------------------------------------------------------------------------------- */

static int cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "gdbm: out of memory");
    cursor->store = session->store;
    *cursorp = cursor;
    return 0;
}

static void cursor_close(struct sb_cursor *cursor)
{
    free(cursor->key.dptr);
    free(cursor->value);
    free(cursor);
}

static int next_key(struct sb_cursor *cursor)
{
    GDBM_FILE file = cursor->store->file;
    datum key;

    if (cursor->ended)
        return SB_NOTFOUND;
    key = cursor->key.dptr ? gdbm_nextkey(file, cursor->key) : gdbm_firstkey(file);
    free(cursor->key.dptr);
    cursor->key = key;
    if (key.dptr)
        return 0;
    cursor->ended = true;
    return gdbm_last_errno(file) == GDBM_ITEM_NOT_FOUND
               ? SB_NOTFOUND
               : fail_call(cursor->store->host, file, "gdbm_nextkey");
}

/* The library iterates over keys only; a value takes a fetch, of a record it has just read. */
static int cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    datum value;
    int rc = next_key(cursor);

    if (rc)
        return rc;
    *keyp = (struct sb_slice){cursor->key.dptr, (size_t)cursor->key.dsize};
    if (!valuep)
        return 0;
    value = gdbm_fetch(cursor->store->file, cursor->key);
    free(cursor->value);
    cursor->value = value.dptr;
    if (!value.dptr)
        return fail_call(cursor->store->host, cursor->store->file, "gdbm_fetch");
    *valuep = (struct sb_slice){value.dptr, (size_t)value.dsize};
    return 0;
}

/* ---- the whole store ----------------------------------------------------------------------- */

static int counters(struct sb_store *store, const struct sb_host *host, struct sb_report *report)
{
    size_t lookups = 0, hits = 0, cached = 0, buckets = 0;

    if (gdbm_bucket_count(store->file, &buckets))
        return fail_call(store->host, store->file, "gdbm_bucket_count");
    gdbm_get_cache_stats(store->file, &lookups, &hits, &cached, NULL, 0);
    host->counter(report, "buckets", buckets);
    host->counter(report, "directory_bits", (uint64_t)get_int(store, GDBM_GETDIRDEPTH));
    host->counter(report, "cached_buckets", cached);
    host->counter(report, "cache_lookups", lookups);
    host->counter(report, "cache_hits", hits);
    return 0;
}

static void print_trouble(void *data, const char *format, ...) SB_PRINTF(2, 3);

static void print_trouble(void *data, const char *format, ...)
{
    const struct sb_open *args = data;
    char text[TEXT_BYTES];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    args->host->print(args->report, "%s", text);
}

static int tool_salvage(const struct sb_open *args, GDBM_FILE file)
{
    gdbm_recovery result = {.errfun = print_trouble, .data = (void *)(uintptr_t)args};
    int flags = GDBM_RCVR_ERRFUN | GDBM_RCVR_FORCE | GDBM_RCVR_BACKUP;

    if (gdbm_recover(file, &result, flags))
        return fail_call(args->host, file, "gdbm_recover");
    args->host->print(args->report, "recovered: %zu records in %zu buckets", result.recovered_keys,
                      result.recovered_buckets);
    args->host->print(args->report, "failed: %zu records, %zu buckets", result.failed_keys,
                      result.failed_buckets);
    args->host->print(args->report, "found twice: %zu records", result.duplicate_keys);
    args->host->print(args->report, "the former file: %s",
                      result.backup_name ? result.backup_name : "not kept");
    free(result.backup_name);
    return 0;
}

static int tool_stat(const struct sb_open *args, GDBM_FILE file)
{
    struct sb_store store = {.host = args->host, .file = file};
    gdbm_count_t records = 0;
    size_t buckets = 0;

    if (gdbm_count(file, &records) || gdbm_bucket_count(file, &buckets))
        return fail_call(args->host, file, "gdbm_count");
    args->host->print(args->report, "records: %llu", records);
    args->host->print(args->report, "buckets: %zu", buckets);
    args->host->print(args->report, "records in a bucket: at most %d",
                      get_int(&store, GDBM_GETBUCKETSIZE));
    args->host->print(args->report, "block size: %d bytes", get_int(&store, GDBM_GETBLOCKSIZE));
    args->host->print(args->report, "directory: %d bits", get_int(&store, GDBM_GETDIRDEPTH));
    return 0;
}

/* Reads every record and compares their number with what the buckets say. */
static int tool_verify(const struct sb_open *args, GDBM_FILE file)
{
    struct sb_store store = {.host = args->host, .file = file};
    struct sb_session session = {.store = &store};
    struct sb_cursor *cursor = NULL;
    gdbm_count_t records = 0, seen = 0;
    struct sb_slice key, value;
    int rc;

    if (gdbm_avail_verify(file))
        return fail_call(args->host, file, "gdbm_avail_verify");
    if (gdbm_count(file, &records))
        return fail_call(args->host, file, "gdbm_count");
    rc = cursor_open(&session, &cursor);
    if (rc)
        return rc;
    while (!(rc = cursor_next(cursor, &key, &value)))
        seen++;
    cursor_close(cursor);
    if (rc != SB_NOTFOUND)
        return rc;
    if (seen != records)
        return args->host->fail(SB_ERR_CORRUPT, 0, "gdbm: %llu of %llu records can be reached",
                                seen, records);
    args->host->print(args->report, "%s: no damage found in %llu records", file_name, records);
    return 0;
}

static int tool(const struct sb_open *args, const char *verb)
{
    static const struct {
        const char *verb;
        int flags;
        int (*run)(const struct sb_open *args, GDBM_FILE file);
    } tools[] = {{"verify", GDBM_READER, tool_verify},
                 {"stat", GDBM_READER, tool_stat},
                 {"salvage", GDBM_WRITER, tool_salvage}};
    GDBM_FILE file;
    size_t i;
    int rc;

    for (i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        if (strcmp(verb, tools[i].verb) != 0)
            continue;
        rc = open_file(args, tools[i].flags, &file);
        if (rc)
            return rc;
        rc = tools[i].run(args, file);
        (void)gdbm_close(file);
        return rc;
    }
    return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                            "gdbm has no tool '%s'; it has 'verify', 'stat' and 'salvage'", verb);
}

/* ---- the tables ---------------------------------------------------------------------------- */

static const struct sb_option options_table[] = {
    {"sync", SB_OPTION_BOOL, NULL, "off", 0, 1, NULL,
     "gdbm_sync in every commit; keeps no level, see the notes",
     offsetof(struct gdbm_options, sync)},
    {"block", SB_OPTION_SIZE, "bytes", NULL, BLOCK_BYTES_MIN, BLOCK_BYTES_MAX, NULL,
     "size of a bucket, a power of two; default: the file system's block",
     offsetof(struct gdbm_options, block_bytes)},
    {"mmap", SB_OPTION_BOOL, NULL, "on", 0, 1, NULL, "map the file instead of read and write",
     offsetof(struct gdbm_options, mmap)},
    {"preread", SB_OPTION_BOOL, NULL, "off", 0, 1, NULL, "fault the whole map in when it is made",
     offsetof(struct gdbm_options, preread)},
    {"coalesce", SB_OPTION_BOOL, NULL, "off", 0, 1, NULL, "merge neighbouring free blocks",
     offsetof(struct gdbm_options, coalesce)},
    {"centfree", SB_OPTION_BOOL, NULL, "off", 0, 1, NULL,
     "keep all free blocks in one pool instead of one for each bucket",
     offsetof(struct gdbm_options, centfree)},
    {0},
};

static const struct sb_driver gdbm_drivers[] = {
    {
        .name = "gdbm",
        .summary = "GNU dbm: extendible hash in one file",
        .caps = SB_CAP_OWN_WRITES | SB_CAP_PERSISTENT | SB_CAP_CACHE | SB_CAP_DELETE_MISS |
                SB_CAP_RECOVERY,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .key_bytes_max = KEY_BYTES_MAX,
        .value_bytes_max = VALUE_BYTES_MAX,
        .options = options_table,
        .options_bytes = sizeof(struct gdbm_options),
        .version = version,
        .open = store_open,
        .close = store_close,
        .attach = attach,
        .detach = detach,
        .commit = commit,
        .put = put,
        .get = get,
        .del = del,
        .cursor_open = cursor_open,
        .cursor_next = cursor_next,
        .cursor_close = cursor_close,
        .sync = store_sync,
        .settle = store_sync,
        .counters = counters,
        .tool = tool,
    },
};

SB_MODULE(gdbm_drivers);
