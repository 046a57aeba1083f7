/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * skeleton.c -- a small driver to learn from and to start from. It keeps every record in a sorted
 * array in memory and appends every change to one file, `log`, from which the array is made again.
 *
 * A driver of your own in five steps (drivers/README.md has more on each):
 *   1. Copy:     cp drivers/skeleton.c drivers/mystore.c
 *   2. Rename:   sed -i s/skeleton/mystore/g drivers/mystore.c
 *                and in configure.ac, below the other drivers: SB_DRIVER([mystore])
 *   3. Compile it unmodified: `make`, then `./storebench list` shows `mystore`.
 *   4. Change it, a hook at a time: version, open and close; put, get and del; the cursor; then the
 *      durability levels; then options and profiles. It should compile after each.
 *   5. Prove it: `make tests`, then `obj/tests/conformance/conformance mystore`.
 * Out of the tree the first include becomes <storebench/driver.h>, or keeps its name with the
 * compiler flags of `pkg-config --cflags storebench`.
 *
 * Three rules hold for every hook. It returns 0, SB_NOTFOUND where that is listed, or what
 * host->fail returned; it never prints, exits or installs a signal handler. It keeps no state in
 * globals: everything hangs on the store, the session or the cursor. It does what was asked or
 * refuses: never something similar.
 *
 * Say here, in the head of your own file, how each level is kept and which source says so. For this
 * one: `none` collects changes in a buffer and writes it out when it is full. `process` writes it
 * at every commit, since what the kernel has survives the death of a process. `power` flushes the
 * file after that. A commit is not atomic: a kill inside the write keeps a part of it.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------ */

/* What users write as `skeleton:buffer=1MiB:flush=fsync`. The harness parses it, checks ranges and
 * fills this struct before it calls `open`. Every member is an int64_t, whatever the type. */
struct skeleton_options {
    int64_t checksum;         /* BOOL: 0 or 1 */
    int64_t capacity_records; /* INT, here without a default: SB_OPTION_UNSET if not given */
    int64_t buffer_bytes;     /* SIZE */
    int64_t flush;            /* ENUM: the index of the word, here enum flush_call */
};

enum flush_call { FLUSH_FDATASYNC, FLUSH_FSYNC };

/* ---- the three structs that a driver completes --------------------------------------------- */

/* Limits belong in the table at the end of the file. The harness keeps to them, yet a driver still
 * returns SB_ERR_LIMIT for what is beyond, and never crashes. */
enum { KEY_BYTES_MAX = 64 * 1024, VALUE_BYTES_MAX = 1 << 30, CAPACITY_DEFAULT = 1024 };

struct record {
    uint32_t key_bytes, value_bytes;
    unsigned char bytes[]; /* the key, then the value */
};

/* One open store. Keep `host`: `fail` is needed everywhere. */
struct sb_store {
    const struct sb_host *host;
    enum sb_level level;
    bool checksum;
    enum flush_call flush;

    struct record **records; /* in byte order of their keys */
    size_t count, capacity;

    int fd;
    bool broken;            /* a flush failed: nothing that is acknowledged later can be trusted */
    uint64_t log_bytes;     /* of the file */
    unsigned char *pending; /* to be appended to it */
    size_t pending_bytes, pending_room_bytes, buffer_bytes;
};

/* One thread's access to the store: where a library wants a transaction, a statement or a handle
 * for each thread, it is kept here, and so is the buffer that `get` returns when the library copies
 * values out. This store needs none of that. */
struct sb_session {
    struct sb_store *store;
};

/* One scan. */
struct sb_cursor {
    const struct sb_store *store;
    size_t next; /* index of the record that cursor_next returns */
};

/* ---- errors ------------------------------------------------------------------------------- */

/* The text of an error is "<call>: <what the library says>"; the library's own code goes beside
 * it. Map what users can act on: full disks, limits, lack of memory, damage, locks. */
static int system_fail(const struct sb_host *host, const char *call)
{
    int number = errno;
    enum sb_code code = SB_ERR_FAILED;

    if (number == ENOSPC || number == EDQUOT)
        code = SB_ERR_FULL;
    else if (number == ENOMEM)
        code = SB_ERR_NOMEM;
    else if (number == EWOULDBLOCK)
        code = SB_ERR_BUSY;
    return host->fail(code, number, "%s: %s", call, strerror(number));
}

/* ---- the array ---------------------------------------------------------------------------- */

/* SB_CAP_ORDERED promises this order: memcmp, and of two keys that begin alike the shorter first.
 */
static int compare(const struct record *record, struct sb_slice key)
{
    size_t shorter = key.size_bytes < record->key_bytes ? key.size_bytes : record->key_bytes;
    int order = shorter ? memcmp(record->bytes, key.data, shorter) : 0;

    if (order)
        return order;
    return (record->key_bytes > key.size_bytes) - (record->key_bytes < key.size_bytes);
}

/* The index of the first record whose key is not less than `key`. */
static size_t lower_bound(const struct sb_store *store, struct sb_slice key)
{
    size_t low = 0, high = store->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(store->records[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct sb_store *store, size_t index, struct sb_slice key)
{
    return index < store->count && compare(store->records[index], key) == 0;
}

static struct sb_slice key_of(const struct record *record)
{
    return (struct sb_slice){record->bytes, record->key_bytes};
}

static struct sb_slice value_of(const struct record *record)
{
    return (struct sb_slice){record->bytes + record->key_bytes, record->value_bytes};
}

static int reserve(struct sb_store *store, size_t capacity)
{
    struct record **grown = realloc(store->records, capacity * sizeof(struct record *));

    if (!grown)
        return store->host->fail(SB_ERR_NOMEM, 0, "skeleton: no memory for %zu records", capacity);
    store->records = grown;
    store->capacity = capacity;
    return 0;
}

/* All that can fail of a put comes before anything is changed. */
static int make_record(struct sb_store *store, struct sb_slice key, struct sb_slice value,
                       struct record **recordp)
{
    struct record *record;

    if (key.size_bytes > KEY_BYTES_MAX || value.size_bytes > VALUE_BYTES_MAX)
        return store->host->fail(SB_ERR_LIMIT, 0, "skeleton: a key or a value is too large");
    if (store->count == store->capacity) {
        int rc = reserve(store, store->capacity * 2);
        if (rc)
            return rc;
    }
    record = malloc(sizeof(*record) + key.size_bytes + value.size_bytes);
    if (!record)
        return store->host->fail(SB_ERR_NOMEM, 0, "skeleton: out of memory");
    record->key_bytes = (uint32_t)key.size_bytes;
    record->value_bytes = (uint32_t)value.size_bytes;
    /* `data` may be NULL when the size is 0, and memcpy does not take that. */
    if (key.size_bytes)
        memcpy(record->bytes, key.data, key.size_bytes);
    if (value.size_bytes)
        memcpy(record->bytes + key.size_bytes, value.data, value.size_bytes);
    *recordp = record;
    return 0;
}

static void insert_record(struct sb_store *store, size_t index, struct record *record)
{
    if (is_at(store, index, key_of(record))) {
        free(store->records[index]);
        store->records[index] = record;
        return;
    }
    memmove(store->records + index + 1, store->records + index,
            (store->count - index) * sizeof(struct record *));
    store->records[index] = record;
    store->count++;
}

static void remove_record(struct sb_store *store, size_t index)
{
    free(store->records[index]);
    store->count--;
    memmove(store->records + index, store->records + index + 1,
            (store->count - index) * sizeof(struct record *));
}

/* ---- the log ------------------------------------------------------------------------------ */

/* Before each key and value; `value_bytes` is REMOVED for a delete. */
struct log_head {
    uint32_t check, key_bytes, value_bytes;
};

#define REMOVED UINT32_MAX

static uint32_t hash_bytes(uint32_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 16777619u;
    return hash;
}

/* FNV-1a; never 0, which stands for a record without a checksum. */
static uint32_t checksum_of(const struct log_head *head, const void *body, size_t body_bytes)
{
    uint32_t hash = hash_bytes(2166136261u, &head->key_bytes, 2 * sizeof(uint32_t));

    return hash_bytes(hash, body, body_bytes) | 1;
}

/* Appends what is pending to the file. On failure it stays pending. */
static int log_write(struct sb_store *store)
{
    size_t done = 0;

    while (done < store->pending_bytes) {
        ssize_t wrote = pwrite(store->fd, store->pending + done, store->pending_bytes - done,
                               (off_t)(store->log_bytes + done));

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            int rc = system_fail(store->host, "pwrite");

            (void)!ftruncate(store->fd, (off_t)store->log_bytes); /* leave no half record behind */
            return rc;
        }
        done += (size_t)wrote;
    }
    store->log_bytes += store->pending_bytes;
    store->pending_bytes = 0;
    return 0;
}

/* Once a flush has failed the kernel may have dropped the pages, so that the next one would
 * succeed and prove nothing: a driver must not go on as if nothing had happened. */
static int log_flush(struct sb_store *store)
{
    int failed;

    if (store->broken)
        return store->host->fail(SB_ERR_FAILED, EIO, "skeleton: an earlier flush has failed");
    failed = store->flush == FLUSH_FSYNC ? fsync(store->fd) : fdatasync(store->fd);
    if (!failed)
        return 0;
    store->broken = true;
    return system_fail(store->host, store->flush == FLUSH_FSYNC ? "fsync" : "fdatasync");
}

static int pending_reserve(struct sb_store *store, size_t bytes)
{
    size_t room = store->pending_room_bytes ? store->pending_room_bytes : 4096;
    unsigned char *grown;

    while (room < bytes)
        room *= 2;
    if (room == store->pending_room_bytes)
        return 0;
    grown = realloc(store->pending, room);
    if (!grown)
        return store->host->fail(SB_ERR_NOMEM, 0, "skeleton: no memory for %zu bytes", room);
    store->pending = grown;
    store->pending_room_bytes = room;
    return 0;
}

static int log_append(struct sb_store *store, struct sb_slice key, struct sb_slice value,
                      uint32_t value_bytes)
{
    struct log_head head = {0, (uint32_t)key.size_bytes, value_bytes};
    size_t bytes = sizeof(head) + key.size_bytes + value.size_bytes;
    unsigned char *at;
    int rc = pending_reserve(store, store->pending_bytes + bytes);

    if (rc)
        return rc;
    at = store->pending + store->pending_bytes;
    if (key.size_bytes)
        memcpy(at + sizeof(head), key.data, key.size_bytes);
    if (value.size_bytes)
        memcpy(at + sizeof(head) + key.size_bytes, value.data, value.size_bytes);
    if (store->checksum)
        head.check = checksum_of(&head, at + sizeof(head), bytes - sizeof(head));
    memcpy(at, &head, sizeof(head));
    store->pending_bytes += bytes;
    if (store->pending_bytes <= store->buffer_bytes)
        return 0;
    rc = log_write(store);
    if (rc)
        store->pending_bytes -= bytes; /* the put fails, so it must not come back later */
    return rc;
}

/* Takes in one record of the log. Returns its size, 0 if it is cut off or damaged, or an error. */
static int64_t replay_one(struct sb_store *store, const unsigned char *bytes, uint64_t left)
{
    struct log_head head;
    struct sb_slice key, value;
    struct record *record;
    uint64_t body_bytes;
    size_t index;
    int rc;

    if (left < sizeof(head))
        return 0;
    memcpy(&head, bytes, sizeof(head));
    bytes += sizeof(head);
    body_bytes = (uint64_t)head.key_bytes + (head.value_bytes == REMOVED ? 0 : head.value_bytes);
    if (body_bytes > left - sizeof(head) || head.key_bytes > KEY_BYTES_MAX)
        return 0;
    if (head.check && head.check != checksum_of(&head, bytes, body_bytes))
        return 0;
    key = (struct sb_slice){bytes, head.key_bytes};
    value = (struct sb_slice){bytes + head.key_bytes, body_bytes - head.key_bytes};
    index = lower_bound(store, key);
    if (head.value_bytes == REMOVED) {
        if (is_at(store, index, key))
            remove_record(store, index);
    } else {
        rc = make_record(store, key, value, &record);
        if (rc)
            return rc;
        insert_record(store, index, record);
    }
    return (int64_t)(sizeof(head) + body_bytes);
}

/* Makes the array from the file. A file that ends in half a record is what a crash leaves behind:
 * mode SB_RECOVER cuts it off, mode SB_REOPEN was promised a store that was closed. */
static int replay(struct sb_store *store, enum sb_mode mode)
{
    unsigned char *bytes;
    struct stat status;
    int64_t took = 1;

    if (fstat(store->fd, &status))
        return system_fail(store->host, "fstat");
    if (!status.st_size)
        return 0;
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, store->fd, 0);
    if (bytes == MAP_FAILED)
        return system_fail(store->host, "mmap");
    while (took > 0) {
        took = replay_one(store, bytes + store->log_bytes,
                          (uint64_t)status.st_size - store->log_bytes);
        store->log_bytes += took > 0 ? (uint64_t)took : 0;
    }
    (void)munmap(bytes, (size_t)status.st_size);
    if (took < 0)
        return (int)took;
    if (store->log_bytes == (uint64_t)status.st_size)
        return 0;
    if (mode != SB_RECOVER)
        return store->host->fail(SB_ERR_CORRUPT, 0, "skeleton: log is damaged at byte %" PRIu64,
                                 store->log_bytes);
    if (ftruncate(store->fd, (off_t)store->log_bytes) || fsync(store->fd))
        return system_fail(store->host, "ftruncate");
    return 0;
}

/* ---- version, open, close ----------------------------------------------------------------- */

/* REQUIRED. Called by `storebench list` and in each repeat, before any store is open. Returns text
 * in static storage: the version of the library that is loaded, not of the header that this file
 * was compiled with. */
static const char *skeleton_version(void)
{
    return "skeleton 1";
}

static int free_store(struct sb_store *store)
{
    int failed = store->fd >= 0 ? close(store->fd) : 0;

    for (size_t i = 0; i < store->count; i++)
        free(store->records[i]);
    free(store->records);
    free(store->pending);
    free(store);
    return failed;
}

/* How many records to make room for. An explicit option beats the profile; the profile beats the
 * default. SB_PROFILE_DEFAULT passes nothing on but the location and the level, SB_PROFILE_EQUAL
 * what the harness expects, SB_PROFILE_TUNED also what the authors of the library recommend. */
static size_t choose_capacity(const struct sb_open *args, const struct skeleton_options *options)
{
    if (options->capacity_records != SB_OPTION_UNSET)
        return (size_t)options->capacity_records;
    if (args->profile != SB_PROFILE_DEFAULT && args->expected_records > CAPACITY_DEFAULT &&
        args->expected_records < SIZE_MAX / sizeof(struct record *))
        return (size_t)args->expected_records;
    return CAPACITY_DEFAULT;
}

/* Tells the harness what is in force. Every setting that can change a figure is named, and whether
 * it was asked of the library afterwards (SB_READ_BACK) or only passed to it (SB_REQUESTED). */
static void describe(const struct sb_open *args, const struct sb_store *store)
{
    const struct sb_host *host = args->host;

    host->effective(args->report, SB_READ_BACK, "capacity", "%zu", store->capacity);
    host->effective(args->report, SB_REQUESTED, "buffer_bytes", "%zu", store->buffer_bytes);
    host->effective(args->report, SB_REQUESTED, "checksum", store->checksum ? "on" : "off");
    host->effective(args->report, SB_REQUESTED, "flush",
                    store->flush == FLUSH_FSYNC ? "fsync" : "fdatasync");
    /* A level is a minimum. Without a buffer every put is in the kernel before it returns, so a
     * store that was asked for `none` keeps `process`, and says so. */
    if (args->level == SB_LEVEL_NONE && !store->buffer_bytes)
        host->keeps(args->report, SB_LEVEL_PROCESS);
    /* The counterpart: without checksums a damaged record would be taken for a good one, but no
     * capability depends on it. If one did: host->lacks(args->report, SB_CAP_...); */
    host->note(args->report, "All records are kept in memory: there is no cache to bound.");
}

static int open_log(const struct sb_open *args, struct sb_store *store)
{
    int create = args->mode == SB_CREATE ? O_CREAT | O_EXCL : 0;
    int length, dir_fd, failed;
    char path[PATH_MAX];

    length = snprintf(path, sizeof(path), "%s/log", args->dir);
    if (length < 0 || (size_t)length >= sizeof(path))
        return args->host->fail(SB_ERR_LIMIT, 0, "skeleton: the path %s is too long", args->dir);
    store->fd = open(path, O_RDWR | O_CLOEXEC | create, 0644);
    if (store->fd < 0)
        return system_fail(args->host, path);
    if (flock(store->fd, LOCK_EX | LOCK_NB))
        return system_fail(args->host, "flock");
    if (!create)
        return replay(store, args->mode);
    if (args->level != SB_LEVEL_POWER)
        return 0;
    /* A file whose name is lost is lost: a new name is flushed with its directory. */
    dir_fd = open(args->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return system_fail(args->host, args->dir);
    failed = fsync(dir_fd);
    (void)close(dir_fd);
    return failed ? system_fail(args->host, "fsync of the directory") : 0;
}

/* REQUIRED. Called once for a store, by the process of a repeat, before any other hook but
 * `version` and `preload`; its time is reported apart and is in no rate.
 *
 * `args->dir` exists and belongs to the store alone. The mode says what is in it: SB_CREATE
 * nothing; SB_REOPEN a store that was closed; SB_RECOVER a store whose process died, which may need
 * a call of the library's own (declare SB_CAP_RECOVERY then). What `args` points to lives until
 * `close` returns. Returns 0 and a store; or the code of host->fail with everything released again
 * and *storep untouched. What cannot be honoured is refused with SB_ERR_UNSUPPORTED: the cell is
 * then shown as n/a with that text. */
static int skeleton_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct skeleton_options *options = args->options;
    struct sb_store *store;
    int rc;

    if (args->level == SB_LEVEL_POWER && !options->checksum)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "skeleton: durability 'power' needs checksum=on");
    store = calloc(1, sizeof(*store));
    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "skeleton: out of memory");
    store->host = args->host;
    store->level = args->level;
    store->checksum = options->checksum != 0;
    store->flush = (enum flush_call)options->flush;
    store->buffer_bytes = (size_t)options->buffer_bytes;
    store->fd = -1;
    rc = reserve(store, choose_capacity(args, options));
    if (!rc)
        rc = open_log(args, store);
    if (rc) {
        (void)free_store(store);
        return rc;
    }
    describe(args, store);
    *storep = store;
    return 0;
}

/* REQUIRED. Called once, when all sessions are detached; timed apart. Frees the store whatever it
 * returns. Closing need not flush to the device, but what was acknowledged must be there when the
 * directory is opened again. */
static int skeleton_close(struct sb_store *store)
{
    const struct sb_host *host = store->host;
    int rc = log_write(store);

    if (free_store(store) && !rc)
        return system_fail(host, "close");
    return rc;
}

/* ---- sessions and commits ------------------------------------------------------------------ */

/* REQUIRED, both. Called for each thread that is to use the store, right after `open` for the
 * first. Two sessions are used at the same time only as far as SB_CAP_READERS and SB_CAP_WRITERS
 * allow. `detach` cannot fail and frees what the session holds, an open transaction included. */
static int skeleton_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "skeleton: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void skeleton_detach(struct sb_session *session)
{
    free(session);
}

/* OPTIONAL; required with `begin`. Called by the measured loop after every `batch` puts, inside the
 * clock. When it returns 0, all puts and deletes since the last commit keep the level that the
 * store was opened with: this is where the levels differ, and the only place that should pay for
 * them. NULL would mean that nothing is left to do at any level.
 *
 * `begin` and `abort` are not here, for want of transactions. With SB_CAP_TXN `begin` is called
 * before the first put of each batch, `commit` makes the batch atomic, and `abort` undoes it; with
 * SB_CAP_SNAPSHOT reads are bracketed by begin(SB_READ) and `commit`, too. Brackets of one session
 * never nest, and after commit or abort, failed or not, the unit is over. */
static int skeleton_commit(struct sb_session *session)
{
    struct sb_store *store = session->store;
    int rc;

    if (store->level == SB_LEVEL_NONE)
        return 0;
    rc = log_write(store);
    if (rc || store->level == SB_LEVEL_PROCESS)
        return rc;
    return log_flush(store);
}

/* ---- records ------------------------------------------------------------------------------ */

/* REQUIRED. Called by the measured loop, inside the clock: no clock, no log, no allocation and no
 * copy that the library does not need. Inserts, or replaces with a value of any size. Keys and
 * values may hold any byte; a value may be empty. The bytes are the caller's again afterwards. */
static int skeleton_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    struct record *record;
    int rc = make_record(store, key, value, &record);

    if (rc)
        return rc;
    rc = log_append(store, key, value, record->value_bytes);
    if (rc) {
        free(record);
        return rc;
    }
    insert_record(store, lower_bound(store, key), record);
    return 0;
}

/* Only with SB_CAP_APPEND, and then required: a put whose key is greater than all in the store.
 * Declare it where the library has a faster way for that (bulk loading); `put` must not use it. */
static int skeleton_append(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    struct record *record;
    int rc;

    if (store->count && compare(store->records[store->count - 1], key) >= 0)
        return store->host->fail(SB_ERR_FAILED, 0, "skeleton: an appended key is not the greatest");
    rc = make_record(store, key, value, &record);
    if (rc)
        return rc;
    rc = log_append(store, key, value, record->value_bytes);
    if (rc) {
        free(record);
        return rc;
    }
    store->records[store->count++] = record;
    return 0;
}

/* REQUIRED. Called by the measured loop, inside the clock. Returns SB_NOTFOUND, or 0 and a slice
 * that stays valid until the next call on this session. Where the library copies, let it copy into
 * a buffer of the session; where it offers its own memory, return that and declare
 * SB_CAP_ZERO_COPY. The harness reads every line of the value, the same for all drivers. */
static int skeleton_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    const struct sb_store *store = session->store;
    size_t index = lower_bound(store, key);

    if (!is_at(store, index, key))
        return SB_NOTFOUND;
    *valuep = value_of(store->records[index]);
    return 0;
}

/* REQUIRED. Returns 0 when the key is gone. For a key that was not there: SB_NOTFOUND if the driver
 * declares SB_CAP_DELETE_MISS, else 0. */
static int skeleton_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;
    size_t index = lower_bound(store, key);
    int rc;

    if (!is_at(store, index, key))
        return SB_NOTFOUND;
    rc = log_append(store, key, (struct sb_slice){NULL, 0}, REMOVED);
    if (rc)
        return rc;
    remove_record(store, index);
    return 0;
}

/* ---- cursors ------------------------------------------------------------------------------ */

/* REQUIRED, with the next two. Called by scans, inside the clock, and by the comparison of contents
 * at the end of every repeat. A new cursor stands before the first record. Nothing is written to
 * the store while one is open. */
static int skeleton_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "skeleton: out of memory");
    cursor->store = session->store;
    *cursorp = cursor;
    return 0;
}

/* REQUIRED. Every record once, in byte order of the keys with SB_CAP_ORDERED, else in any order;
 * SB_NOTFOUND after the last. The slices stay valid until the next call on the cursor or its
 * session. `valuep` may be NULL: do not fetch the value then, if that is cheaper. */
static int skeleton_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                                struct sb_slice *valuep)
{
    const struct record *record;

    if (cursor->next == cursor->store->count)
        return SB_NOTFOUND;
    record = cursor->store->records[cursor->next++];
    *keyp = key_of(record);
    if (valuep)
        *valuep = value_of(record);
    return 0;
}

/* Required with SB_CAP_ORDERED. Moves to the first record whose key is not less than `key` and
 * returns it, so that cursor_next goes on with the one after it. */
static int skeleton_cursor_seek(struct sb_cursor *cursor, struct sb_slice key,
                                struct sb_slice *keyp, struct sb_slice *valuep)
{
    cursor->next = lower_bound(cursor->store, key);
    return skeleton_cursor_next(cursor, keyp, valuep);
}

/* REQUIRED. Cannot fail. */
static void skeleton_cursor_close(struct sb_cursor *cursor)
{
    free(cursor);
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* OPTIONAL. Called after each phase that writes, after `settle` if there is one; its time counts as
 * settling. Hands every acknowledged write to the device, whatever the level. */
static int skeleton_sync(struct sb_store *store)
{
    int rc = log_write(store);

    return rc ? rc : log_flush(store);
}

/* OPTIONAL. Called before `close`, outside the clock. Cheap figures of the engine itself, with
 * their unit in the name; they go into the result. */
static int skeleton_counters(struct sb_store *store, const struct sb_host *host,
                             struct sb_report *report)
{
    host->counter(report, "records", store->count);
    host->counter(report, "log_bytes", store->log_bytes + store->pending_bytes);
    return 0;
}

/* OPTIONAL. Called on a closed store: "verify" checks it, "stat" describes it, "salvage" saves
 * what can be saved. Returns SB_ERR_UNSUPPORTED for a verb that the library has nothing for. */
static int skeleton_tool(const struct sb_open *args, const char *verb)
{
    struct sb_open mine = *args;
    struct sb_store *store = NULL;
    int rc;

    if (strcmp(verb, "verify") != 0 && strcmp(verb, "stat") != 0 && strcmp(verb, "salvage") != 0)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "skeleton has no tool '%s'; it has 'verify', 'stat' and 'salvage'",
                                verb);
    mine.mode = strcmp(verb, "salvage") == 0 ? SB_RECOVER : SB_REOPEN;
    rc = skeleton_open(&mine, &store);
    if (rc)
        return rc;
    args->host->print(args->report, "records: %zu", store->count);
    args->host->print(args->report, "log: %" PRIu64 " bytes", store->log_bytes);
    return skeleton_close(store);
}

/* ---- the tables --------------------------------------------------------------------------- */

/* One option of each type: name, type, unit, default, least, greatest, choices, help, member. A
 * default of NULL leaves the member at SB_OPTION_UNSET. `cache` is the harness's own name. */
static const struct sb_option skeleton_options_table[] = {
    {"checksum", SB_OPTION_BOOL, NULL, "on", 0, 1, NULL, "check the records of the log",
     offsetof(struct skeleton_options, checksum)},
    {"capacity", SB_OPTION_INT, "records", NULL, 1, 1 << 30, NULL,
     "records to make room for; default: as many as are planned",
     offsetof(struct skeleton_options, capacity_records)},
    {"buffer", SB_OPTION_SIZE, "bytes", "64KiB", 0, 1 << 30, NULL,
     "changes that are collected before they are written; 0 writes each put",
     offsetof(struct skeleton_options, buffer_bytes)},
    {"flush", SB_OPTION_ENUM, NULL, "fdatasync", 0, 0, "fdatasync|fsync",
     "call that flushes a commit at durability 'power'", offsetof(struct skeleton_options, flush)},
    {0},
};

/* One entry for each driver of the module; a second one would differ in name, `variant` (which
 * `open` finds in args->driver) and what else differs. `caps` and `levels` are what some mode has:
 * `open` takes back with host->lacks what its mode has not. Declare only what is true: the
 * conformance suite holds the driver to every word. */
static const struct sb_driver skeleton_drivers[] = {
    {
        .name = "skeleton",
        .summary = "sorted array in memory with a log file: the example to copy",
        .caps = SB_CAP_ORDERED | SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_ZERO_COPY |
                SB_CAP_PERSISTENT | SB_CAP_APPEND | SB_CAP_DELETE_MISS | SB_CAP_RECOVERY,
        .levels = SB_LEVELS_ALL,
        .key_bytes_min = 0, /* an empty key is a key */
        .key_bytes_max = KEY_BYTES_MAX,
        .value_bytes_max = VALUE_BYTES_MAX,
        .database_bytes_max = 0, /* none worth naming */
        .options = skeleton_options_table,
        .options_bytes = sizeof(struct skeleton_options),
        .version = skeleton_version,
        /* OPTIONAL. Called before the process of a repeat is started. Returns the file name of a
         * library beside the module that must be preloaded for these options, or NULL. */
        .preload = NULL,
        .open = skeleton_open,
        .close = skeleton_close,
        .attach = skeleton_attach,
        .detach = skeleton_detach,
        .begin = NULL, /* see skeleton_commit */
        .commit = skeleton_commit,
        .abort = NULL, /* likewise */
        .put = skeleton_put,
        .get = skeleton_get,
        .del = skeleton_del,
        .append = skeleton_append,
        .cursor_open = skeleton_cursor_open,
        .cursor_next = skeleton_cursor_next,
        .cursor_close = skeleton_cursor_close,
        .cursor_seek = skeleton_cursor_seek,
        .sync = skeleton_sync,
        /* OPTIONAL. Called after each phase that writes, before `sync`. Finishes work that goes on
         * in the background: compaction, a checkpoint. There is none here. */
        .settle = NULL,
        .counters = skeleton_counters,
        .tool = skeleton_tool,
    },
};

/* The one symbol that the module exports. */
SB_MODULE(skeleton_drivers);
