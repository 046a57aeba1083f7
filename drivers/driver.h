/* SPDX-License-Identifier: MIT
 *
 * driver.h -- the contract between storebench and a storage driver.
 *
 * This is the only storebench header that a driver includes. A driver module is a shared object
 * that exports one symbol, `storebench_module`, which names one or more drivers: constant tables of
 * hooks, capabilities, limits, durability levels and options. The harness vets the table when it
 * loads the module and calls the hooks from one place (src/store.h).
 *
 * Rules for every hook:
 *  - Return 0 (SB_OK), SB_NOTFOUND where it is listed, or the negative code that `host->fail`
 *    returned. Never print, exit, or install a signal handler.
 *  - A store and its sessions belong to the driver: complete `struct sb_store`, `struct sb_session`
 *    and `struct sb_cursor` in your own file. Keep no state in globals.
 *  - Output parameters are last and end in `p`. The harness sets them to NULL or zero beforehand.
 *  - Bytes handed in (keys, values, paths) are borrowed for the duration of the call, except what
 *    `struct sb_open` points to, which lives until `close` returns.
 *
 * Threads: `open`, `close`, `sync`, `settle` and `counters` are called by one thread at a time,
 * with no operation in flight. A session is used by one thread at a time. Two sessions are used
 * concurrently only within the limits of SB_CAP_READERS and SB_CAP_WRITERS.
 */
#ifndef SB_DRIVER_H
#define SB_DRIVER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a table below changes its meaning; the loader takes an exact match only. */
#define SB_DRIVER_ABI 1u

/* ---- results of a hook -------------------------------------------------------------------- */

enum sb_code {
    SB_OK = 0,
    SB_NOTFOUND = 1,         /* no such key, or no further record: a value, not an error */
    SB_ERR_FAILED = -1,      /* the library failed; its own code and text say how */
    SB_ERR_UNSUPPORTED = -2, /* this driver cannot honour what is asked: the cell becomes n/a */
    SB_ERR_LIMIT = -3,       /* key, value, batch or database beyond the store's limits */
    SB_ERR_NOMEM = -4,       /* out of memory */
    SB_ERR_FULL = -5,        /* the disk or the store's map is full */
    SB_ERR_CORRUPT = -6,     /* the store's files are damaged */
    SB_ERR_BUSY = -7,        /* another process or handle holds the store */
};

/* A run of bytes; may hold NULs. `data` may be NULL when `size_bytes` is 0. */
struct sb_slice {
    const void *data;
    size_t size_bytes;
};

/* ---- durability levels -------------------------------------------------------------------- */

/* What survives once `commit` has returned 0. A level is a minimum: run the cheapest mode of the
 * library that keeps it and, if that mode keeps more, say so with `host->keeps`. */
enum sb_level {
    SB_LEVEL_NONE = 0, /* nothing is promised once the process has died */
    SB_LEVEL_PROCESS =
        1,              /* kill -9 at any moment, after the recovery call where one is documented */
    SB_LEVEL_POWER = 2, /* loss of power: flushed to the device before commit returned */
    SB_LEVEL_COUNT
};
#define SB_LEVEL_BIT(level) (1u << (level))
#define SB_LEVELS_ALL                                                                              \
    (SB_LEVEL_BIT(SB_LEVEL_NONE) | SB_LEVEL_BIT(SB_LEVEL_PROCESS) | SB_LEVEL_BIT(SB_LEVEL_POWER))

/* ---- capabilities ------------------------------------------------------------------------- */

/* In the driver's table: what it can do under some option or level. A store whose mode lacks one of
 * them withdraws it during `open` with `host->lacks`. */
enum sb_cap {
    SB_CAP_ORDERED =
        1u << 0,          /* cursors run in byte order (memcmp, shorter first); needs cursor_seek */
    SB_CAP_TXN = 1u << 1, /* begin(SB_WRITE)..commit is atomic after a crash and on abort */
    SB_CAP_SNAPSHOT = 1u << 2, /* reads are bracketed by begin(SB_READ)..commit and see one state */
    SB_CAP_OWN_WRITES = 1u << 3,   /* a batch sees its own puts before its commit */
    SB_CAP_READERS = 1u << 4,      /* any number of sessions may read at the same time */
    SB_CAP_WRITERS = 1u << 5,      /* sessions may write at the same time as others read or write */
    SB_CAP_ZERO_COPY = 1u << 6,    /* get and cursors point into the store's own memory */
    SB_CAP_PERSISTENT = 1u << 7,   /* the data is in files of the directory and survives close */
    SB_CAP_CACHE = 1u << 8,        /* `cache_bytes` bounds the store's own cache */
    SB_CAP_APPEND = 1u << 9,       /* has the ascending-order fast path `append` */
    SB_CAP_DELETE_MISS = 1u << 10, /* `del` returns SB_NOTFOUND for a key that is not there */
    SB_CAP_RECOVERY = 1u << 11, /* after a crash the store wants mode SB_RECOVER, not SB_REOPEN */
    SB_CAP_DISCARDS =
        1u << 12, /* keeps no data (a null driver): contents are compared, not judged */
};

/* ---- options ------------------------------------------------------------------------------ */

enum sb_option_type {
    SB_OPTION_BOOL, /* on|off|yes|no|true|false|1|0  ->  1 or 0 */
    SB_OPTION_INT,  /* a whole number */
    SB_OPTION_SIZE, /* bytes, with KiB, MiB, GiB (or K, M, G) */
    SB_OPTION_ENUM, /* one word of `choices`  ->  its index */
};

/* The value of an option that has no default and was not given. */
#define SB_OPTION_UNSET INT64_MIN

/* One option as users write it: NAME:option=value. Every option is an int64_t member of the
 * driver's own options struct, at `offset`. A table ends with an entry whose name is NULL. */
struct sb_option {
    const char *name; /* [a-z0-9_-]+; `cache` is reserved for the harness */
    enum sb_option_type type;
    const char *unit;          /* for people: "bytes", "records"; NULL for none */
    const char *default_value; /* as a user would write it, or NULL: SB_OPTION_UNSET */
    int64_t min, max;          /* INT and SIZE: the inclusive range */
    const char *choices;       /* ENUM: words separated by '|' */
    const char *help;          /* one line */
    size_t offset;             /* offsetof(struct my_options, member) */
};

/* How far the driver goes beyond the library's own settings. An explicit option always wins. */
enum sb_profile {
    SB_PROFILE_DEFAULT = 0, /* as the library ships; only location and level are set */
    SB_PROFILE_EQUAL = 1, /* the cache budget and the expected size are passed on, no compression */
    SB_PROFILE_TUNED = 2, /* equal, and what the library's authors recommend; cite the source */
};

/* ---- what the harness offers -------------------------------------------------------------- */

struct sb_report; /* the harness's record of one open store; opaque */

/* How an effective setting is known. */
enum sb_origin {
    SB_READ_BACK, /* asked of the library after open */
    SB_REQUESTED, /* passed to the library, which has no getter */
};

#ifdef __GNUC__
#define SB_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define SB_PRINTF(fmt, first)
#endif

struct sb_host {
    /* Records an error of the calling thread and returns `code`, so that a hook can end with
     *     return host->fail(SB_ERR_FAILED, rc, "mdb_put: %s", mdb_strerror(rc));
     * `native_code` is the library's own code or errno. The text may be cut at 500 bytes. */
    int (*fail)(enum sb_code code, long native_code, const char *format, ...) SB_PRINTF(3, 4);

    /* The next calls describe the store that is being opened; call them from `open` only. */

    /* Level that this mode really keeps, when it is higher than the one asked for. */
    void (*keeps)(struct sb_report *report, enum sb_level level);
    /* Capabilities of the driver's table that this mode does not have. */
    void (*lacks)(struct sb_report *report, uint32_t caps);
    /* One setting in force, as "name = value"; goes into the result. */
    void (*effective)(struct sb_report *report, enum sb_origin origin, const char *name,
                      const char *format, ...) SB_PRINTF(4, 5);
    /* A fact that changes how the figures must be read (a packaging option, a missing knob). One
     * sentence; printed beside the cell. */
    void (*note)(struct sb_report *report, const char *format, ...) SB_PRINTF(2, 3);

    /* From `counters` only: one engine counter, with its unit in the name. */
    void (*counter)(struct sb_report *report, const char *name, uint64_t value);

    /* From `tool` only: a line of output, without its newline. */
    void (*print)(struct sb_report *report, const char *format, ...) SB_PRINTF(2, 3);
};

enum sb_mode {
    SB_CREATE,  /* `dir` exists and is empty */
    SB_REOPEN,  /* `dir` holds a store that was closed */
    SB_RECOVER, /* `dir` holds a store whose process died: make it usable, keep every commit */
};

struct sb_open {
    const struct sb_host *host;
    struct sb_report *report;
    const struct sb_driver *driver; /* the entry that was chosen; see `variant` */
    const char *dir;                /* absolute path of a directory that is the store's alone */
    enum sb_mode mode;
    enum sb_level level;
    enum sb_profile profile;
    const void *options;       /* the driver's own options struct, filled in; NULL if it has none */
    unsigned sessions;         /* how many sessions will be attached at the same time, at least 1 */
    uint64_t expected_records; /* planned number of distinct keys; 0: unknown */
    uint64_t expected_bytes;   /* planned bytes of all keys and values; 0: unknown */
    uint64_t batch_records;    /* puts in the largest commit that is planned */
    uint64_t cache_bytes;      /* budget of the store's own cache; 0: the library's default */
    uint64_t map_bytes;        /* address space a mapped store may reserve; 0: driver's choice */
};

enum sb_txn { SB_READ, SB_WRITE };

struct sb_store;   /* completed by each driver */
struct sb_session; /* completed by each driver */
struct sb_cursor;  /* completed by each driver */

/* ---- a driver ----------------------------------------------------------------------------- */

struct sb_driver {
    const char *name;    /* [a-z0-9-]+, unique among all modules */
    const char *summary; /* one line for `storebench list` */
    int variant;         /* for modules with several drivers: yours to use */
    uint32_t caps;       /* enum sb_cap */
    uint32_t levels;     /* SB_LEVEL_BIT of each level that some mode keeps */

    /* Limits; 0 means none worth naming. The harness refuses what is outside before it calls. */
    uint32_t key_bytes_min;
    uint64_t key_bytes_max;
    uint64_t value_bytes_max;
    uint64_t database_bytes_max;

    const struct sb_option *options; /* NULL: none */
    size_t options_bytes;            /* sizeof the driver's options struct */

    /* Required. The library's version at run time, for example "LMDB 0.9.24". Static storage. */
    const char *(*version)(void);

    /* Optional. File name of a library, beside the module, that must be preloaded into the process
     * for these options, or NULL. */
    const char *(*preload)(const void *options);

    /* Required. Opens the store. On failure everything is released again and *storep stays NULL. */
    int (*open)(const struct sb_open *args, struct sb_store **storep);

    /* Required. Closes and frees the store, whatever it returns. All sessions are detached. */
    int (*close)(struct sb_store *store);

    /* Required. A session is one thread's access to the store. */
    int (*attach)(struct sb_store *store, struct sb_session **sessionp);
    void (*detach)(struct sb_session *session);

    /* A commit unit. Writes are always bracketed by begin(SB_WRITE) and commit (or abort) when
     * `begin` is given; reads by begin(SB_READ) and commit when SB_CAP_SNAPSHOT is in force.
     * Brackets of one session never nest.
     *
     * `commit` returns once the puts and deletes since `begin` (since the last commit, when there
     * is no `begin`) keep the level the store was opened with. A store without transactions does
     * here what the level asks for; NULL means that nothing is left to do. After commit or abort,
     * failed or not, the unit is over.
     *
     * begin:  required with SB_CAP_TXN or SB_CAP_SNAPSHOT. Otherwise optional.
     * commit: required with `begin`.
     * abort:  required with SB_CAP_TXN: undoes a write unit. */
    int (*begin)(struct sb_session *session, enum sb_txn kind);
    int (*commit)(struct sb_session *session);
    int (*abort)(struct sb_session *session);

    /* Required. Inserts or replaces. */
    int (*put)(struct sb_session *session, struct sb_slice key, struct sb_slice value);

    /* Required. SB_NOTFOUND, or 0 and a value that stays valid until the next call on the session.
     */
    int (*get)(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep);

    /* Required. 0 when the key is gone; SB_NOTFOUND for a miss with SB_CAP_DELETE_MISS. */
    int (*del)(struct sb_session *session, struct sb_slice key);

    /* With SB_CAP_APPEND: a put whose key is greater than every key in the store. */
    int (*append)(struct sb_session *session, struct sb_slice key, struct sb_slice value);

    /* Required. Cursors read every record once. `cursor_next` moves to the first record, then to
     * each following one; SB_NOTFOUND at the end. Slices stay valid until the next call on the
     * cursor or its session. `valuep` may be NULL: the value is not wanted, do not fetch it if that
     * is cheaper. Nothing is written to the store while a cursor of it is open. */
    int (*cursor_open)(struct sb_session *session, struct sb_cursor **cursorp);
    int (*cursor_next)(struct sb_cursor *cursor, struct sb_slice *keyp, struct sb_slice *valuep);
    void (*cursor_close)(struct sb_cursor *cursor);

    /* Required with SB_CAP_ORDERED. Moves to the first record whose key is >= `key` and returns it;
     * cursor_next goes on from there. SB_NOTFOUND if there is none. */
    int (*cursor_seek)(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                       struct sb_slice *valuep);

    /* Optional. Hands every acknowledged write to the device, at any level. */
    int (*sync)(struct sb_store *store);

    /* Optional. Finishes background work (compaction, checkpoint) and writes back what is dirty. */
    int (*settle)(struct sb_store *store);

    /* Optional. Reports engine counters through host->counter. */
    int (*counters)(struct sb_store *store, const struct sb_host *host, struct sb_report *report);

    /* Optional. Runs "verify", "stat" or "salvage" on the closed store in args->dir and prints its
     * findings with host->print. SB_ERR_UNSUPPORTED for a verb it does not have. */
    int (*tool)(const struct sb_open *args, const char *verb);
};

/* The one symbol that a module exports. */
struct sb_module {
    uint32_t abi;          /* SB_DRIVER_ABI */
    uint32_t driver_bytes; /* sizeof(struct sb_driver) */
    uint32_t driver_count;
    const struct sb_driver *drivers;
};

/* Use as:  SB_MODULE(my_drivers);  with  static const struct sb_driver my_drivers[] = {...};
 * In a static build (SB_STATIC_MODULE names the module) the symbol gets a name of its own. */
#define SB_JOIN2(a, b) a##b
#define SB_JOIN(a, b) SB_JOIN2(a, b)
#ifdef SB_STATIC_MODULE
#define SB_MODULE_SYMBOL SB_JOIN(storebench_module_, SB_STATIC_MODULE)
#else
#define SB_MODULE_SYMBOL storebench_module
#endif
#ifdef __GNUC__
#define SB_EXPORT __attribute__((visibility("default")))
#else
#define SB_EXPORT
#endif
#define SB_MODULE(driver_table)                                                                    \
    SB_EXPORT extern const struct sb_module SB_MODULE_SYMBOL;                                      \
    SB_EXPORT const struct sb_module SB_MODULE_SYMBOL = {                                          \
        SB_DRIVER_ABI, sizeof(struct sb_driver), sizeof(driver_table) / sizeof((driver_table)[0]), \
        (driver_table)}

#ifdef __cplusplus
}
#endif

#endif
