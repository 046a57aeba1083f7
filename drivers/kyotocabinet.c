/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kyotocabinet.c -- Kyoto Cabinet: file hash (`kc-hash`, .kch), file B+tree (`kc-tree`, .kct) and
 * two in-memory classes. StashDB (`kc-mem-hash`, ":") has the fastest reads and the smallest
 * records of the three hashes; CacheDB ("*") writes faster but is a cache with LRU order.
 * ProtoTreeDB
 * (`kc-mem-tree`, "+") is a red-black tree; the other ordered class, GrassDB ("%"), is about twice
 * as fast up to its page cache of 64 MiB and ten times slower beyond.
 *
 * Levels. `none` is plain puts. Those of kc-tree stay in the page cache. Those of kc-hash go to the
 * file at once, but one that replaces a value and is cut by a kill can lose the old value, which
 * was acknowledged; so neither keeps `process`. That takes a transaction per commit, which is also
 * what makes batches atomic. `power` is a hard transaction per commit. The library then clears its
 * log before it flushes the data: acknowledged commits are safe, but a commit that is cut by a
 * power failure may be there in part. A hard kcdbsync at each commit would be cheaper and is not
 * offered: it leaves the same hole for a kill. txn=off makes each put a transaction instead of each
 * commit (KCOAUTOTRAN, at `power` with KCOAUTOSYNC, which calls sync(2) once, at creation). kc-tree
 * does so by itself where only commits of one record are planned: at `process` a transaction of the
 * whole tree costs twice as much.
 *
 * Before a recovery the driver removes a log record that a kill has cut; see mend_log. Beyond that,
 * every open repairs what needs it; KCONOREPAIR, which loses records after a crash, is never used.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <kclangc.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum variant { KC_HASH, KC_TREE, KC_MEM_HASH, KC_MEM_TREE };
enum txn_choice { TXN_AUTO, TXN_ON, TXN_OFF };

/* MEMMAXSIZ of the library: half of INT32_MAX. */
enum { SIZE_BYTES_MAX = INT32_MAX / 2, BUFFER_BYTES_MIN = 64 * 1024 };

/* The library's defaults (kchashdb.h, kcplantdb.h, kcstashdb.h) and a bit of its options. */
enum { HASH_BUCKETS = 1048583, TREE_BUCKETS = 65536, STATUS_LINEAR = 2 };

struct kc_options {
    int64_t txn, bnum, apow, fpow, dfunit, linear;
    int64_t msiz_bytes, psiz_bytes, pccap_bytes;
};

struct sb_store {
    const struct sb_host *host;
    KCDB *db;
    bool open;
    bool shared;            /* more than one session */
    bool txn;               /* commits are transactions */
    bool flush;             /* they flush, level power */
    pthread_mutex_t writer; /* with `shared` and `txn`: held during a transaction */
};

struct sb_session {
    struct sb_store *store;
    bool writing;
    char *value; /* of the last get */
    size_t value_bytes;
};

struct sb_cursor {
    struct sb_store *store;
    KCCUR *cursor;
    char *record; /* key and value of the current record */
    size_t record_bytes;
    size_t key_bytes, data_bytes; /* in `record` */
    bool with_value, no_memory;
    enum { AT_START, AT_RECORD, AT_END } at;
};

/* ---- common ------------------------------------------------------------------------------- */

static int kc_fail(const struct sb_host *host, const char *call, int32_t ecode, const char *text)
{
    enum sb_code code = SB_ERR_FAILED;

    if (ecode == KCEBROKEN)
        code = SB_ERR_CORRUPT;
    else if (ecode == KCESYSTEM && (errno == ENOSPC || errno == EDQUOT))
        code = SB_ERR_FULL;
    else if (ecode == KCESYSTEM && errno == ENOMEM)
        code = SB_ERR_NOMEM;
    else if (ecode == KCESYSTEM && (errno == EAGAIN || errno == EACCES))
        code = SB_ERR_BUSY; /* the file lock */
    return host->fail(code, ecode, "%s: %s: %s", call, kcecodename(ecode), text);
}

static int db_fail(const struct sb_store *store, const char *call)
{
    return kc_fail(store->host, call, kcdbecode(store->db), kcdbemsg(store->db));
}

/* The library wants pointers that are not NULL. */
static inline const char *bytes_of(struct sb_slice slice)
{
    return slice.data ? slice.data : "";
}

static int too_large(const struct sb_store *store)
{
    return store->host->fail(SB_ERR_LIMIT, 0, "kyotocabinet: a key or a value is too large");
}

static const char *kc_version(void)
{
    static char text[48];

    (void)snprintf(text, sizeof(text), "Kyoto Cabinet %s", KCVERSION);
    return text;
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

/* ---- the path, which carries the tuning --------------------------------------------------- */

struct tuning {
    char text[PATH_MAX + 256];
    size_t bytes;
    bool cut;
};

static void add(struct tuning *tuning, const char *name, int64_t value)
{
    size_t room = sizeof(tuning->text) - tuning->bytes;
    int length = snprintf(tuning->text + tuning->bytes, room, "#%s=%" PRId64, name, value);

    if (length < 0 || (size_t)length >= room)
        tuning->cut = true;
    else
        tuning->bytes += (size_t)length;
}

static void add_given(struct tuning *tuning, const char *name, int64_t value)
{
    if (value != SB_OPTION_UNSET)
        add(tuning, name, value);
}

/* What the library's "Fundamental Specifications", chapter "Tips and Hacks", suggest: twice the
 * number of records for the file hash, a tenth of it for the file tree (whose buckets hold pages),
 * the number of records for the stash. Never below the library's default. */
static int64_t buckets(const struct sb_open *args)
{
    uint64_t records = args->expected_records;
    uint64_t wanted = args->driver->variant == KC_HASH   ? 2 * records
                      : args->driver->variant == KC_TREE ? records / 10
                                                         : records;
    uint64_t least = args->driver->variant == KC_TREE ? TREE_BUCKETS : HASH_BUCKETS;

    if (args->profile == SB_PROFILE_DEFAULT || wanted <= least)
        return SB_OPTION_UNSET;
    return wanted > INT32_MAX ? INT32_MAX : (int64_t)wanted;
}

/* The same chapter recommends linear chains wherever the number of buckets is set for the data, and
 * an alignment of 2^8 bytes for file hash records beyond 1 KiB. */
static void add_tuned(struct tuning *tuning, const struct sb_open *args)
{
    const struct kc_options *o = args->options;
    bool tuned = args->profile == SB_PROFILE_TUNED;
    bool large = args->expected_records && args->expected_bytes / args->expected_records > 1024;
    int length;

    if (o->apow != SB_OPTION_UNSET)
        add(tuning, "apow", o->apow);
    else if (tuned && large && args->driver->variant == KC_HASH)
        add(tuning, "apow", 8);
    if (o->linear == 1 || (o->linear == SB_OPTION_UNSET && tuned && args->expected_records)) {
        size_t room = sizeof(tuning->text) - tuning->bytes;
        length = snprintf(tuning->text + tuning->bytes, room, "#opts=l");
        if (length < 0 || (size_t)length >= room)
            tuning->cut = true;
        else
            tuning->bytes += (size_t)length;
    }
}

/* The budget is the mapped head of a hash file; a tree halves it, as the library's own defaults do,
 * between that map and the cache of pages. */
static void add_cache(struct tuning *tuning, const struct sb_open *args)
{
    const struct kc_options *o = args->options;
    int64_t map_bytes = o->msiz_bytes, page_bytes = o->pccap_bytes;
    uint64_t budget = args->profile == SB_PROFILE_DEFAULT ? 0 : args->cache_bytes;

    if (budget > INT64_MAX)
        budget = INT64_MAX;
    if (args->driver->variant == KC_TREE)
        budget /= 2;
    if (map_bytes == SB_OPTION_UNSET && budget)
        map_bytes = (int64_t)budget;
    add_given(tuning, "msiz", map_bytes);
    if (args->driver->variant != KC_TREE)
        return;
    if (page_bytes == SB_OPTION_UNSET && budget)
        page_bytes = (int64_t)budget;
    add_given(tuning, "pccap", page_bytes);
    add_given(tuning, "psiz", o->psiz_bytes);
}

static int build_path(const struct sb_open *args, struct tuning *tuning)
{
    static const char *const names[] = {"/store.kch", "/store.kct", ":", "+"};
    const struct kc_options *o = args->options;
    enum variant variant = (enum variant)args->driver->variant;
    bool file = variant == KC_HASH || variant == KC_TREE;
    int length;

    if (file && strchr(args->dir, '#'))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s: Kyoto Cabinet takes what follows a '#' for parameters; use a "
                                "directory without one: %s",
                                args->driver->name, args->dir);
    length =
        snprintf(tuning->text, sizeof(tuning->text), "%s%s", file ? args->dir : "", names[variant]);
    tuning->cut = length < 0 || (size_t)length >= sizeof(tuning->text);
    tuning->bytes = tuning->cut ? 0 : (size_t)length;
    if (variant != KC_MEM_TREE)
        add_given(tuning, "bnum", o->bnum != SB_OPTION_UNSET ? o->bnum : buckets(args));
    if (file) {
        add_given(tuning, "fpow", o->fpow);
        add_given(tuning, "dfunit", o->dfunit);
        add_tuned(tuning, args);
        add_cache(tuning, args);
    }
    if (tuning->cut)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "kyotocabinet: path too long: %s",
                                args->dir);
    return 0;
}

/* ---- describing --------------------------------------------------------------------------- */

/* Copies the field `name` of the status text, lines of name, tab and value; false if it is not
 * there. */
static bool status_field(const char *status, const char *name, char *value, size_t value_bytes)
{
    size_t name_bytes = strlen(name);
    const char *line = status;

    while (line && *line) {
        if (strncmp(line, name, name_bytes) == 0 && line[name_bytes] == '\t') {
            const char *start = line + name_bytes + 1;
            int length = (int)strcspn(start, "\n");
            int written = snprintf(value, value_bytes, "%.*s", length, start);
            return written >= 0 && (size_t)written < value_bytes;
        }
        line = strchr(line, '\n');
        if (line)
            line++;
    }
    return false;
}

static void describe_status(const struct sb_open *args, const struct sb_store *store)
{
    static const char *const fields[] = {"bnum",  "apow",   "fpow",      "msiz",        "psiz",
                                         "pccap", "dfunit", "recovered", "reorganized", "trimmed"};
    const struct sb_host *host = args->host;
    char *status = kcdbstatus(store->db);
    char value[64];

    if (!status)
        return;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (status_field(status, fields[i], value, sizeof(value)))
            host->effective(args->report, SB_READ_BACK, fields[i], "%s", value);
    }
    if (status_field(status, "opts", value, sizeof(value)))
        host->effective(args->report, SB_READ_BACK, "linear",
                        strtol(value, NULL, 10) & STATUS_LINEAR ? "on" : "off");
    kcfree(status);
}

static void describe(const struct sb_open *args, const struct sb_store *store, uint32_t mode)
{
    const struct sb_host *host = args->host;

    describe_status(args, store);
    if (!(args->driver->caps & SB_CAP_PERSISTENT))
        return;
    host->effective(args->report, SB_REQUESTED, "txn", store->txn ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "autotran", mode & KCOAUTOTRAN ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "autosync", mode & KCOAUTOSYNC ? "on" : "off");
    host->note(args->report,
               "msiz bounds the mapped head of the file; the rest goes through the page "
               "cache, uncapped.");
    if (!store->txn)
        host->lacks(args->report, SB_CAP_TXN);
    if (args->level == SB_LEVEL_NONE && store->txn)
        host->keeps(args->report, SB_LEVEL_PROCESS);
}

/* ---- mending the log ---------------------------------------------------------------------- */

/* The log: 12 bytes that start with "KW", then records of a byte 0xEE, 8 bytes of offset, 8 of size
 * (both big-endian) and what the file held there. After the last record come zeros, since a commit
 * overwrites the log with them. */
enum { LOG_HEAD_BYTES = 12, LOG_RECORD_HEAD_BYTES = 17, LOG_MAGIC = 0xEE, LOG_PAGE_BYTES = 4096 };

struct log_record {
    off_t at;       /* in the log */
    off_t offset;   /* in the file */
    uint64_t bytes; /* of the body */
};

static bool read_log_record(int log_fd, off_t at, struct log_record *record)
{
    unsigned char head[LOG_RECORD_HEAD_BYTES];
    uint64_t offset = 0, bytes = 0;

    if (pread(log_fd, head, sizeof(head), at) != (ssize_t)sizeof(head) || head[0] != LOG_MAGIC)
        return false;
    for (int i = 1; i <= 8; i++) {
        offset = offset << 8 | head[i];
        bytes = bytes << 8 | head[i + 8];
    }
    *record = (struct log_record){at, (off_t)offset, bytes};
    return bytes <= INT32_MAX && offset <= INT64_MAX;
}

static bool find_last_record(int log_fd, struct log_record *last)
{
    struct log_record record;
    off_t at = LOG_HEAD_BYTES;
    bool found = false;

    while (read_log_record(log_fd, at, &record)) {
        *last = record;
        found = true;
        at += (off_t)LOG_RECORD_HEAD_BYTES + (off_t)record.bytes;
    }
    return found;
}

/* Whether the write of the record was cut: from some page of the log on it is zeros, and what its
 * body has before that is still the same in the file, since the file is written after the log.
 * `log` has room for the record and `file` for its body. */
static bool is_cut(int log_fd, int file_fd, const struct log_record *record, char *log, char *file)
{
    size_t bytes = LOG_RECORD_HEAD_BYTES + (size_t)record->bytes, kept = bytes;
    ssize_t got = pread(log_fd, log, bytes, record->at);
    size_t past_page;

    if (got < 0)
        return false;
    if ((size_t)got < bytes)
        return true; /* the log ends inside the record */
    while (kept > 0 && log[kept - 1] == 0)
        kept--;
    past_page = (size_t)(record->at + (off_t)kept) % LOG_PAGE_BYTES;
    if (past_page)
        kept += LOG_PAGE_BYTES - past_page;
    if (kept >= bytes)
        return false;
    if (kept <= LOG_RECORD_HEAD_BYTES)
        return true;
    kept -= LOG_RECORD_HEAD_BYTES;
    return pread(file_fd, file, kept, record->offset) == (ssize_t)kept &&
           memcmp(file, log + LOG_RECORD_HEAD_BYTES, kept) == 0;
}

static int mend_open_log(const struct sb_open *args, int log_fd, int file_fd)
{
    struct log_record last = {0};
    size_t bytes;
    char *log;
    int rc = 0;

    if (!find_last_record(log_fd, &last) || last.bytes == 0)
        return 0;
    bytes = LOG_RECORD_HEAD_BYTES + (size_t)last.bytes;
    log = malloc(bytes * 2);
    if (!log)
        return args->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
    if (is_cut(log_fd, file_fd, &last, log, log + bytes) && pwrite(log_fd, "", 1, last.at) != 1)
        rc = args->host->fail(SB_ERR_FAILED, errno, "write to the log: %s", strerror(errno));
    free(log);
    return rc;
}

/* A kill can cut the write of a log record where it crosses a page. The log has no checksum, so the
 * library would restore zeros over good data. What that record was to guard had not been written
 * yet, so the record can go: its first byte is cleared. */
static int mend_log(const struct sb_open *args)
{
    const char *name = args->driver->variant == KC_HASH ? "store.kch" : "store.kct";
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s.wal", args->dir, name);
    int log_fd, file_fd, rc = 0;

    if (length < 0 || (size_t)length >= sizeof(path))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "kyotocabinet: path too long: %s",
                                args->dir);
    log_fd = open(path, O_RDWR | O_CLOEXEC);
    if (log_fd < 0)
        return 0; /* no log: nothing to restore */
    path[length - 4] = '\0';
    file_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file_fd >= 0) {
        rc = mend_open_log(args, log_fd, file_fd);
        (void)close(file_fd);
    }
    (void)close(log_fd);
    return rc;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* Decides how a commit keeps the level; see the top of this file. KCOAUTOTRAN does nothing inside a
 * transaction; with it the file is never marked as open, so that after a crash the log is enough
 * and the library does not rebuild the whole file. */
static uint32_t choose_mode(const struct sb_open *args, struct sb_store *store)
{
    const struct kc_options *options = args->options;
    bool safe = args->level != SB_LEVEL_NONE;
    bool single = args->driver->variant == KC_TREE && args->batch_records == 1;
    uint32_t mode = KCOWRITER | KCOTRYLOCK;

    if (args->mode == SB_CREATE)
        mode |= KCOCREATE | KCOTRUNCATE;
    if (!(args->driver->caps & SB_CAP_PERSISTENT))
        return mode;
    store->flush = args->level == SB_LEVEL_POWER;
    store->txn = options->txn == TXN_ON || (options->txn == TXN_AUTO && safe && !single);
    if (store->txn || safe)
        mode |= KCOAUTOTRAN;
    if (!store->txn && store->flush)
        mode |= KCOAUTOSYNC;
    return mode;
}

/* Level power: lets the library create its log now, and puts all names on the device. */
static int settle_names(const struct sb_open *args, struct sb_store *store)
{
    if (store->txn && (!kcdbbegintran(store->db, 1) || !kcdbendtran(store->db, 1)))
        return db_fail(store, "kcdbendtran");
    return sync_dir(args);
}

static void store_free(struct sb_store *store)
{
    if (store->open)
        (void)kcdbclose(store->db);
    if (store->db)
        kcdbdel(store->db);
    (void)pthread_mutex_destroy(&store->writer);
    free(store);
}

static int kc_open(const struct sb_open *args, struct sb_store **storep)
{
    struct tuning tuning;
    struct sb_store *store;
    uint32_t mode;
    int rc = build_path(args, &tuning);

    if (rc)
        return rc;
    if (args->mode != SB_CREATE && !(args->driver->caps & SB_CAP_PERSISTENT))
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "%s: keeps its records in memory only",
                                args->driver->name);
    if (args->mode == SB_RECOVER)
        rc = mend_log(args);
    if (rc)
        return rc;
    store = calloc(1, sizeof(*store));
    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
    store->host = args->host;
    store->shared = args->sessions > 1;
    (void)pthread_mutex_init(&store->writer, NULL);
    store->db = kcdbnew();
    mode = choose_mode(args, store);
    errno = 0;
    store->open = kcdbopen(store->db, tuning.text, mode);
    if (!store->open)
        rc = db_fail(store, "kcdbopen");
    else if (store->flush)
        rc = settle_names(args, store);
    if (rc) {
        store_free(store);
        return rc;
    }
    describe(args, store, mode);
    *storep = store;
    return 0;
}

static int kc_close(struct sb_store *store)
{
    int rc = 0;

    if (!kcdbclose(store->db))
        rc = db_fail(store, "kcdbclose");
    store->open = false;
    store_free(store);
    return rc;
}

/* ---- sessions and transactions ------------------------------------------------------------ */

static int kc_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (session)
        session->value = malloc(BUFFER_BYTES_MIN);
    if (!session || !session->value) {
        free(session);
        return store->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
    }
    session->value_bytes = BUFFER_BYTES_MIN;
    session->store = store;
    *sessionp = session;
    return 0;
}

/* The library lets a second transaction spin and then sleep; a mutex wakes it at once. */
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

static int kc_begin(struct sb_session *session, enum sb_txn kind)
{
    struct sb_store *store = session->store;

    if (kind == SB_READ)
        return 0;
    if (store->txn) {
        lock_writer(store);
        if (!kcdbbegintran(store->db, store->flush)) {
            unlock_writer(store);
            return db_fail(store, "kcdbbegintran");
        }
    }
    session->writing = true;
    return 0;
}

static int end_tran(struct sb_store *store, bool commit)
{
    int rc = 0;

    if (!kcdbendtran(store->db, commit))
        rc = db_fail(store, "kcdbendtran");
    unlock_writer(store);
    return rc;
}

static int kc_commit(struct sb_session *session)
{
    struct sb_store *store = session->store;

    if (!session->writing)
        return 0;
    session->writing = false;
    return store->txn ? end_tran(store, true) : 0;
}

static int kc_abort(struct sb_session *session)
{
    bool writing = session->writing;

    session->writing = false;
    return writing && session->store->txn ? end_tran(session->store, false) : 0;
}

static void kc_detach(struct sb_session *session)
{
    (void)kc_abort(session);
    free(session->value);
    free(session);
}

/* ---- put, get, del ------------------------------------------------------------------------ */

static int kc_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;

    if (key.size_bytes > SIZE_BYTES_MAX || value.size_bytes > SIZE_BYTES_MAX)
        return too_large(store);
    if (!kcdbset(store->db, bytes_of(key), key.size_bytes, bytes_of(value), value.size_bytes))
        return db_fail(store, "kcdbset");
    return 0;
}

/* kcdbgetbuf fills the buffer and returns the whole size of the value: a longer value is read again
 * into a larger buffer. Another session may lengthen it in between. */
static int kc_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    KCDB *db = session->store->db;
    int32_t size;

    if (key.size_bytes > SIZE_BYTES_MAX)
        return too_large(session->store);
    size = kcdbgetbuf(db, bytes_of(key), key.size_bytes, session->value, session->value_bytes);
    while (size >= 0 && (size_t)size > session->value_bytes) {
        char *grown = realloc(session->value, (size_t)size);

        if (!grown)
            return session->store->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
        session->value = grown;
        session->value_bytes = (size_t)size;
        size = kcdbgetbuf(db, bytes_of(key), key.size_bytes, grown, session->value_bytes);
    }
    if (size < 0)
        return kcdbecode(db) == KCENOREC ? SB_NOTFOUND : db_fail(session->store, "kcdbgetbuf");
    valuep->data = session->value;
    valuep->size_bytes = (size_t)size;
    return 0;
}

static int kc_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;

    if (key.size_bytes > SIZE_BYTES_MAX)
        return too_large(store);
    if (kcdbremove(store->db, bytes_of(key), key.size_bytes))
        return 0;
    return kcdbecode(store->db) == KCENOREC ? SB_NOTFOUND : db_fail(store, "kcdbremove");
}

/* ---- cursors ------------------------------------------------------------------------------ */

static int kc_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_store *store = session->store;
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (cursor)
        cursor->record = malloc(BUFFER_BYTES_MIN);
    if (!cursor || !cursor->record) {
        free(cursor);
        return store->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
    }
    cursor->record_bytes = BUFFER_BYTES_MIN;
    cursor->store = store;
    cursor->cursor = kcdbcursor(store->db);
    *cursorp = cursor;
    return 0;
}

static void kc_cursor_close(struct sb_cursor *cursor)
{
    kccurdel(cursor->cursor);
    free(cursor->record);
    free(cursor);
}

/* Called by the library with the record under the cursor, while that is locked. The copy goes to
 * one buffer that is kept; kccurget would make the same copy into a new allocation each time. */
static const char *copy_record(const char *key, size_t key_bytes, const char *value,
                               size_t value_bytes, size_t *new_bytesp, void *opaque)
{
    struct sb_cursor *cursor = opaque;
    size_t wanted = key_bytes + (cursor->with_value ? value_bytes : 0);

    (void)new_bytesp;
    if (wanted > cursor->record_bytes) {
        char *grown = realloc(cursor->record, wanted);

        cursor->no_memory = !grown;
        if (!grown)
            return KCVISNOP;
        cursor->record = grown;
        cursor->record_bytes = wanted;
    }
    memcpy(cursor->record, key, key_bytes);
    if (cursor->with_value)
        memcpy(cursor->record + key_bytes, value, value_bytes);
    cursor->key_bytes = key_bytes;
    cursor->data_bytes = value_bytes;
    return KCVISNOP;
}

static int stopped(struct sb_cursor *cursor, const char *call)
{
    int32_t ecode = kccurecode(cursor->cursor);

    cursor->at = AT_END;
    if (ecode == KCENOREC)
        return SB_NOTFOUND;
    return kc_fail(cursor->store->host, call, ecode, kccuremsg(cursor->cursor));
}

/* Takes the record under the cursor and steps over it. */
static int take(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    cursor->with_value = valuep != NULL;
    if (!kccuraccept(cursor->cursor, copy_record, cursor, 0, 1))
        return stopped(cursor, "kccuraccept");
    if (cursor->no_memory)
        return cursor->store->host->fail(SB_ERR_NOMEM, 0, "kyotocabinet: out of memory");
    cursor->at = AT_RECORD;
    *keyp = (struct sb_slice){cursor->record, cursor->key_bytes};
    if (valuep)
        *valuep = (struct sb_slice){cursor->record + cursor->key_bytes, cursor->data_bytes};
    return 0;
}

static int kc_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep)
{
    if (cursor->at == AT_END)
        return SB_NOTFOUND;
    if (cursor->at == AT_START && !kccurjump(cursor->cursor))
        return stopped(cursor, "kccurjump");
    return take(cursor, keyp, valuep);
}

static int kc_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                          struct sb_slice *valuep)
{
    if (key.size_bytes > SIZE_BYTES_MAX)
        return too_large(cursor->store);
    if (!kccurjumpkey(cursor->cursor, bytes_of(key), key.size_bytes))
        return stopped(cursor, "kccurjumpkey");
    return take(cursor, keyp, valuep);
}

/* ---- sync, counters, tool ----------------------------------------------------------------- */

static int kc_sync(struct sb_store *store)
{
    return kcdbsync(store->db, 1, NULL, NULL) ? 0 : db_fail(store, "kcdbsync");
}

static int kc_counters(struct sb_store *store, const struct sb_host *host, struct sb_report *report)
{
    int64_t records = kcdbcount(store->db);
    int64_t bytes = kcdbsize(store->db);

    if (records >= 0)
        host->counter(report, "records", (uint64_t)records);
    if (bytes >= 0)
        host->counter(report, "store_bytes", (uint64_t)bytes);
    return 0;
}

/* "salvage" is what the library does at any open of a broken file; the last lines of "stat" say
 * what that was: recovered (from the log), reorganized (rebuilt), trimmed. */
static int kc_tool(const struct sb_open *args, const char *verb)
{
    struct sb_store *store = NULL;
    char *status;
    int rc;

    if (strcmp(verb, "stat") != 0 && strcmp(verb, "salvage") != 0)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "%s has no tool '%s'; it has 'stat' and 'salvage'",
                                args->driver->name, verb);
    rc = kc_open(args, &store);
    if (rc)
        return rc;
    status = kcdbstatus(store->db);
    for (const char *line = status; line && *line;) {
        int name = (int)strcspn(line, "\t\n");
        int whole = (int)strcspn(line, "\n");

        if (line[name] == '\t')
            args->host->print(args->report, "%.*s: %.*s", name, line, whole - name - 1,
                              line + name + 1);
        line += line[whole] ? whole + 1 : whole;
    }
    if (status)
        kcfree(status);
    return kc_close(store);
}

/* ---- tables ------------------------------------------------------------------------------- */

#define OPTION(name, type, unit, default_value, min, max, choices, help, member)                   \
    {                                                                                              \
        name, type, unit, default_value, min, max, choices, help,                                  \
            offsetof(struct kc_options, member)                                                    \
    }
#define COUNT(name, unit, min, max, help, member)                                                  \
    OPTION(name, SB_OPTION_INT, unit, NULL, min, max, NULL, help, member)
#define BYTES(name, min, help, member)                                                             \
    OPTION(name, SB_OPTION_SIZE, "bytes", NULL, min, INT64_MAX, NULL, help, member)

#define OPTION_TXN                                                                                 \
    OPTION("txn", SB_OPTION_ENUM, NULL, "auto", 0, 0, "auto|on|off",                               \
           "commits are atomic transactions; auto: above level none; off: there, each put is one", \
           txn)
#define OPTION_APOW COUNT("apow", NULL, 0, 15, "records are aligned to 2^apow bytes", apow)
#define OPTION_FPOW COUNT("fpow", NULL, 0, 20, "the free block pool has 2^fpow slots", fpow)
#define OPTION_DFUNIT                                                                              \
    COUNT("dfunit", "steps", 0, INT32_MAX, "unit of automatic defragmentation; default: none",     \
          dfunit)
#define OPTION_LINEAR                                                                              \
    OPTION("linear", SB_OPTION_BOOL, NULL, NULL, 0, 1, NULL,                                       \
           "collisions in lists, not trees; default: off, on when tuned for a known size", linear)

static const struct sb_option hash_options[] = {
    OPTION_TXN,
    COUNT("bnum", "buckets", 1, INT32_MAX,
          "default: the library's 1048583, or 2 per planned record if more", bnum),
    OPTION_APOW,
    OPTION_FPOW,
    OPTION_DFUNIT,
    OPTION_LINEAR,
    BYTES("msiz", 0, "mapped head of the file; default: the cache budget, else 64 MiB", msiz_bytes),
    {0},
};

static const struct sb_option tree_options[] = {
    OPTION_TXN,
    COUNT("bnum", "buckets", 1, INT32_MAX,
          "default: the library's 65536, or 1 per 10 planned records if more", bnum),
    OPTION_APOW,
    OPTION_FPOW,
    OPTION_DFUNIT,
    OPTION_LINEAR,
    BYTES("msiz", 0, "mapped head of the file; default: half the cache budget, else 64 MiB",
          msiz_bytes),
    BYTES("psiz", 256, "size of a page; the library's default is 8 KiB", psiz_bytes),
    BYTES("pccap", 1, "page cache; default: half the cache budget, else 64 MiB", pccap_bytes),
    {0},
};

static const struct sb_option mem_hash_options[] = {
    COUNT("bnum", "buckets", 1, INT32_MAX,
          "default: the library's 1048583, or 1 per planned record if more", bnum),
    {0},
};

static const struct sb_option mem_tree_options[] = {{0}};

/* What all four, and what both file stores, have in common. */
#define KC_COMMON                                                                                  \
    .key_bytes_max = SIZE_BYTES_MAX, .value_bytes_max = SIZE_BYTES_MAX,                            \
    .options_bytes = sizeof(struct kc_options), .version = kc_version, .open = kc_open,            \
    .close = kc_close, .attach = kc_attach, .detach = kc_detach, .put = kc_put, .get = kc_get,     \
    .del = kc_del, .cursor_open = kc_cursor_open, .cursor_next = kc_cursor_next,                   \
    .cursor_close = kc_cursor_close, .counters = kc_counters
#define KC_FILE                                                                                    \
    .levels = SB_LEVELS_ALL, .begin = kc_begin, .commit = kc_commit, .abort = kc_abort,            \
    .sync = kc_sync, .settle = kc_sync, .tool = kc_tool
#define KC_CAPS (SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_WRITERS | SB_CAP_DELETE_MISS)
#define KC_FILE_CAPS (KC_CAPS | SB_CAP_TXN | SB_CAP_PERSISTENT | SB_CAP_CACHE | SB_CAP_RECOVERY)

static const struct sb_driver kc_drivers[] = {
    {
        .name = "kc-hash",
        .summary = "Kyoto Cabinet file hash database (.kch)",
        .variant = KC_HASH,
        .caps = KC_FILE_CAPS,
        .options = hash_options,
        KC_COMMON,
        KC_FILE,
    },
    {
        .name = "kc-tree",
        .summary = "Kyoto Cabinet file B+tree database (.kct)",
        .variant = KC_TREE,
        .caps = KC_FILE_CAPS | SB_CAP_ORDERED,
        .options = tree_options,
        .cursor_seek = kc_cursor_seek,
        KC_COMMON,
        KC_FILE,
    },
    {
        .name = "kc-mem-hash",
        .summary = "Kyoto Cabinet in-memory hash (StashDB)",
        .variant = KC_MEM_HASH,
        .caps = KC_CAPS,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .options = mem_hash_options,
        KC_COMMON,
    },
    {
        .name = "kc-mem-tree",
        .summary = "Kyoto Cabinet in-memory red-black tree (ProtoTreeDB)",
        .variant = KC_MEM_TREE,
        .caps = KC_CAPS | SB_CAP_ORDERED,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .options = mem_tree_options,
        .cursor_seek = kc_cursor_seek,
        KC_COMMON,
    },
};

SB_MODULE(kc_drivers);
