/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * memory-tree.c -- an ordered store in memory that needs nothing but libc (driver `memory-tree`).
 *
 * The index is the red-black tree of tsearch(3); the records themselves are also threaded in a
 * ring in key order, so that a cursor is one pointer and never looks at the tree. It keeps nothing
 * once it is closed: level `none` only. It is a baseline, and the reference that the contents of
 * other stores are compared with, so it prefers being simple to being fast.
 *
 * Where a new record belongs in the ring is learnt on the way down: tsearch compares the probe with
 * every node that it passes, so the last record that compared less is the predecessor. That rests
 * on the first argument of the comparison being the probe, and the rotations of an insertion do not
 * disturb it, because every node that they lift into the path has been compared by then.
 */
#include "driver.h"

#include <gnu/libc-version.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct links {
    struct links *previous, *next;
};

/* The key and the value that follows it share the allocation of the record. */
struct record {
    struct links links; /* first: the ring's pointers are cast to records */
    size_t key_bytes, value_bytes;
    size_t room_bytes; /* of `bytes` */
    unsigned char bytes[];
};

struct sb_store {
    const struct sb_host *host;
    void *root;        /* of tsearch; its nodes point to the records */
    struct links ring; /* before the first record and after the last */
    uint64_t records;
};

struct sb_session {
    struct sb_store *store;
};

struct sb_cursor {
    struct sb_store *store;
    struct links *at; /* the record returned last, or the ring's head */
};

/* What is looked for, and what the comparisons have found out. */
struct probe {
    struct sb_slice key;
    struct links *before;  /* the greatest record that is less than `key` */
    struct record *record; /* the record that has `key`, or NULL */
};

/* ---- records ------------------------------------------------------------------------------ */

static struct sb_slice record_key(const struct record *record)
{
    return (struct sb_slice){record->bytes, record->key_bytes};
}

static struct sb_slice record_value(const struct record *record)
{
    return (struct sb_slice){record->bytes + record->key_bytes, record->value_bytes};
}

/* The C library allows no null pointer, not even for no bytes. The source may be a slice that `get`
 * has returned, of the same record. */
static void copy_bytes(unsigned char *to, struct sb_slice from)
{
    if (from.size_bytes)
        memmove(to, from.data, from.size_bytes);
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
    record->key_bytes = key.size_bytes;
    record->value_bytes = value.size_bytes;
    record->room_bytes = room_bytes;
    copy_bytes(record->bytes, key);
    copy_bytes(record->bytes + key.size_bytes, value);
    return record;
}

static void link_after(struct links *before, struct links *links)
{
    links->previous = before;
    links->next = before->next;
    before->next->previous = links;
    before->next = links;
}

static void unlink_links(struct links *links)
{
    links->previous->next = links->next;
    links->next->previous = links->previous;
}

/* ---- the tree ----------------------------------------------------------------------------- */

/* For tsearch and its kin: `a` is always the probe. `b` is a record, except while a new probe is
 * taken out of the tree again for want of memory. */
static int compare(const void *a, const void *b)
{
    struct probe *probe = (struct probe *)(uintptr_t)a;
    struct record *record = (struct record *)(uintptr_t)b;
    size_t common_bytes;
    int order = 0;

    if (a == b)
        return 0;
    common_bytes =
        probe->key.size_bytes < record->key_bytes ? probe->key.size_bytes : record->key_bytes;
    if (common_bytes)
        order = memcmp(probe->key.data, record->bytes, common_bytes);
    if (!order)
        order = (probe->key.size_bytes > record->key_bytes) -
                (probe->key.size_bytes < record->key_bytes);
    if (order > 0)
        probe->before = &record->links;
    else if (!order)
        probe->record = record;
    return order;
}

static struct probe probe_for(struct sb_store *store, struct sb_slice key)
{
    return (struct probe){.key = key, .before = &store->ring};
}

static int no_memory(const struct sb_store *store, size_t bytes)
{
    return store->host->fail(SB_ERR_NOMEM, 0, "memory-tree: no memory for a record of %zu bytes",
                             bytes);
}

static const char *tree_version(void)
{
    static char text[32]; /* the same text whoever writes it */
    int length = snprintf(text, sizeof(text), "glibc %s", gnu_get_libc_version());

    return length > 0 && (size_t)length < sizeof(text) ? text : "glibc";
}

static int tree_open(const struct sb_open *args, struct sb_store **storep)
{
    struct sb_store *store;

    if (args->mode != SB_CREATE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0,
                                "memory-tree: a store in memory is gone once it is closed");
    store = calloc(1, sizeof(*store));
    if (!store)
        return args->host->fail(SB_ERR_NOMEM, 0, "memory-tree: out of memory");
    store->host = args->host;
    store->ring.previous = store->ring.next = &store->ring;
    args->host->effective(args->report, SB_REQUESTED, "index", "red-black tree of tsearch");
    args->host->note(args->report, "Everything is in memory: there is no cache to bound.");
    *storep = store;
    return 0;
}

static int tree_close(struct sb_store *store)
{
    tdestroy(store->root, free);
    free(store);
    return 0;
}

static int tree_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "memory-tree: out of memory");
    session->store = store;
    *sessionp = session;
    return 0;
}

static void tree_detach(struct sb_session *session)
{
    free(session);
}

/* ---- operations --------------------------------------------------------------------------- */

static int insert(struct sb_store *store, struct record **slot, struct probe *probe,
                  struct sb_slice value)
{
    struct record *record = record_create(probe->key, value);

    if (!record) {
        (void)tdelete(probe, &store->root, compare);
        return no_memory(store, probe->key.size_bytes + value.size_bytes);
    }
    *slot = record;
    link_after(probe->before, &record->links);
    store->records++;
    return 0;
}

static int replace(struct sb_store *store, struct record **slot, struct sb_slice value)
{
    struct record *old = *slot;
    struct record *record;

    if (value.size_bytes <= old->room_bytes - old->key_bytes) {
        copy_bytes(old->bytes + old->key_bytes, value);
        old->value_bytes = value.size_bytes;
        return 0;
    }
    record = record_create(record_key(old), value);
    if (!record)
        return no_memory(store, old->key_bytes + value.size_bytes);
    link_after(&old->links, &record->links);
    unlink_links(&old->links);
    *slot = record;
    free(old);
    return 0;
}

static int tree_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    struct probe probe = probe_for(store, key);
    /* A node of the tree begins with the pointer that it was made with. */
    struct record **slot = tsearch(&probe, &store->root, compare);

    if (!slot)
        return no_memory(store, key.size_bytes + value.size_bytes);
    return probe.record ? replace(store, slot, value) : insert(store, slot, &probe, value);
}

static int tree_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct probe probe = probe_for(session->store, key);

    if (!tfind(&probe, &session->store->root, compare))
        return SB_NOTFOUND;
    *valuep = record_value(probe.record);
    return 0;
}

static int tree_del(struct sb_session *session, struct sb_slice key)
{
    struct sb_store *store = session->store;
    struct probe probe = probe_for(store, key);

    if (!tdelete(&probe, &store->root, compare))
        return SB_NOTFOUND;
    unlink_links(&probe.record->links);
    free(probe.record);
    store->records--;
    return 0;
}

/* ---- cursors ------------------------------------------------------------------------------ */

static int tree_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "memory-tree: out of memory");
    cursor->store = session->store;
    cursor->at = &session->store->ring;
    *cursorp = cursor;
    return 0;
}

static int tree_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    struct links *next = cursor->at->next;
    const struct record *record = (const struct record *)next;

    /* At the end the cursor stays on the last record, so that it stays at the end. */
    if (next == &cursor->store->ring)
        return SB_NOTFOUND;
    cursor->at = next;
    *keyp = record_key(record);
    if (valuep)
        *valuep = record_value(record);
    return 0;
}

static int tree_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    struct probe probe = probe_for(cursor->store, key);

    (void)tfind(&probe, &cursor->store->root, compare);
    cursor->at = probe.record ? probe.record->links.previous : probe.before;
    return tree_cursor_next(cursor, keyp, valuep);
}

static void tree_cursor_close(struct sb_cursor *cursor)
{
    free(cursor);
}

static int tree_counters(struct sb_store *store, const struct sb_host *host,
                         struct sb_report *report)
{
    host->counter(report, "records", store->records);
    return 0;
}

static const struct sb_driver tree_drivers[] = {
    {
        .name = "memory-tree",
        .summary = "red-black tree of libc in memory: an ordered baseline",
        .caps = SB_CAP_ORDERED | SB_CAP_OWN_WRITES | SB_CAP_READERS | SB_CAP_ZERO_COPY |
                SB_CAP_DELETE_MISS,
        .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),
        .version = tree_version,
        .open = tree_open,
        .close = tree_close,
        .attach = tree_attach,
        .detach = tree_detach,
        .put = tree_put,
        .get = tree_get,
        .del = tree_del,
        .cursor_open = tree_cursor_open,
        .cursor_next = tree_cursor_next,
        .cursor_close = tree_cursor_close,
        .cursor_seek = tree_cursor_seek,
        .counters = tree_counters,
    },
};

SB_MODULE(tree_drivers);
