/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * store.c -- the calls of store.h that are outside the measured loop.
 */
#include "store.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *level_word(enum sb_level level)
{
    return level == SB_LEVEL_NONE ? "none" : level == SB_LEVEL_PROCESS ? "process" : "power";
}

/* A driver that fails without a word would leave the text of an older error standing. */
static int checked(const struct sb_driver *driver, const char *hook, int rc)
{
    if (rc >= 0)
        return rc;
    if (sb_error_last()->code != rc)
        return sb_error_set((enum sb_code)rc, 0, "%s: %s failed without a text", driver->name,
                            hook);
    return rc;
}

static void fill(struct sb_open *mine, const struct sb_driver *driver, const struct sb_open *args,
                 struct sb_report *report)
{
    *mine = *args;
    mine->host = &sb_host;
    mine->report = report;
    mine->driver = driver;
    if (!mine->sessions)
        mine->sessions = 1;
}

int sb_store_open(struct sb_store_handle *handle, const struct sb_driver *driver,
                  const struct sb_open *args)
{
    struct sb_open mine;
    int rc;

    *handle = (struct sb_store_handle){.driver = driver};
    handle->report.level_kept = args->level;
    if (!(driver->levels & SB_LEVEL_BIT(args->level)))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s has no mode that keeps durability '%s'",
                            driver->name, level_word(args->level));
    sb_error_clear();
    fill(&mine, driver, args, &handle->report);
    rc = checked(driver, "open", driver->open(&mine, &handle->store));
    if (rc)
        return rc;
    if (!handle->store)
        return sb_error_set(SB_ERR_FAILED, 0, "%s: open returned no store", driver->name);
    handle->caps = driver->caps & ~handle->report.caps_lacking;
    handle->read_brackets = (handle->caps & SB_CAP_SNAPSHOT) != 0;
    handle->write_brackets = driver->begin != NULL;
    return sb_store_attach(handle, &handle->session);
}

int sb_store_close(struct sb_store_handle *handle)
{
    int rc;

    if (!handle->store)
        return 0;
    if (handle->session)
        sb_store_detach(handle, handle->session);
    handle->session = NULL;
    rc = checked(handle->driver, "close", handle->driver->close(handle->store));
    handle->store = NULL;
    return rc;
}

int sb_store_attach(struct sb_store_handle *handle, struct sb_session **sessionp)
{
    int rc;

    *sessionp = NULL;
    rc = checked(handle->driver, "attach", handle->driver->attach(handle->store, sessionp));
    if (!rc && !*sessionp)
        return sb_error_set(SB_ERR_FAILED, 0, "%s: attach returned no session",
                            handle->driver->name);
    return rc;
}

void sb_store_detach(struct sb_store_handle *handle, struct sb_session *session)
{
    handle->driver->detach(session);
}

int sb_store_sync(struct sb_store_handle *handle)
{
    if (!handle->driver->sync)
        return 0;
    return checked(handle->driver, "sync", handle->driver->sync(handle->store));
}

int sb_store_settle(struct sb_store_handle *handle)
{
    if (!handle->driver->settle)
        return 0;
    return checked(handle->driver, "settle", handle->driver->settle(handle->store));
}

int sb_store_counters(struct sb_store_handle *handle)
{
    if (!handle->driver->counters)
        return 0;
    return checked(handle->driver, "counters",
                   handle->driver->counters(handle->store, &sb_host, &handle->report));
}

int sb_store_limits(const struct sb_driver *driver, uint64_t key_bytes, uint64_t value_bytes)
{
    if (key_bytes < driver->key_bytes_min)
        return sb_error_set(SB_ERR_LIMIT, 0,
                            "%s takes keys of at least %" PRIu32 " bytes, not %" PRIu64,
                            driver->name, driver->key_bytes_min, key_bytes);
    if (driver->key_bytes_max && key_bytes > driver->key_bytes_max)
        return sb_error_set(SB_ERR_LIMIT, 0,
                            "%s takes keys of at most %" PRIu64 " bytes, not %" PRIu64,
                            driver->name, driver->key_bytes_max, key_bytes);
    if (driver->value_bytes_max && value_bytes > driver->value_bytes_max)
        return sb_error_set(SB_ERR_LIMIT, 0,
                            "%s takes values of at most %" PRIu64 " bytes, not %" PRIu64,
                            driver->name, driver->value_bytes_max, value_bytes);
    return 0;
}

const char *sb_store_preload(const struct sb_driver *driver, const void *options)
{
    return driver->preload ? driver->preload(options) : NULL;
}

int sb_store_tool(const struct sb_driver *driver, const struct sb_open *args, const char *verb,
                  struct sb_report *report)
{
    struct sb_open mine;

    if (!driver->tool)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s has no tools", driver->name);
    sb_error_clear();
    fill(&mine, driver, args, report);
    return checked(driver, "tool", driver->tool(&mine, verb));
}
