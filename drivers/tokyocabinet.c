/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tokyocabinet.c -- Tokyo Cabinet: file hash (`tc-hash`), file B+tree (`tc-tree`) and the in-memory
 * hash map and tree of its utility API (`tc-mem-hash`, `tc-mem-tree`).
 *
 * Levels. `none` is plain puts. Those of tc-tree stay in the leaf cache. Those of tc-hash go to the
 * file at once, but a kill inside an overwrite or a delete can leave a file whose records are no
 * longer found; so neither keeps `process`. That takes a transaction per commit, which is also what
 * makes batches atomic. `power` is a transaction of a handle opened with HDBOTSYNC. The library
 * truncates its log after that without flushing the truncation: a full log that reappears after a
 * power failure would undo the acknowledged commit, so the driver flushes the log file too. One
 * tchdbsync per commit would be cheaper and is not offered: it leaves the same hole for a kill.
 * Before a recovery the driver trims a log record that a kill has cut; see trim_log.
 * async=on collects the puts of tc-hash in memory; after a kill the file can crash its reader.
 *
 * Threads. The library locks only after setmutex, which costs: it is called for more than one
 * session.
 */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tcbdb.h>
#include <tchdb.h>
#include <tcutil.h>
#include <unistd.h>

/* A counter that exists only in libraries built with the yields described in noyield.c. */
extern int _tc_dummy_cnt __attribute__((weak));

static const char preload_name[] = "storebench-preload-noyield.so";

enum variant { TC_HASH, TC_TREE, TC_MEM_HASH, TC_MEM_TREE };
enum txn_choice { TXN_AUTO, TXN_ON, TXN_OFF };
enum large_choice { LARGE_AUTO, LARGE_ON, LARGE_OFF };

/* The library counts bytes in int and adds the two sizes of a record: half a GiB and one GiB leave
 * room for headers. */
enum { KEY_BYTES_MAX = 1 << 29, VALUE_BYTES_MAX = 1 << 30, BUFFER_BYTES_MIN = 64 * 1024 };

/* The library's defaults (tchdb.h, tcbdb.h, tcutil.h). */
enum { HASH_BUCKETS = 131071, TREE_BUCKETS = 32749, MEM_BUCKETS = 65536 };
enum { LEAF_RECORDS = 128, NODE_RECORDS = 256, LEAF_BYTES_MAX = 16384 };

struct tc_options {
    int64_t yield, async, txn, large;
    int64_t bnum, apow, fpow, dfunit;
    int64_t xmsiz_bytes, rcnum;
    int64_t lmemb, nmemb, lsmax_bytes, lcnum, ncnum;
};

struct sb_store {
    const struct sb_host *host;
    TCHDB *hdb; /* one of these four */
    TCBDB *bdb;
    TCMDB *mdb;
    TCNDB *ndb;
    bool shared; /* more than one session */
    bool async;
    bool txn;                            /* commits are transactions */
    bool flush;                          /* they flush, level power */
    int wal_fd;                          /* the write-ahead log, to flush its truncation, or -1 */
    pthread_mutex_t writer;              /* with `shared` and `txn`: held during a transaction */
    pthread_mutex_t iterator;            /* with `shared`: guards the handle's only iterator */
    const struct sb_cursor *iterator_of; /* the cursor that moved it last */
};

struct sb_session {
    struct sb_store *store;
    bool writing;
    void *value; /* of the last get: a buffer for tc-hash, the library's malloc elsewhere */
    size_t value_bytes;
};

struct sb_cursor {
    struct sb_store *store;
    BDBCUR *tree;                      /* tc-tree */
    TCXSTR *key_string, *value_string; /* copies; tc-hash, and tc-tree with several sessions */
    void *key_owned, *value_owned;     /* the library's malloc; keys alone and in-memory stores */
    struct sb_slice key;               /* the current one, to find the place again */
    enum { AT_START, AT_RECORD, AT_END } at;
};

/* ---- common ------------------------------------------------------------------------------- */

static int tc_fail(const struct sb_host *host, const char *call, int ecode)
{
    enum sb_code code = SB_ERR_FAILED;

    if ((ecode == TCEWRITE || ecode == TCETRUNC || ecode == TCESYNC || ecode == TCEMMAP) &&
        (errno == ENOSPC || errno == EDQUOT))
        code = SB_ERR_FULL;
    else if (ecode == TCEMMAP && errno == ENOMEM)
        code = SB_ERR_NOMEM;
    else if (ecode == TCEMETA || ecode == TCERHEAD)
        code = SB_ERR_CORRUPT;
    else if (ecode == TCELOCK || ecode == TCETHREAD)
        code = SB_ERR_BUSY; /* TCETHREAD: this process has the file open already */
    return host->fail(code, ecode, "%s: %s", call, tcerrmsg(ecode));
}

static int hash_fail(const struct sb_store *store, const char *call)
{
    return tc_fail(store->host, call, tchdbecode(store->hdb));
}

static int tree_fail(const struct sb_store *store, const char *call)
{
    return tc_fail(store->host, call, tcbdbecode(store->bdb));
}

static int store_fail(const struct sb_store *store, const char *hash_call, const char *tree_call)
{
    return store->hdb ? hash_fail(store, hash_call) : tree_fail(store, tree_call);
}

/* The library asserts non-NULL pointers and takes int sizes. */
static inline const void *bytes_of(struct sb_slice slice)
{
    return slice.data ? slice.data : "";
}

static inline int size_of(struct sb_slice slice)
{
    return (int)slice.size_bytes;
}

static inline bool fits(struct sb_slice key, struct sb_slice value)
{
    return key.size_bytes <= KEY_BYTES_MAX && value.size_bytes <= VALUE_BYTES_MAX;
}

static int too_large(const struct sb_store *store)
{
    return store->host->fail(SB_ERR_LIMIT, 0, "tokyocabinet: a key or a value is too large");
}

static const char *tc_version(void)
{
    static char text[48];

    (void)snprintf(text, sizeof(text), "Tokyo Cabinet %s", tcversion);
    return text;
}

static const char *tc_preload(const void *options)
{
    const struct tc_options *o = options;

    return o->yield ? NULL : preload_name;
}

static int check_yield(const struct sb_open *args, const struct tc_options *options)
{
    bool yields = &_tc_dummy_cnt != NULL;

    if (!options->yield && !dlsym(RTLD_DEFAULT, "storebench_preload_noyield"))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "tokyocabinet: yield=off needs %s preloaded",
                                preload_name);
    args->host->effective(args->report, SB_READ_BACK, "yield",
                          !yields          ? "absent"
                          : options->yield ? "on"
                                           : "off");
    if (yields && options->yield)
        args->host->note(args->report,
                         "This Tokyo Cabinet is built with --enable-uyield, which "
                         "calls sched_yield to provoke races; yield=off runs without.");
    return 0;
}

/* Makes new names in the directory survive a power failure. */
static int sync_dir(const struct sb_open *args)
{
    int fd = open(args->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = 0;

    if (fd < 0 || fsync(fd) != 0)
        rc = args->host->fail(SB_ERR_FAILED, errno, "fsync %s: %s", args->dir, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

static int file_path(const struct sb_open *args, const char *name, char path[PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", args->dir, name);

    if (length < 0 || length >= PATH_MAX)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "tokyocabinet: path too long: %s",
                                args->dir);
    return 0;
}

static const char *store_name(const struct sb_open *args)
{
    return args->driver->variant == TC_HASH ? "store.tch" : "store.tcb";
}

static int log_path(const struct sb_open *args, char path[PATH_MAX])
{
    char name[32];

    (void)snprintf(name, sizeof(name), "%s.wal", store_name(args));
    return file_path(args, name, path);
}

static uint64_t number_at(const unsigned char *bytes, size_t count, bool big_endian)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number = number << 8 | bytes[big_endian ? i : count - 1 - i];
    return number;
}

/* The end of the last whole record of a log of `log_bytes`. A log starts with 8 bytes for the size
 * of the file; a record is 8 bytes of offset, 4 of size, and as many bytes. The first record is
 * always the file's header, 256 bytes at offset 0, which tells the byte order. */
static off_t log_end(int fd, off_t log_bytes)
{
    unsigned char head[12];
    off_t end = 8;
    bool big_endian = false;

    while (pread(fd, head, sizeof(head), end) == (ssize_t)sizeof(head)) {
        off_t next;

        if (end == 8)
            big_endian = number_at(head + 8, 4, true) == 256;
        next = end + (off_t)sizeof(head) + (off_t)number_at(head + 8, 4, big_endian);
        if (next > log_bytes)
            break;
        end = next;
    }
    return end;
}

/* A kill can cut the write of a log record where it crosses a page. The library then opens the file
 * without rolling the transaction back. What the last record was to guard had not been written yet,
 * so that record can go. */
static int trim_log(const struct sb_open *args)
{
    char path[PATH_MAX];
    struct stat status;
    int rc = log_path(args, path);
    int fd;

    if (rc)
        return rc;
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0; /* no log: nothing to roll back */
    if (fstat(fd, &status) == 0 && status.st_size > 8) {
        off_t end = log_end(fd, status.st_size);

        if (end < status.st_size && ftruncate(fd, end) != 0)
            rc = args->host->fail(SB_ERR_FAILED, errno, "ftruncate %s: %s", path, strerror(errno));
    }
    (void)close(fd);
    return rc;
}

/* Level power: makes the library create its log now, so that its name is on the
 * device before the first commit, and opens it to flush its truncation. */
static int prepare_log(const struct sb_open *args, struct sb_store *store)
{
    char path[PATH_MAX];
    bool ok;
    int rc;

    if (store->hdb)
        ok = tchdbtranbegin(store->hdb) && tchdbtrancommit(store->hdb);
    else
        ok = tcbdbtranbegin(store->bdb) && tcbdbtrancommit(store->bdb);
    if (!ok)
        return store_fail(store, "tchdbtrancommit", "tcbdbtrancommit");
    rc = log_path(args, path);
    if (rc)
        return rc;
    store->wal_fd = open(path, O_RDWR | O_CLOEXEC);
    if (store->wal_fd < 0)
        return args->host->fail(SB_ERR_FAILED, errno, "open %s: %s", path, strerror(errno));
    return 0;
}

static struct sb_store *store_new(const struct sb_open *args)
{
    struct sb_store *store = calloc(1, sizeof(*store));

    if (!store) {
        (void)args->host->fail(SB_ERR_NOMEM, 0, "tokyocabinet: out of memory");
        return NULL;
    }
    store->host = args->host;
    store->shared = args->sessions > 1;
    store->wal_fd = -1;
    (void)pthread_mutex_init(&store->writer, NULL);
    (void)pthread_mutex_init(&store->iterator, NULL);
    return store;
}

static void store_free(struct sb_store *store)
{
    if (store->wal_fd >= 0)
        (void)close(store->wal_fd);
    if (store->hdb)
        tchdbdel(store->hdb); /* closes it if need be */
    if (store->bdb)
        tcbdbdel(store->bdb);
    if (store->mdb)
        tcmdbdel(store->mdb);
    if (store->ndb)
        tcndbdel(store->ndb);
    (void)pthread_mutex_destroy(&store->writer);
    (void)pthread_mutex_destroy(&store->iterator);
    free(store);
}

static int tc_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "tokyocabinet: out of memory");
    session->store = store;
    if (store->hdb) {
        session->value_bytes = BUFFER_BYTES_MIN;
        session->value = malloc(session->value_bytes);
        if (!session->value) {
            free(session);
            return store->host->fail(SB_ERR_NOMEM, 0, "tokyocabinet: out of memory");
        }
    }
    *sessionp = session;
    return 0;
}

/* ---- sizing ------------------------------------------------------------------------------- */

/* What the user gave, else `fallback`. */
static int64_t choose(int64_t given, int64_t fallback)
{
    return given == SB_OPTION_UNSET ? fallback : given;
}

static uint64_t record_bytes(const struct sb_open *args)
{
    if (!args->expected_records || !args->expected_bytes)
        return 0;
    return args->expected_bytes / args->expected_records;
}

/* Two buckets a record: tchdb.h suggests half to four times the records. Never below the default.
 */
static int64_t hash_buckets(const struct sb_open *args, int64_t library_default)
{
    uint64_t buckets = 2 * args->expected_records;

    if (args->profile == SB_PROFILE_DEFAULT || buckets < (uint64_t)library_default)
        return library_default;
    return buckets > INT32_MAX ? INT32_MAX : (int64_t)buckets;
}

/* Records in a full leaf: lmemb of them, or as many as fill lsmax bytes. */
static uint64_t leaf_records(const struct sb_open *args, const struct tc_options *options)
{
    uint64_t records = (uint64_t)choose(options->lmemb, LEAF_RECORDS);
    uint64_t bytes_max = (uint64_t)choose(options->lsmax_bytes, LEAF_BYTES_MAX);
    uint64_t each = record_bytes(args);

    if (each && bytes_max / each < records)
        records = bytes_max / each;
    return records ? records : 1;
}

/* Two buckets a page, and pages half full: tcbdb.h suggests one to four times the pages. */
static int64_t tree_buckets(const struct sb_open *args, const struct tc_options *options)
{
    uint64_t buckets = 2 * (args->expected_records * 2 / leaf_records(args, options));

    if (args->profile == SB_PROFILE_DEFAULT || buckets < TREE_BUCKETS)
        return TREE_BUCKETS;
    return buckets > INT32_MAX ? INT32_MAX : (int64_t)buckets;
}

/* The leaf cache counts leaves. A cached record costs its bytes and about 48 more for its header,
 * its slot and malloc; seven eighths of the budget go to leaves, the rest to inner nodes. Without
 * an expected size a leaf counts as LEAF_BYTES_MAX bytes. */
static int32_t cached_leaves(const struct sb_open *args, const struct tc_options *options)
{
    uint64_t leaf_bytes = leaf_records(args, options) * (record_bytes(args) + 48);
    uint64_t leaves;

    if (args->profile == SB_PROFILE_DEFAULT || !args->cache_bytes)
        return 0;
    if (!record_bytes(args))
        leaf_bytes = LEAF_BYTES_MAX;
    leaves = args->cache_bytes / 8 * 7 / leaf_bytes;
    return leaves > INT32_MAX ? INT32_MAX : leaves ? (int32_t)leaves : 1;
}

static int32_t cached_nodes(const struct sb_open *args)
{
    uint64_t nodes = args->cache_bytes / 8 / (NODE_RECORDS * 64);

    if (args->profile == SB_PROFILE_DEFAULT || !args->cache_bytes)
        return 0;
    return nodes > INT32_MAX ? INT32_MAX : nodes ? (int32_t)nodes : 1;
}

/* 32-bit buckets end at 2 GiB: take 64-bit ones when twice the data, which leaves room for headers,
 * padding and holes, could pass that. */
static uint8_t large_option(const struct sb_open *args, const struct tc_options *options)
{
    bool large = options->large == LARGE_ON;

    if (options->large == LARGE_AUTO)
        large = args->expected_bytes + args->expected_records * 48 > 1ull << 30;
    return large ? HDBTLARGE : 0;
}

/* ---- tc-hash: opening --------------------------------------------------------------------- */

static int hash_tune(const struct sb_open *args, struct sb_store *store)
{
    const struct tc_options *o = args->options;
    int64_t xmsiz_bytes = o->xmsiz_bytes;
    bool ok = !store->shared || tchdbsetmutex(store->hdb);

    if (xmsiz_bytes == SB_OPTION_UNSET && args->profile != SB_PROFILE_DEFAULT && args->cache_bytes)
        xmsiz_bytes = args->cache_bytes > INT64_MAX ? INT64_MAX : (int64_t)args->cache_bytes;
    ok = ok &&
         tchdbtune(store->hdb, choose(o->bnum, hash_buckets(args, HASH_BUCKETS)),
                   (int8_t)choose(o->apow, -1), (int8_t)choose(o->fpow, -1), large_option(args, o));
    ok = ok && tchdbsetcache(store->hdb, (int32_t)o->rcnum);
    ok = ok && (xmsiz_bytes == SB_OPTION_UNSET || tchdbsetxmsiz(store->hdb, xmsiz_bytes));
    ok = ok && tchdbsetdfunit(store->hdb, (int32_t)o->dfunit);
    return ok ? 0 : hash_fail(store, "tchdbtune");
}

static void hash_describe(const struct sb_open *args, const struct sb_store *store)
{
    const struct sb_host *host = args->host;
    TCHDB *hdb = store->hdb;

    host->effective(args->report, SB_READ_BACK, "bnum", "%llu", (unsigned long long)tchdbbnum(hdb));
    host->effective(args->report, SB_READ_BACK, "align_bytes", "%u", tchdbalign(hdb));
    host->effective(args->report, SB_READ_BACK, "fbpmax", "%u", tchdbfbpmax(hdb));
    host->effective(args->report, SB_READ_BACK, "xmsiz", "%llu",
                    (unsigned long long)tchdbxmsiz(hdb));
    host->effective(args->report, SB_READ_BACK, "large", tchdbopts(hdb) & HDBTLARGE ? "on" : "off");
    host->effective(args->report, SB_READ_BACK, "rcnum", "%u", hdb->rcnum);
    host->effective(args->report, SB_READ_BACK, "dfunit", "%u", tchdbdfunit(hdb));
    host->effective(args->report, SB_READ_BACK, "mutex", tchdbhasmutex(hdb) ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "async", store->async ? "on" : "off");
    host->note(args->report,
               "xmsiz bounds the mapped head of the file, never less than the bucket "
               "array (%llu KiB); the rest goes through the page cache, uncapped.",
               (unsigned long long)(hdb->msiz / 1024));
}

/* ---- tc-tree: opening --------------------------------------------------------------------- */

static int tree_tune(const struct sb_open *args, struct sb_store *store)
{
    const struct tc_options *o = args->options;
    TCBDB *bdb = store->bdb;
    bool ok = !store->shared || tcbdbsetmutex(bdb);

    ok = ok && tcbdbtune(bdb, (int32_t)choose(o->lmemb, 0), (int32_t)choose(o->nmemb, 0),
                         choose(o->bnum, tree_buckets(args, o)), (int8_t)choose(o->apow, -1),
                         (int8_t)choose(o->fpow, -1), large_option(args, o));
    ok = ok && tcbdbsetcache(bdb, (int32_t)choose(o->lcnum, cached_leaves(args, o)),
                             (int32_t)choose(o->ncnum, cached_nodes(args)));
    ok = ok && (o->xmsiz_bytes == SB_OPTION_UNSET || tcbdbsetxmsiz(bdb, o->xmsiz_bytes));
    ok = ok && (o->lsmax_bytes == SB_OPTION_UNSET || tcbdbsetlsmax(bdb, (uint32_t)o->lsmax_bytes));
    ok = ok && tcbdbsetdfunit(bdb, (int32_t)o->dfunit);
    return ok ? 0 : tree_fail(store, "tcbdbtune");
}

static void tree_describe(const struct sb_open *args, const struct sb_store *store)
{
    const struct sb_host *host = args->host;
    TCBDB *bdb = store->bdb;

    host->effective(args->report, SB_READ_BACK, "bnum", "%llu", (unsigned long long)tcbdbbnum(bdb));
    host->effective(args->report, SB_READ_BACK, "align_bytes", "%u", tcbdbalign(bdb));
    host->effective(args->report, SB_READ_BACK, "fbpmax", "%u", tcbdbfbpmax(bdb));
    host->effective(args->report, SB_READ_BACK, "lmemb", "%u", tcbdblmemb(bdb));
    host->effective(args->report, SB_READ_BACK, "nmemb", "%u", tcbdbnmemb(bdb));
    host->effective(args->report, SB_READ_BACK, "lcnum", "%u", bdb->lcnum);
    host->effective(args->report, SB_READ_BACK, "ncnum", "%u", bdb->ncnum);
    host->effective(args->report, SB_READ_BACK, "lsmax", "%u", bdb->lsmax);
    host->effective(args->report, SB_READ_BACK, "xmsiz", "%llu",
                    (unsigned long long)tchdbxmsiz(bdb->hdb));
    host->effective(args->report, SB_READ_BACK, "large", tcbdbopts(bdb) & BDBTLARGE ? "on" : "off");
    host->effective(args->report, SB_READ_BACK, "dfunit", "%u", tcbdbdfunit(bdb));
    host->effective(args->report, SB_READ_BACK, "mutex", tcbdbhasmutex(bdb) ? "on" : "off");
    if (store->shared)
        host->lacks(args->report, SB_CAP_ZERO_COPY);
}

/* ---- both files: opening ------------------------------------------------------------------ */

static int check_options(const struct sb_open *args, const struct tc_options *options)
{
    const char *name = args->driver->name;

    if (options->txn == TXN_OFF && args->level != SB_LEVEL_NONE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s: only transactions survive a crash; txn=off is for level none",
                                name);
    if (options->async && (args->level != SB_LEVEL_NONE || options->txn == TXN_ON))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s: async=on keeps nothing: level none without txn=on only", name);
    if (options->async && args->mode == SB_RECOVER)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s: a file of async=on is unusable after a crash", name);
    return check_yield(args, options);
}

static int open_handle(const struct sb_open *args, struct sb_store *store, const char *path)
{
    int mode = HDBOWRITER | HDBOLCKNB; /* BDBOWRITER and so on have the same values */
    int rc;

    if (args->mode == SB_CREATE)
        mode |= HDBOCREAT | HDBOTRUNC;
    if (store->flush)
        mode |= HDBOTSYNC;
    if (args->driver->variant == TC_HASH) {
        store->hdb = tchdbnew();
        rc = hash_tune(args, store);
        return rc || tchdbopen(store->hdb, path, mode) ? rc : hash_fail(store, "tchdbopen");
    }
    store->bdb = tcbdbnew();
    rc = tree_tune(args, store);
    return rc || tcbdbopen(store->bdb, path, mode) ? rc : tree_fail(store, "tcbdbopen");
}

static void describe(const struct sb_open *args, const struct sb_store *store)
{
    const struct sb_host *host = args->host;

    if (store->hdb)
        hash_describe(args, store);
    else
        tree_describe(args, store);
    host->effective(args->report, SB_REQUESTED, "txn", store->txn ? "on" : "off");
    if (!store->txn)
        host->lacks(args->report, SB_CAP_TXN);
    if (args->level == SB_LEVEL_NONE && store->txn)
        host->keeps(args->report, SB_LEVEL_PROCESS);
}

static int file_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct tc_options *options = args->options;
    char path[PATH_MAX];
    struct sb_store *store;
    int rc = check_options(args, options);

    if (!rc)
        rc = file_path(args, store_name(args), path);
    if (!rc && args->mode == SB_RECOVER)
        rc = trim_log(args);
    if (rc)
        return rc;
    store = store_new(args);
    if (!store)
        return SB_ERR_NOMEM;
    store->async = args->driver->variant == TC_HASH && options->async;
    store->txn = options->txn == TXN_ON || args->level != SB_LEVEL_NONE;
    store->flush = args->level == SB_LEVEL_POWER;
    rc = open_handle(args, store, path);
    if (!rc && store->flush)
        rc = prepare_log(args, store);
    if (!rc && store->flush)
        rc = sync_dir(args);
    if (rc) {
        store_free(store);
        return rc;
    }
    describe(args, store);
    *storep = store;
    return 0;
}

/* ---- in memory: opening ------------------------------------------------------------------- */

static int mem_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct tc_options *options = args->options;
    struct sb_store *store;
    int64_t bnum = choose(options->bnum, hash_buckets(args, MEM_BUCKETS));
    int rc;

    if (args->mode != SB_CREATE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "%s: keeps its records in memory only",
                                args->driver->name);
    rc = check_yield(args, options);
    if (rc)
        return rc;
    store = store_new(args);
    if (!store)
        return SB_ERR_NOMEM;
    if (args->driver->variant == TC_MEM_HASH) {
        store->mdb = tcmdbnew2((uint32_t)bnum);
        args->host->effective(args->report, SB_REQUESTED, "bnum", "%lld", (long long)bnum);
    } else {
        store->ndb = tcndbnew();
    }
    *storep = store;
    return 0;
}

/* ---- closing, sessions, transactions ------------------------------------------------------ */

static int tc_close(struct sb_store *store)
{
    int rc = 0;

    if (store->hdb && !tchdbclose(store->hdb))
        rc = hash_fail(store, "tchdbclose");
    if (store->bdb && !tcbdbclose(store->bdb))
        rc = tree_fail(store, "tcbdbclose");
    store_free(store);
    return rc;
}

/* The library lets a second transaction poll with sleeps of a clock tick and more; a mutex wakes it
 * at once. */
static void lock_writer(struct sb_store *store)
{
    if (store->shared)
        (void)pthread_mutex_lock(&store->writer);
}

static void unlock_writer(struct sb_store *store)
{
    if (store->shared)
        (void)pthread_mutex_unlock(&store->writer);
}

static int flush_log(const struct sb_store *store)
{
    if (store->wal_fd >= 0 && fsync(store->wal_fd) != 0)
        return store->host->fail(SB_ERR_FAILED, errno, "fsync of the log: %s", strerror(errno));
    return 0;
}

static int tc_begin(struct sb_session *session, enum sb_txn kind)
{
    struct sb_store *store = session->store;

    if (kind == SB_READ)
        return 0;
    if (store->txn) {
        lock_writer(store);
        if (store->hdb ? !tchdbtranbegin(store->hdb) : !tcbdbtranbegin(store->bdb)) {
            unlock_writer(store);
            return store_fail(store, "tchdbtranbegin", "tcbdbtranbegin");
        }
    }
    session->writing = true;
    return 0;
}

static bool tran_abort(struct sb_store *store)
{
    return store->hdb ? tchdbtranabort(store->hdb) : tcbdbtranabort(store->bdb);
}

static int tc_commit(struct sb_session *session)
{
    struct sb_store *store = session->store;
    int rc;

    if (!session->writing)
        return 0;
    session->writing = false;
    if (!store->txn)
        return 0;
    if (store->hdb ? tchdbtrancommit(store->hdb) : tcbdbtrancommit(store->bdb)) {
        rc = flush_log(store);
    } else {
        rc = store_fail(store, "tchdbtrancommit", "tcbdbtrancommit");
        (void)tran_abort(store);
    }
    unlock_writer(store);
    return rc;
}

static int tc_abort(struct sb_session *session)
{
    struct sb_store *store = session->store;
    int rc = 0;

    if (!session->writing)
        return 0;
    session->writing = false;
    if (!store->txn)
        return 0;
    if (!tran_abort(store))
        rc = store_fail(store, "tchdbtranabort", "tcbdbtranabort");
    unlock_writer(store);
    return rc;
}

static void tc_detach(struct sb_session *session)
{
    (void)tc_abort(session);
    free(session->value);
    free(session);
}

/* ---- put, get, del ------------------------------------------------------------------------ */

static int hash_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    bool ok;

    if (!fits(key, value))
        return too_large(store);
    if (store->async)
        ok =
            tchdbputasync(store->hdb, bytes_of(key), size_of(key), bytes_of(value), size_of(value));
    else
        ok = tchdbput(store->hdb, bytes_of(key), size_of(key), bytes_of(value), size_of(value));
    return ok ? 0 : hash_fail(store, "tchdbput");
}

static int tree_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;

    if (!fits(key, value))
        return too_large(store);
    if (!tcbdbput(store->bdb, bytes_of(key), size_of(key), bytes_of(value), size_of(value)))
        return tree_fail(store, "tcbdbput");
    return 0;
}

static int mem_hash_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    if (!fits(key, value))
        return too_large(session->store);
    tcmdbput(session->store->mdb, bytes_of(key), size_of(key), bytes_of(value), size_of(value));
    return 0;
}

static int mem_tree_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    if (!fits(key, value))
        return too_large(session->store);
    tcndbput(session->store->ndb, bytes_of(key), size_of(key), bytes_of(value), size_of(value));
    return 0;
}

/* The buffer was filled to the brim: asks for the size and reads again, until the value fits with a
 * byte to spare. Another session may lengthen the value in between. */
static int hash_get_again(struct sb_session *session, struct sb_slice key, int *sizep)
{
    TCHDB *hdb = session->store->hdb;

    while (*sizep >= 0 && (size_t)*sizep >= session->value_bytes) {
        int size = tchdbvsiz(hdb, bytes_of(key), size_of(key));
        void *grown;

        if (size < 0)
            break;
        grown = realloc(session->value, (size_t)size + 1);
        if (!grown)
            return session->store->host->fail(SB_ERR_NOMEM, 0, "tc-hash: out of memory");
        session->value = grown;
        session->value_bytes = (size_t)size + 1;
        *sizep = tchdbget3(hdb, bytes_of(key), size_of(key), grown, size + 1);
    }
    return 0;
}

static int hash_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    TCHDB *hdb = session->store->hdb;
    int size;

    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(session->store);
    size = tchdbget3(hdb, bytes_of(key), size_of(key), session->value, (int)session->value_bytes);
    if (size >= 0 && (size_t)size >= session->value_bytes) {
        int rc = hash_get_again(session, key, &size);
        if (rc)
            return rc;
    }
    if (size < 0)
        return tchdbecode(hdb) == TCENOREC ? SB_NOTFOUND : hash_fail(session->store, "tchdbget3");
    valuep->data = session->value;
    valuep->size_bytes = (size_t)size;
    return 0;
}

/* tcbdbget3 returns a pointer into the cached leaf, which another session's call may drop: with
 * several sessions a copy is taken under the library's lock. */
static int tree_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct sb_store *store = session->store;
    const void *value;
    int size = 0;

    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(store);
    if (store->shared) {
        free(session->value);
        value = session->value = tcbdbget(store->bdb, bytes_of(key), size_of(key), &size);
    } else {
        value = tcbdbget3(store->bdb, bytes_of(key), size_of(key), &size);
    }
    if (!value)
        return tcbdbecode(store->bdb) == TCENOREC ? SB_NOTFOUND : tree_fail(store, "tcbdbget3");
    valuep->data = value;
    valuep->size_bytes = (size_t)size;
    return 0;
}

/* The library can only return a copy, which `*ownedp` keeps until the next one. Its tcmdbputproc
 * could look at the value in place, but takes the lock of a writer and measured slower than malloc.
 */
static struct sb_slice mem_find(struct sb_store *store, struct sb_slice key, void **ownedp)
{
    int size = 0;

    free(*ownedp);
    *ownedp = store->mdb ? tcmdbget(store->mdb, bytes_of(key), size_of(key), &size)
                         : tcndbget(store->ndb, bytes_of(key), size_of(key), &size);
    return (struct sb_slice){*ownedp, (size_t)size};
}

static int mem_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct sb_slice found;

    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(session->store);
    found = mem_find(session->store, key, &session->value);
    if (!found.data)
        return SB_NOTFOUND;
    *valuep = found;
    return 0;
}

static int tc_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;
    const void *bytes = bytes_of(key);
    int size = size_of(key);

    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(store);
    if (store->hdb) {
        if (tchdbout(store->hdb, bytes, size))
            return 0;
        return tchdbecode(store->hdb) == TCENOREC ? SB_NOTFOUND : hash_fail(store, "tchdbout");
    }
    if (store->bdb) {
        if (tcbdbout(store->bdb, bytes, size))
            return 0;
        return tcbdbecode(store->bdb) == TCENOREC ? SB_NOTFOUND : tree_fail(store, "tcbdbout");
    }
    if (store->mdb)
        return tcmdbout(store->mdb, bytes, size) ? 0 : SB_NOTFOUND;
    return tcndbout(store->ndb, bytes, size) ? 0 : SB_NOTFOUND;
}

/* ---- cursors ------------------------------------------------------------------------------ */

static void tc_cursor_close(struct sb_cursor *cursor)
{
    struct sb_store *store = cursor->store;

    if (store->shared)
        (void)pthread_mutex_lock(&store->iterator);
    if (store->iterator_of == cursor)
        store->iterator_of = NULL;
    if (store->shared)
        (void)pthread_mutex_unlock(&store->iterator);
    if (cursor->tree)
        tcbdbcurdel(cursor->tree);
    if (cursor->key_string)
        tcxstrdel(cursor->key_string);
    if (cursor->value_string)
        tcxstrdel(cursor->value_string);
    free(cursor->key_owned);
    free(cursor->value_owned);
    free(cursor);
}

static int tc_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_store *store = session->store;
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return store->host->fail(SB_ERR_NOMEM, 0, "tokyocabinet: out of memory");
    cursor->store = store;
    if (store->bdb)
        cursor->tree = tcbdbcurnew(store->bdb);
    if (store->hdb || (store->bdb && store->shared)) {
        cursor->key_string = tcxstrnew();
        cursor->value_string = tcxstrnew();
    }
    *cursorp = cursor;
    return 0;
}

static struct sb_slice string_slice(const TCXSTR *string)
{
    return (struct sb_slice){tcxstrptr(string), (size_t)tcxstrsize(string)};
}

static int tree_fetch(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    struct sb_store *store = cursor->store;
    int size;

    if (store->shared) {
        if (!tcbdbcurrec(cursor->tree, cursor->key_string, cursor->value_string))
            return tree_fail(store, "tcbdbcurrec");
        *keyp = string_slice(cursor->key_string);
        if (valuep)
            *valuep = string_slice(cursor->value_string);
        return 0;
    }
    keyp->data = tcbdbcurkey3(cursor->tree, &size);
    if (!keyp->data)
        return tree_fail(store, "tcbdbcurkey3");
    keyp->size_bytes = (size_t)size;
    if (!valuep)
        return 0;
    valuep->data = tcbdbcurval3(cursor->tree, &size);
    if (!valuep->data)
        return tree_fail(store, "tcbdbcurval3");
    valuep->size_bytes = (size_t)size;
    return 0;
}

static int tree_stopped(struct sb_cursor *cursor, const char *call)
{
    if (tcbdbecode(cursor->store->bdb) != TCENOREC)
        return tree_fail(cursor->store, call);
    cursor->at = AT_END;
    return SB_NOTFOUND;
}

static int tree_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    if (cursor->at == AT_END)
        return SB_NOTFOUND;
    if (cursor->at == AT_START ? !tcbdbcurfirst(cursor->tree) : !tcbdbcurnext(cursor->tree))
        return tree_stopped(cursor, "tcbdbcurnext");
    cursor->at = AT_RECORD;
    return tree_fetch(cursor, keyp, valuep);
}

static int tree_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(cursor->store);
    if (!tcbdbcurjump(cursor->tree, bytes_of(key), size_of(key)))
        return tree_stopped(cursor, "tcbdbcurjump");
    cursor->at = AT_RECORD;
    return tree_fetch(cursor, keyp, valuep);
}

/* The other three have one iterator per handle. The cursor that used it last just goes on; another
 * one first puts it back on its own key and steps over that. Returns false when the key is gone. */
static bool iterator_restore(struct sb_cursor *cursor)
{
    struct sb_store *store = cursor->store;
    const void *key = bytes_of(cursor->key);
    int size = size_of(cursor->key);
    void *skipped;

    if (store->hdb) {
        if (cursor->at == AT_START)
            return tchdbiterinit(store->hdb);
        if (!tchdbiterinit2(store->hdb, key, size))
            return false;
        skipped = tchdbiternext(store->hdb, &size);
    } else if (store->mdb) {
        if (cursor->at == AT_START) {
            tcmdbiterinit(store->mdb);
            return true;
        }
        tcmdbiterinit2(store->mdb, key, size);
        skipped = tcmdbiternext(store->mdb, &size);
    } else {
        if (cursor->at == AT_START) {
            tcndbiterinit(store->ndb);
            return true;
        }
        tcndbiterinit2(store->ndb, key, size);
        skipped = tcndbiternext(store->ndb, &size);
    }
    free(skipped);
    return skipped != NULL;
}

static bool iterator_take(struct sb_cursor *cursor)
{
    struct sb_store *store = cursor->store;
    bool ok = true;

    if (store->shared)
        (void)pthread_mutex_lock(&store->iterator);
    if (store->iterator_of != cursor) {
        ok = iterator_restore(cursor);
        store->iterator_of = cursor;
    }
    return ok;
}

static void iterator_give(struct sb_store *store)
{
    if (store->shared)
        (void)pthread_mutex_unlock(&store->iterator);
}

/* With the value the record is copied into two strings that grow once; without it the library reads
 * the key alone, which it can only return malloc'ed. */
static bool hash_step(struct sb_cursor *cursor, bool with_value)
{
    int size = 0;

    if (with_value) {
        if (!tchdbiternext3(cursor->store->hdb, cursor->key_string, cursor->value_string))
            return false;
        cursor->key = string_slice(cursor->key_string);
        return true;
    }
    free(cursor->key_owned);
    cursor->key_owned = tchdbiternext(cursor->store->hdb, &size);
    cursor->key = (struct sb_slice){cursor->key_owned, (size_t)size};
    return cursor->key_owned != NULL;
}

static int hash_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    struct sb_store *store = cursor->store;
    bool ok;

    if (cursor->at == AT_END)
        return SB_NOTFOUND;
    ok = iterator_take(cursor) && hash_step(cursor, valuep != NULL);
    iterator_give(store);
    if (!ok) {
        cursor->at = AT_END;
        return tchdbecode(store->hdb) == TCENOREC ? SB_NOTFOUND
                                                  : hash_fail(store, "tchdbiternext3");
    }
    cursor->at = AT_RECORD;
    *keyp = cursor->key;
    if (valuep)
        *valuep = string_slice(cursor->value_string);
    return 0;
}

/* The in-memory iterators return a malloc'ed key and no value: the value is looked up. */
static int mem_step(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    struct sb_store *store = cursor->store;
    int size = 0;

    free(cursor->key_owned);
    cursor->key_owned =
        store->mdb ? tcmdbiternext(store->mdb, &size) : tcndbiternext(store->ndb, &size);
    if (!cursor->key_owned) {
        cursor->at = AT_END;
        return SB_NOTFOUND;
    }
    cursor->at = AT_RECORD;
    cursor->key = (struct sb_slice){cursor->key_owned, (size_t)size};
    *keyp = cursor->key;
    if (valuep)
        *valuep = mem_find(store, cursor->key, &cursor->value_owned);
    return 0;
}

static int mem_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    int rc = SB_NOTFOUND;

    if (cursor->at == AT_END)
        return SB_NOTFOUND;
    if (iterator_take(cursor))
        rc = mem_step(cursor, keyp, valuep);
    iterator_give(cursor->store);
    return rc;
}

static bool key_before(struct sb_slice a, struct sb_slice b)
{
    size_t common = a.size_bytes < b.size_bytes ? a.size_bytes : b.size_bytes;
    int order = common ? memcmp(a.data, b.data, common) : 0;

    return order ? order < 0 : a.size_bytes < b.size_bytes;
}

static int mem_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                           struct sb_slice *valuep)
{
    struct sb_store *store = cursor->store;
    int rc;

    if (key.size_bytes > KEY_BYTES_MAX)
        return too_large(store);
    if (store->shared)
        (void)pthread_mutex_lock(&store->iterator);
    store->iterator_of = cursor;
    tcndbiterinit2(store->ndb, bytes_of(key), size_of(key));
    rc = mem_step(cursor, keyp, valuep);
    iterator_give(store);
    /* With no such record the library leaves the iterator where it was: on a smaller key. */
    if (rc == 0 && key_before(cursor->key, key)) {
        cursor->at = AT_END;
        rc = SB_NOTFOUND;
    }
    return rc;
}

/* ---- sync, counters, tool ----------------------------------------------------------------- */

static int tc_sync(struct sb_store *store)
{
    if (store->hdb && !tchdbsync(store->hdb))
        return hash_fail(store, "tchdbsync");
    if (store->bdb && !tcbdbsync(store->bdb))
        return tree_fail(store, "tcbdbsync");
    return 0;
}

static int tc_counters(struct sb_store *store, const struct sb_host *host, struct sb_report *report)
{
    if (store->hdb) {
        host->counter(report, "records", tchdbrnum(store->hdb));
        host->counter(report, "file_bytes", tchdbfsiz(store->hdb));
    } else if (store->bdb) {
        host->counter(report, "records", tcbdbrnum(store->bdb));
        host->counter(report, "file_bytes", tcbdbfsiz(store->bdb));
        host->counter(report, "leaf_pages", tcbdblnum(store->bdb));
        host->counter(report, "inner_pages", tcbdbnnum(store->bdb));
    } else {
        host->counter(report, "records",
                      store->mdb ? tcmdbrnum(store->mdb) : tcndbrnum(store->ndb));
        host->counter(report, "memory_bytes",
                      store->mdb ? tcmdbmsiz(store->mdb) : tcndbmsiz(store->ndb));
    }
    return 0;
}

static void print_stat(const struct sb_open *args, const struct sb_store *store)
{
    const struct sb_host *host = args->host;
    TCHDB *hdb = store->hdb ? store->hdb : store->bdb->hdb;
    uint64_t records = store->hdb ? tchdbrnum(hdb) : tcbdbrnum(store->bdb);

    host->print(args->report, "records: %llu", (unsigned long long)records);
    host->print(args->report, "file size: %llu bytes", (unsigned long long)tchdbfsiz(hdb));
    if (store->bdb) {
        host->print(args->report, "leaf pages: %llu", (unsigned long long)tcbdblnum(store->bdb));
        host->print(args->report, "inner pages: %llu", (unsigned long long)tcbdbnnum(store->bdb));
    }
    host->print(args->report, "buckets: %llu", (unsigned long long)tchdbbnum(hdb));
    host->print(args->report, "buckets used: %llu", (unsigned long long)tchdbbnumused(hdb));
    host->print(args->report, "alignment: %u bytes", tchdbalign(hdb));
    host->print(args->report, "64-bit addresses: %s", tchdbopts(hdb) & HDBTLARGE ? "yes" : "no");
}

/* "salvage" is the library's optimise call: it copies every record it can read into a new file. */
static int salvage(const struct sb_open *args, struct sb_store *store)
{
    if (store->hdb && !tchdboptimize(store->hdb, -1, -1, -1, UINT8_MAX))
        return hash_fail(store, "tchdboptimize");
    if (store->bdb && !tcbdboptimize(store->bdb, -1, -1, -1, -1, -1, UINT8_MAX))
        return tree_fail(store, "tcbdboptimize");
    args->host->print(args->report, "the file was rewritten");
    print_stat(args, store);
    return 0;
}

static int tc_tool(const struct sb_open *args, const char *verb)
{
    bool salvaging = strcmp(verb, "salvage") == 0;
    struct sb_store *store = NULL;
    int rc, closed;

    if (!salvaging && strcmp(verb, "stat") != 0)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s has no tool '%s'; it has 'stat' and 'salvage'",
                                args->driver->name, verb);
    rc = args->driver->open(args, &store);
    if (rc)
        return rc;
    if (salvaging)
        rc = salvage(args, store);
    else
        print_stat(args, store);
    closed = tc_close(store);
    return rc ? rc : closed;
}

/* ---- tables ------------------------------------------------------------------------------- */

#define OPTION(name, type, unit, default_value, min, max, choices, help, member)                   \
    {                                                                                              \
        name, type, unit, default_value, min, max, choices, help,                                  \
            offsetof(struct tc_options, member)                                                    \
    }
#define CHOICE(name, type, default_value, choices, help, member)                                   \
    OPTION(name, type, NULL, default_value, 0, 1, choices, help, member)
#define COUNT(name, unit, default_value, min, max, help, member)                                   \
    OPTION(name, SB_OPTION_INT, unit, default_value, min, max, NULL, help, member)
#define BYTES(name, min, max, help, member)                                                        \
    OPTION(name, SB_OPTION_SIZE, "bytes", NULL, min, max, NULL, help, member)

#define OPTION_YIELD                                                                               \
    CHOICE("yield", SB_OPTION_BOOL, "on", NULL,                                                    \
           "off: run without the yields of a library that is built to provoke races", yield)
#define OPTION_TXN                                                                                 \
    CHOICE("txn", SB_OPTION_ENUM, "auto", "auto|on|off",                                           \
           "commits are atomic transactions; auto: where the level needs them", txn)
#define OPTION_LARGE                                                                               \
    CHOICE("large", SB_OPTION_ENUM, "auto", "auto|on|off",                                         \
           "64-bit addresses, for files beyond 2 GiB; auto: by the planned data", large)
#define OPTION_APOW COUNT("apow", NULL, NULL, 0, 16, "records are aligned to 2^apow bytes", apow)
#define OPTION_FPOW COUNT("fpow", NULL, NULL, 0, 20, "the free block pool has 2^fpow slots", fpow)
#define OPTION_DFUNIT                                                                              \
    COUNT("dfunit", "steps", "0", 0, INT32_MAX, "unit of automatic defragmentation; 0: none",      \
          dfunit)

static const struct sb_option hash_options[] = {
    OPTION_YIELD,
    CHOICE("async", SB_OPTION_BOOL, "off", NULL,
           "collect puts in memory (tchdbputasync); level none only", async),
    OPTION_TXN,
    OPTION_LARGE,
    COUNT("bnum", "buckets", NULL, 1, INT32_MAX,
          "default: the library's 131071, or 2 per planned record if more", bnum),
    OPTION_APOW,
    OPTION_FPOW,
    OPTION_DFUNIT,
    BYTES("xmsiz", 0, INT64_MAX,
          "mapped head of the file; default: the cache budget, else the library's 64 MiB",
          xmsiz_bytes),
    COUNT("rcnum", "records", "0", 0, INT32_MAX, "record cache; 0: none, as the library ships",
          rcnum),
    {0},
};

static const struct sb_option tree_options[] = {
    OPTION_YIELD,
    OPTION_TXN,
    OPTION_LARGE,
    COUNT("bnum", "buckets", NULL, 1, INT32_MAX,
          "default: the library's 32749, or 2 per planned page if more", bnum),
    OPTION_APOW,
    OPTION_FPOW,
    OPTION_DFUNIT,
    BYTES("xmsiz", 0, INT64_MAX, "mapped head of the file; default: none, as the library ships",
          xmsiz_bytes),
    COUNT("lmemb", "records", NULL, 4, 1 << 20, "records in a leaf; the library's default is 128",
          lmemb),
    COUNT("nmemb", "pages", NULL, 4, 1 << 20,
          "children of an inner node; the library's default is 256", nmemb),
    BYTES("lsmax", 512, 1 << 30, "size at which a leaf splits; the library's default is 16 KiB",
          lsmax_bytes),
    COUNT("lcnum", "leaves", NULL, 64, INT32_MAX,
          "leaf cache; default: 7/8 of the cache budget, else the library's 1024", lcnum),
    COUNT("ncnum", "nodes", NULL, 64, INT32_MAX,
          "inner node cache; default: 1/8 of the cache budget, else the library's 512", ncnum),
    {0},
};

static const struct sb_option mem_hash_options[] = {
    OPTION_YIELD,
    COUNT("bnum", "buckets", NULL, 1, INT32_MAX,
          "default: the library's 65536, or 2 per planned record if more", bnum),
    {0},
};

static const struct sb_option mem_tree_options[] = {OPTION_YIELD, {0}};

/* What all four have in common. */
#define TC_COMMON                                                                                  \
    .key_bytes_max = KEY_BYTES_MAX, .value_bytes_max = VALUE_BYTES_MAX,                            \
    .options_bytes = sizeof(struct tc_options), .version = tc_version, .preload = tc_preload,      \
    .close = tc_close, .attach = tc_attach, .detach = tc_detach, .del = tc_del,                    \
    .cursor_open = tc_cursor_open, .cursor_close = tc_cursor_close, .counters = tc_counters
#define TC_CAPS (SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_WRITERS | SB_CAP_DELETE_MISS)

static const struct sb_driver tc_drivers[] = {
    {
        .name = "tc-hash",
        .summary = "Tokyo Cabinet hash database: a file of hash chains",
        .variant = TC_HASH,
        .caps = TC_CAPS | SB_CAP_TXN | SB_CAP_PERSISTENT | SB_CAP_CACHE | SB_CAP_RECOVERY,
        .levels = SB_LEVELS_ALL,
        TC_COMMON,
        .options = hash_options,
        .open = file_open,
        .begin = tc_begin,
        .commit = tc_commit,
        .abort = tc_abort,
        .put = hash_put,
        .get = hash_get,
        .cursor_next = hash_cursor_next,
        .sync = tc_sync,
        .settle = tc_sync,
        .tool = tc_tool,
    },
    {
        .name = "tc-tree",
        .summary = "Tokyo Cabinet B+tree database: pages in a hash file",
        .variant = TC_TREE,
        .caps = TC_CAPS | SB_CAP_ORDERED | SB_CAP_TXN | SB_CAP_ZERO_COPY | SB_CAP_PERSISTENT |
                SB_CAP_CACHE | SB_CAP_RECOVERY,
        .levels = SB_LEVELS_ALL,
        TC_COMMON,
        .options = tree_options,
        .open = file_open,
        .begin = tc_begin,
        .commit = tc_commit,
        .abort = tc_abort,
        .put = tree_put,
        .get = tree_get,
        .cursor_next = tree_cursor_next,
        .cursor_seek = tree_cursor_seek,
        .sync = tc_sync,
        .settle = tc_sync,
        .tool = tc_tool,
    },
    {
        .name = "tc-mem-hash",
        .summary = "Tokyo Cabinet on-memory hash map (tcmdb)",
        .variant = TC_MEM_HASH,
        .caps = TC_CAPS,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        TC_COMMON,
        .options = mem_hash_options,
        .open = mem_open,
        .put = mem_hash_put,
        .get = mem_get,
        .cursor_next = mem_cursor_next,
    },
    {
        .name = "tc-mem-tree",
        .summary = "Tokyo Cabinet on-memory splay tree (tcndb)",
        .variant = TC_MEM_TREE,
        .caps = TC_CAPS | SB_CAP_ORDERED,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        TC_COMMON,
        .options = mem_tree_options,
        .open = mem_open,
        .put = mem_tree_put,
        .get = mem_get,
        .cursor_next = mem_cursor_next,
        .cursor_seek = mem_cursor_seek,
    },
};

SB_MODULE(tc_drivers);
