/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * memory-hash.c -- a hash table in memory, made of the macros of uthash (driver `memory-hash`).
 *
 * It is the upper bound of what a store can do without files, and keeps nothing once it is closed:
 * level `none` only. uthash chains its records in buckets, and in the order of their insertion,
 * which is the order of cursors (a value that outgrows its record moves to the end). It cannot be
 * sized in advance: the table starts with 32 buckets and doubles when a chain gets too long, inside
 * whichever put that is. The hash function is uthash's default, Jenkins's.
 */
/* Without this, uthash calls exit when there is no memory; with it, it takes back the insertion and
 * says so here. Must precede the header. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(record) ((record)->refused = true)

#include "driver.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define TEXT_OF(name) #name
#define VALUE_OF(name) TEXT_OF(name)

/* The key and the value that follows it share the allocation of the record. */
struct record {
    UT_hash_handle hh;
    size_t value_bytes;
    size_t room_bytes; /* of `bytes` */
    bool refused;      /* uthash had no memory to add it */
    unsigned char bytes[];
};

struct sb_store {
    const struct sb_host *host;
    struct record *records; /* uthash's head: the oldest record, or NULL */
};

struct sb_session {
    struct sb_store *store;
};

struct sb_cursor {
    struct record *next;
};

/* ---- records ------------------------------------------------------------------------------ */

static struct sb_slice record_value(const struct record *record)
{
    return (struct sb_slice){record->bytes + record->hh.keylen, record->value_bytes};
}

/* The C library allows no null pointer, not even for no bytes. */
static const void *bytes_of(struct sb_slice slice)
{
    return slice.size_bytes ? slice.data : "";
}

static struct record *record_create(struct sb_slice key, struct sb_slice value)
{
    struct record *record;
    size_t room_bytes, total_bytes;

    if (__builtin_add_overflow(key.size_bytes, value.size_bytes, &room_bytes) ||
        __builtin_add_overflow(room_bytes, sizeof(*record), &total_bytes))
        return NULL;
    record = malloc(total_bytes);
    if (!record)
        return NULL;
    record->value_bytes = value.size_bytes;
    record->room_bytes = room_bytes;
    record->refused = false;
    memcpy(record->bytes, bytes_of(key), key.size_bytes);
    memcpy(record->bytes + key.size_bytes, bytes_of(value), value.size_bytes);
    return record;
}

static int no_memory(const struct sb_store *store, size_t bytes)
{
    return store->host->fail(SB_ERR_NOMEM, 0, "memory-hash: no memory for a record of %zu bytes",
                             bytes);
}

/* ---- the store ---------------------------------------------------------------------------- */

static const char *hash_version(void)
{
    return "uthash " VALUE_OF(UTHASH_VERSION);
}

static int hash_open(const struct sb_open *args, struct sb_store **storep)
{
    const struct sb_host *host = args->host;
    struct sb_store *store;

    if (args->mode != SB_CREATE)
        return host->fail(SB_ERR_UNSUPPORTED, 0,
                          "memory-hash: a store in memory is gone once it is closed");
    store = calloc(1, sizeof(*store));
    if (!store)
        return host->fail(SB_ERR_NOMEM, 0, "memory-hash: out of memory");
    store->host = host;
    host->effective(args->report, SB_REQUESTED, "hash", "Jenkins");
    host->effective(args->report, SB_REQUESTED, "initial_buckets", "%u", HASH_INITIAL_NUM_BUCKETS);
    host->note(args->report, "Everything is in memory: there is no cache to bound.");
    host->note(args->report, "uthash cannot be sized in advance: loads include its doublings.");
    *storep = store;
    return 0;
}

static int hash_close(struct sb_store *store)
{
    struct record *record = store->records;

    HASH_CLEAR(hh, store->records); /* the buckets only; the records stay chained */
    while (record) {
        struct record *next = record->hh.next;
        free(record);
        record = next;
    }
    free(store);
    return 0;
}

static int hash_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "memory-hash: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void hash_detach(struct sb_session *session)
{
    free(session);
}

/* ---- operations --------------------------------------------------------------------------- */

static struct record *find(struct sb_store *store, struct sb_slice key, unsigned hash)
{
    const void *bytes = bytes_of(key);
    struct record *record;

    HASH_FIND_BYHASHVALUE(hh, store->records, bytes, key.size_bytes, hash, record);
    return record;
}

static unsigned hash_of(struct sb_slice key)
{
    const void *bytes = bytes_of(key);
    unsigned hash;

    HASH_VALUE(bytes, key.size_bytes, hash);
    return hash;
}

/* The new record is added before the old one goes: when there is no memory for it, nothing has
 * been lost. uthash deletes by address, so that for a moment a key may be there twice. */
static int add(struct sb_store *store, struct sb_slice key, struct sb_slice value, unsigned hash)
{
    struct record *record = record_create(key, value);

    if (!record)
        return no_memory(store, key.size_bytes + value.size_bytes);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, store->records, record->bytes, key.size_bytes, hash, record);
    if (record->refused) {
        free(record);
        return no_memory(store, key.size_bytes + value.size_bytes);
    }
    return 0;
}

static int hash_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    unsigned hash;
    struct record *old;
    int rc;

    if (key.size_bytes > UINT32_MAX)
        return store->host->fail(SB_ERR_LIMIT, 0, "memory-hash: uthash takes keys below 4 GiB");
    hash = hash_of(key);
    old = find(store, key, hash);
    if (old && value.size_bytes <= old->room_bytes - key.size_bytes) {
        /* May overlap: the value may be the slice that `get` has returned for this key. */
        memmove(old->bytes + key.size_bytes, bytes_of(value), value.size_bytes);
        old->value_bytes = value.size_bytes;
        return 0;
    }
    rc = add(store, key, value, hash);
    if (rc || !old)
        return rc;
    HASH_DELETE(hh, store->records, old);
    free(old);
    return 0;
}

static int hash_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct record *record = find(session->store, key, hash_of(key));

    if (!record)
        return SB_NOTFOUND;
    *valuep = record_value(record);
    return 0;
}

static int hash_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;
    struct record *record = find(store, key, hash_of(key));

    if (!record)
        return SB_NOTFOUND;
    HASH_DELETE(hh, store->records, record);
    free(record);
    return 0;
}

/* ---- cursors ------------------------------------------------------------------------------ */

static int hash_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "memory-hash: out of memory");
    cursor->next = session->store->records;
    *cursorp = cursor;
    return 0;
}

static int hash_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    struct record *record = cursor->next;

    if (!record)
        return SB_NOTFOUND;
    cursor->next = record->hh.next;
    *keyp = (struct sb_slice){record->bytes, record->hh.keylen};
    if (valuep)
        *valuep = record_value(record);
    return 0;
}

static void hash_cursor_close(struct sb_cursor *cursor)
{
    free(cursor);
}

static int hash_counters(struct sb_store *store, const struct sb_host *host,
                         struct sb_report *report)
{
    const UT_hash_table *table = store->records ? store->records->hh.tbl : NULL;

    host->counter(report, "records", HASH_COUNT(store->records));
    host->counter(report, "buckets", table ? table->num_buckets : 0);
    host->counter(report, "nonideal_records", table ? table->nonideal_items : 0);
    return 0;
}

static const struct sb_driver hash_drivers[] = {
    {
        .name = "memory-hash",
        .summary = "uthash: a chained hash table in memory, an unordered baseline",
        .caps = SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_ZERO_COPY | SB_CAP_DELETE_MISS,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .key_bytes_max = UINT32_MAX,
        .version = hash_version,
        .open = hash_open,
        .close = hash_close,
        .attach = hash_attach,
        .detach = hash_detach,
        .put = hash_put,
        .get = hash_get,
        .del = hash_del,
        .cursor_open = hash_cursor_open,
        .cursor_next = hash_cursor_next,
        .cursor_close = hash_cursor_close,
        .counters = hash_counters,
    },
};

SB_MODULE(hash_drivers);
