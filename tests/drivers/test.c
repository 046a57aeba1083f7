/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * test.c -- drivers that misbehave, for the tests of the harness. All share a correct store in
 * memory (core.h) and break one thing each, which their names and summaries say. `test-good`
 * breaks nothing.
 *
 * Two habits help the tests to wait for events rather than for time: with STOREBENCH_TEST_PIDS in
 * the environment, every open appends the number of its process to that file (a forked one too),
 * and every store leaves a file in its folder that somebody has to remove.
 */
#include "core.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum fault {
    GOOD,
    SLEEP,
    CRASH,
    EXIT,
    HANG,
    WRONG,
    FLAKY,
    TORN,
    SHORT,
    STALE,
    MISSING,
    DISORDER,
    TWICE,
    FAIL,
    SILENT,
    FULL,
    PRINT,
    FORK,
    FORK_CRASH,
    REFUSE,
    FLUSH,
};

/* The harness looks into each line of a value. */
enum { LINE_BYTES = 64 };

enum hook { IN_PUT, IN_GET, IN_CLOSE };

enum flusher { BY_SELF, BY_THREAD, BY_CHILD, BY_SPAWN };

struct test_options {
    int64_t at; /* the call, or the record of a scan, that goes wrong */
    int64_t in; /* enum hook */
    int64_t ns;
    int64_t by; /* enum flusher */
};

struct sb_store {
    const struct sb_host *host;
    const char *name;
    enum fault fault;
    struct test_options options;
    struct core core;
    int64_t puts, gets, overwrites;
    int plain_fd, sync_fd; /* of a driver that flushes; else -1 */
};

struct sb_session {
    struct sb_store *store;
    unsigned char *copy; /* of a value that goes wrong */
};

struct sb_cursor {
    const struct sb_store *store;
    size_t next;
};

/* ---- faults ------------------------------------------------------------------------------- */

static void note_pid(void)
{
    const char *path = getenv("STOREBENCH_TEST_PIDS");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    (void)dprintf(fd, "%ld\n", (long)getpid());
    (void)close(fd);
}

/* A sanitizer would turn the signal into an exit status. */
static void crash(void)
{
    (void)signal(SIGSEGV, SIG_DFL);
    (void)raise(SIGSEGV);
}

static void hang(void)
{
    for (;;)
        (void)pause();
}

/* Lasts at least `ns`, whatever interrupts it. */
static void sleep_ns(int64_t ns)
{
    struct timespec until, now;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ns / 1000000000;
    until.tv_nsec += ns % 1000000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    do {
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec < until.tv_sec ||
             (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
}

static void start_sleeper(void)
{
    if (fork() != 0)
        return;
    note_pid();
    sleep_ns(INT64_C(1000) * 1000000000);
    _exit(0);
}

/* The faults that end or stop the whole process: in the call number `at` of the hook, or in close.
 */
static void misbehave(const struct sb_store *store, enum hook hook, int64_t call)
{
    if (store->options.in != hook || (hook != IN_CLOSE && call != store->options.at))
        return;
    if (store->fault == CRASH || store->fault == FORK_CRASH)
        crash();
    else if (store->fault == EXIT)
        exit(0);
    else if (store->fault == HANG)
        hang();
}

static void print(const struct sb_store *store, const char *hook)
{
    if (store->fault != PRINT)
        return;
    (void)printf("%s: %s on standard output\n", store->name, hook);
    (void)fprintf(stderr, "%s: %s on standard error\n", store->name, hook);
}

/* ---- flushes ------------------------------------------------------------------------------ */

/* Two flushes and ten bytes in two system calls. */
static void *flush(void *arg)
{
    const struct sb_store *store = arg;
    bool done = write(store->sync_fd, "0123456789", 10) == 10 && fdatasync(store->plain_fd) == 0;

    return done ? arg : NULL;
}

/* A shell inherits the descriptor that flushes with every write as its standard output. */
static pid_t spawn(const struct sb_store *store)
{
    char *const words[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                           (char *)(uintptr_t) "printf 0123456789", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;

    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (posix_spawn_file_actions_adddup2(&actions, store->sync_fd, STDOUT_FILENO) ||
        posix_spawn(&child, "/bin/sh", &actions, NULL, words, environ))
        child = -1;
    (void)posix_spawn_file_actions_destroy(&actions);
    return child;
}

static bool ended_well(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool flush_by(struct sb_store *store)
{
    pthread_t thread;
    void *result;
    pid_t child;

    switch ((enum flusher)store->options.by) {
    case BY_THREAD:
        return pthread_create(&thread, NULL, flush, store) == 0 &&
               pthread_join(thread, &result) == 0 && result;
    case BY_CHILD:
        child = fork();
        if (child == 0)
            _exit(flush(store) ? 0 : 1);
        return ended_well(child);
    case BY_SPAWN:
        return ended_well(spawn(store));
    default:
        return flush(store) != NULL;
    }
}

/* ---- hooks -------------------------------------------------------------------------------- */

static const char *test_version(void)
{
    return "test 1";
}

static int test_open(const struct sb_open *args, struct sb_store **storep)
{
    struct sb_store *store;
    char path[4096];
    int fd;

    note_pid();
    if (args->driver->variant == REFUSE)
        return args->host->fail(SB_ERR_UNSUPPORTED, 0, "%s: open refuses by design",
                                args->driver->name);
    if (snprintf(path, sizeof(path), "%s/data", args->dir) >= (int)sizeof(path))
        return args->host->fail(SB_ERR_LIMIT, 0, "%s: path too long", args->driver->name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    store = calloc(1, sizeof(*store));
    if (fd < 0 || !store) {
        free(store);
        return args->host->fail(SB_ERR_FAILED, 0, "%s: cannot open", args->driver->name);
    }
    store->plain_fd = store->sync_fd = -1;
    if (args->driver->variant == FLUSH) {
        store->plain_fd = dup(fd);
        store->sync_fd = open(path, O_WRONLY | O_DSYNC | O_CLOEXEC);
    }
    (void)close(fd);
    store->host = args->host;
    store->name = args->driver->name;
    store->fault = (enum fault)args->driver->variant;
    store->options = *(const struct test_options *)args->options;
    if (store->fault == FORK || store->fault == FORK_CRASH)
        start_sleeper();
    print(store, "open");
    *storep = store;
    return 0;
}

static int test_close(struct sb_store *store)
{
    misbehave(store, IN_CLOSE, 0);
    print(store, "close");
    if (store->plain_fd >= 0)
        (void)close(store->plain_fd);
    if (store->sync_fd >= 0)
        (void)close(store->sync_fd);
    core_release(&store->core);
    free(store);
    return 0;
}

static int test_attach(struct sb_store *store, struct sb_session **sessionp)
{
    struct sb_session *session = calloc(1, sizeof(*session));

    if (!session)
        return store->host->fail(SB_ERR_NOMEM, 0, "%s: out of memory", store->name);
    session->store = store;
    *sessionp = session;
    return 0;
}

static void test_detach(struct sb_session *session)
{
    free(session->copy);
    free(session);
}

static int test_put(struct sb_session *session, struct sb_slice key, struct sb_slice value)
{
    struct sb_store *store = session->store;
    bool is_call = ++store->puts == store->options.at;
    bool found;

    misbehave(store, IN_PUT, store->puts);
    if (store->fault == SLEEP)
        sleep_ns(store->options.ns);
    if (store->fault == FLUSH && !flush_by(store))
        return store->host->fail(SB_ERR_FAILED, 0, "%s: cannot flush", store->name);
    if (is_call && store->fault == MISSING)
        return 0;
    if (is_call && store->fault == SILENT)
        return -1;
    if (is_call && store->fault == FAIL)
        return store->host->fail(SB_ERR_FAILED, 42, "%s: put fails by design", store->name);
    if (is_call && store->fault == FULL)
        return store->host->fail(SB_ERR_FULL, 28, "%s: put finds the disk full", store->name);
    if (is_call)
        print(store, "put");
    (void)core_find(&store->core, key, &found);
    if (found && store->fault == STALE && ++store->overwrites == store->options.at)
        return 0;
    if (!core_put(&store->core, key, value))
        return store->host->fail(SB_ERR_NOMEM, 0, "%s: out of memory", store->name);
    return 0;
}

/* Breaks the value as the driver does. The copy has exactly its size, for the sanitizers' sake. */
static int spoil(struct sb_session *session, struct sb_slice *valuep)
{
    enum fault fault = session->store->fault;
    size_t bytes = valuep->size_bytes;

    if (!bytes)
        return 0;
    if (fault == SHORT) {
        valuep->size_bytes--;
        return 0;
    }
    free(session->copy);
    session->copy = malloc(bytes);
    if (!session->copy)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "%s: out of memory",
                                          session->store->name);
    memcpy(session->copy, valuep->data, bytes);
    for (size_t i = fault == TORN ? (bytes - 1) / LINE_BYTES * LINE_BYTES : 0; i < bytes; i++)
        session->copy[i] ^= 0x55;
    valuep->data = session->copy;
    return 0;
}

static int test_get(struct sb_session *session, struct sb_slice key, struct sb_slice *valuep)
{
    struct sb_store *store = session->store;
    bool is_call = ++store->gets == store->options.at;
    bool found;
    size_t at = core_find(&store->core, key, &found);
    struct core_record *record;

    misbehave(store, IN_GET, store->gets);
    if (store->fault == SLEEP)
        sleep_ns(store->options.ns);
    if (!found)
        return SB_NOTFOUND;
    if (is_call)
        print(store, "get");
    record = store->core.records[at];
    *valuep = core_value(record);
    if (store->fault == WRONG || store->fault == TORN || store->fault == SHORT)
        record->marked = record->marked || is_call;
    if (record->marked || (is_call && store->fault == FLAKY))
        return spoil(session, valuep);
    return 0;
}

static int test_del(struct sb_session *session, struct sb_slice key)
{
    return core_delete(&session->store->core, key) ? 0 : SB_NOTFOUND;
}

static int test_cursor_open(struct sb_session *session, struct sb_cursor **cursorp)
{
    struct sb_cursor *cursor = calloc(1, sizeof(*cursor));

    if (!cursor)
        return session->store->host->fail(SB_ERR_NOMEM, 0, "out of memory");
    cursor->store = session->store;
    if (cursor->store->fault == SLEEP)
        sleep_ns(cursor->store->options.ns);
    *cursorp = cursor;
    return 0;
}

/* Which record the cursor shows at a position. */
static size_t record_at(const struct sb_store *store, size_t position)
{
    size_t at = (size_t)store->options.at;

    if (at == 0 || at >= store->core.count)
        return position;
    if (store->fault == DISORDER && (position == at || position == at - 1))
        return 2 * at - 1 - position;
    if (store->fault == TWICE && position == at)
        return at - 1;
    return position;
}

static int test_cursor_next(struct sb_cursor *cursor, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    const struct sb_store *store = cursor->store;
    const struct core_record *record;

    if (cursor->next >= store->core.count)
        return SB_NOTFOUND;
    record = store->core.records[record_at(store, cursor->next)];
    *keyp = core_key(record);
    if (valuep) {
        *valuep = core_value(record);
        if (store->fault == SHORT && valuep->size_bytes &&
            cursor->next == (size_t)store->options.at)
            valuep->size_bytes--;
    }
    cursor->next++;
    return 0;
}

static int test_cursor_seek(struct sb_cursor *cursor, struct sb_slice key, struct sb_slice *keyp,
                            struct sb_slice *valuep)
{
    bool found;

    cursor->next = core_find(&cursor->store->core, key, &found);
    return test_cursor_next(cursor, keyp, valuep);
}

static void test_cursor_close(struct sb_cursor *cursor)
{
    free(cursor);
}

/* ---- the table ---------------------------------------------------------------------------- */

static const struct sb_option test_options[] = {
    {"at", SB_OPTION_INT, NULL, "100", 1, 1000000, NULL,
     "number of the call, or of the record of a scan, that goes wrong",
     offsetof(struct test_options, at)},
    {"in", SB_OPTION_ENUM, NULL, "put", 0, 0, "put|get|close", "hook that goes wrong",
     offsetof(struct test_options, in)},
    {"ns", SB_OPTION_INT, "ns", "1000000", 0, INT64_C(10000000000), NULL,
     "how long each put, get and opening of a cursor takes", offsetof(struct test_options, ns)},
    {"by", SB_OPTION_ENUM, NULL, "self", 0, 0, "self|thread|child|spawn",
     "who flushes in each put: this thread, a new one, a forked child, a shell",
     offsetof(struct test_options, by)},
    {NULL, SB_OPTION_BOOL, NULL, NULL, 0, 0, NULL, NULL, 0},
};

#define TEST(driver_name, driver_fault, driver_caps, driver_summary)                               \
    {                                                                                              \
        .name = driver_name, .summary = driver_summary, .variant = driver_fault,                   \
        .caps = SB_CAP_DELETE_MISS | (driver_caps), .levels = SB_LEVEL_BIT(SB_LEVEL_NONE),         \
        .options = test_options, .options_bytes = sizeof(struct test_options),                     \
        .version = test_version, .open = test_open, .close = test_close, .attach = test_attach,    \
        .detach = test_detach, .put = test_put, .get = test_get, .del = test_del,                  \
        .cursor_open = test_cursor_open, .cursor_next = test_cursor_next,                          \
        .cursor_close = test_cursor_close, .cursor_seek = test_cursor_seek,                        \
    }

static const struct sb_driver test_drivers[] = {
    TEST("test-good", GOOD, SB_CAP_ORDERED, "does everything right"),
    TEST("test-sleep", SLEEP, SB_CAP_ORDERED,
         "each put, get and opening of a cursor takes at least ns"),
    TEST("test-crash", CRASH, SB_CAP_ORDERED, "dies of a signal"),
    TEST("test-exit", EXIT, SB_CAP_ORDERED, "ends the process with status 0"),
    TEST("test-hang", HANG, SB_CAP_ORDERED, "does not return"),
    TEST("test-wrong", WRONG, SB_CAP_ORDERED, "a get returns another value than was put"),
    TEST("test-flaky", FLAKY, SB_CAP_ORDERED, "a get returns another value, once only"),
    TEST("test-torn", TORN, SB_CAP_ORDERED, "a get returns a value whose last line is wrong"),
    TEST("test-short", SHORT, SB_CAP_ORDERED, "a value comes back without its last byte"),
    TEST("test-stale", STALE, SB_CAP_ORDERED, "an overwrite is lost"),
    TEST("test-missing", MISSING, SB_CAP_ORDERED, "a put is lost"),
    TEST("test-disorder", DISORDER, SB_CAP_ORDERED, "a scan swaps two records"),
    TEST("test-twice", TWICE, 0, "a scan shows a record twice and leaves out another"),
    TEST("test-fail", FAIL, SB_CAP_ORDERED, "a put fails, with a text"),
    TEST("test-silent", SILENT, SB_CAP_ORDERED, "a put fails, without a text"),
    TEST("test-full", FULL, SB_CAP_ORDERED, "a put finds the disk full"),
    TEST("test-print", PRINT, SB_CAP_ORDERED, "prints on standard output and error"),
    TEST("test-fork", FORK, SB_CAP_ORDERED, "leaves a process behind"),
    TEST("test-fork-crash", FORK_CRASH, SB_CAP_ORDERED, "leaves a process behind and dies"),
    TEST("test-flush", FLUSH, SB_CAP_ORDERED, "flushes twice in each put, in a known way"),
    TEST("test-na", REFUSE, SB_CAP_ORDERED, "refuses to open"),
};

SB_MODULE(test_drivers);
