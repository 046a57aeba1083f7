/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.h -- an open store as the harness sees it: the only place that calls a driver's hooks.
 *
 * The rare calls are in store.c and check their arguments. Those of the measured loop are inline
 * here, so that a driver costs one indirect call and nothing else. Brackets: sb_store_begin and
 * sb_store_commit may be called around any batch; they reach the driver only where the contract of
 * driver.h wants them.
 */
#ifndef SB_STORE_H
#define SB_STORE_H

#include "driver_report.h"

#include <assert.h>
#include <stdbool.h>

struct sb_store_handle {
    const struct sb_driver *driver;
    struct sb_store *store;     /* NULL while closed */
    struct sb_session *session; /* the first session; attached by sb_store_open */
    uint32_t caps;              /* in force: those of the driver less what the mode lacks */
    bool write_brackets, read_brackets;
    struct sb_report report;
};

/* What to open. `host`, `report` and `driver` of `args` are filled in by the call. The error is
 * SB_ERR_UNSUPPORTED when the driver does not declare `args->level`. On failure nothing is held but
 * the report; sb_store_close is still allowed. */
int sb_store_open(struct sb_store_handle *handle, const struct sb_driver *driver,
                  const struct sb_open *args) SB_MUST_CHECK;

/* Detaches, closes, and keeps the report for sb_report_release. Harmless when closed. */
int sb_store_close(struct sb_store_handle *handle) SB_MUST_CHECK;

/* A further session; the caller detaches it before sb_store_close. */
int sb_store_attach(struct sb_store_handle *handle, struct sb_session **sessionp) SB_MUST_CHECK;
void sb_store_detach(struct sb_store_handle *handle, struct sb_session *session);

/* 0 when the driver has no such hook. */
int sb_store_sync(struct sb_store_handle *handle) SB_MUST_CHECK;
int sb_store_settle(struct sb_store_handle *handle) SB_MUST_CHECK;
int sb_store_counters(struct sb_store_handle *handle) SB_MUST_CHECK;

/* Whether keys and values of these sizes are within the driver's limits; else sets the error. */
int sb_store_limits(const struct sb_driver *driver, uint64_t key_bytes,
                    uint64_t value_bytes) SB_MUST_CHECK;

/* The preload library for these options, or NULL. */
const char *sb_store_preload(const struct sb_driver *driver, const void *options);

/* Runs a tool of the driver on the closed store in args->dir. */
int sb_store_tool(const struct sb_driver *driver, const struct sb_open *args, const char *verb,
                  struct sb_report *report) SB_MUST_CHECK;

/* ---- the measured loop -------------------------------------------------------------------- */

#define SB_UNLIKELY(x) __builtin_expect(!!(x), 0)

static inline int sb_store_begin(struct sb_store_handle *h, struct sb_session *s, enum sb_txn kind)
{
    bool wanted = kind == SB_WRITE ? h->write_brackets : h->read_brackets;

    return wanted ? h->driver->begin(s, kind) : 0;
}

static inline int sb_store_commit(struct sb_store_handle *h, struct sb_session *s, enum sb_txn kind)
{
    /* Without `begin` a commit of writes still does what the level asks for. */
    bool wanted = kind == SB_WRITE ? h->driver->commit != NULL : h->read_brackets;

    return wanted ? h->driver->commit(s) : 0;
}

/* Only for stores with SB_CAP_TXN. */
static inline int sb_store_abort(struct sb_store_handle *h, struct sb_session *s)
{
    assert(h->caps & SB_CAP_TXN);
    return h->driver->abort(s);
}

static inline int sb_store_put(const struct sb_store_handle *h, struct sb_session *s,
                               struct sb_slice key, struct sb_slice value)
{
    return h->driver->put(s, key, value);
}

static inline int sb_store_append(const struct sb_store_handle *h, struct sb_session *s,
                                  struct sb_slice key, struct sb_slice value)
{
    return h->driver->append(s, key, value);
}

static inline int sb_store_get(const struct sb_store_handle *h, struct sb_session *s,
                               struct sb_slice key, struct sb_slice *valuep)
{
    return h->driver->get(s, key, valuep);
}

static inline int sb_store_del(const struct sb_store_handle *h, struct sb_session *s,
                               struct sb_slice key)
{
    return h->driver->del(s, key);
}

static inline int sb_store_cursor_open(const struct sb_store_handle *h, struct sb_session *s,
                                       struct sb_cursor **cursorp)
{
    *cursorp = NULL;
    return h->driver->cursor_open(s, cursorp);
}

static inline int sb_store_cursor_next(const struct sb_store_handle *h, struct sb_cursor *cursor,
                                       struct sb_slice *keyp, struct sb_slice *valuep)
{
    return h->driver->cursor_next(cursor, keyp, valuep);
}

/* Only for stores with SB_CAP_ORDERED. */
static inline int sb_store_cursor_seek(const struct sb_store_handle *h, struct sb_cursor *cursor,
                                       struct sb_slice key, struct sb_slice *keyp,
                                       struct sb_slice *valuep)
{
    return h->driver->cursor_seek(cursor, key, keyp, valuep);
}

static inline void sb_store_cursor_close(const struct sb_store_handle *h, struct sb_cursor *cursor)
{
    h->driver->cursor_close(cursor);
}

#endif
