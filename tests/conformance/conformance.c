/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * conformance.c -- one suite for every driver: does it do what driver.h says it must?
 *
 *     conformance            every built driver at every level it declares, then the option
 *                            variants of the table below
 *     conformance SPEC...    these drivers only, for example bdb-btree:cache=1MiB
 *
 * Prints TAP. Each group of checks runs in a process of its own with a deadline, on a new store in
 * a scratch directory below TMPDIR or /var/tmp. Below the level `power`, where no flush reaches a
 * device, /dev/shm serves as well and is faster by far: it is taken unless TMPDIR is set or the run
 * is a long one. STOREBENCH_SEED repeats the random choices of a
 * run, STOREBENCH_LONG=1 takes more rounds.
 */
#include "conformance.h"

#include "../../src/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what is run -------------------------------------------------------------------------- */

enum { DEADLINE_S = 120, LONG_DEADLINE_S = 900 };

#define FAST_PARENT "/dev/shm"
#define FAST_BYTES_MIN (2ull << 30)

struct group {
    const char *name;
    void (*run)(struct test *t);
    uint32_t needs;    /* capabilities in force; without them the group does not apply */
    unsigned sessions; /* 0: one */
    bool core;         /* also where most was tested already: see struct subject */
    bool for_discards; /* also for, or only for, drivers that keep nothing */
};

static const struct group groups[] = {
    {.name = "open", .run = group_open, .core = true},
    {.name = "report", .run = group_report, .core = true, .for_discards = true},
    {.name = "discards", .run = group_discards, .needs = SB_CAP_DISCARDS, .for_discards = true},
    {.name = "overwrite", .run = group_overwrite},
    {.name = "delete", .run = group_delete},
    {.name = "empty", .run = group_empty},
    {.name = "binary", .run = group_binary},
    {.name = "limits", .run = group_limits},
    {.name = "sizes", .run = group_sizes},
    {.name = "slices", .run = group_slices},
    {.name = "two stores", .run = group_two_stores},
    {.name = "load", .run = group_load, .core = true},
    {.name = "seek", .run = group_seek, .needs = SB_CAP_ORDERED},
    {.name = "append", .run = group_append, .needs = SB_CAP_APPEND, .core = true},
    {.name = "churn", .run = group_churn, .core = true},
    {.name = "random", .run = group_random},
    {.name = "batches", .run = group_batches},
    {.name = "own writes", .run = group_own_writes, .needs = SB_CAP_OWN_WRITES},
    {.name = "abort", .run = group_abort, .needs = SB_CAP_TXN},
    {.name = "sessions", .run = group_sessions, .needs = SB_CAP_READERS, .sessions = 2},
    {.name = "writers",
     .run = group_writers,
     .needs = SB_CAP_READERS | SB_CAP_WRITERS,
     .sessions = 2},
    {.name = "snapshot",
     .run = group_snapshot,
     .needs = SB_CAP_SNAPSHOT | SB_CAP_READERS | SB_CAP_WRITERS,
     .sessions = 2},
    {.name = "threads", .run = group_threads, .needs = SB_CAP_READERS, .sessions = 3},
    {.name = "upkeep", .run = group_upkeep},
    {.name = "tools", .run = group_tools, .needs = SB_CAP_PERSISTENT},
    {.name = "kill", .run = group_kill, .needs = SB_CAP_PERSISTENT, .core = true},
};
enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };

#define NONE SB_LEVEL_BIT(SB_LEVEL_NONE)
#define PROCESS SB_LEVEL_BIT(SB_LEVEL_PROCESS)
#define POWER SB_LEVEL_BIT(SB_LEVEL_POWER)

/* Options worth a run of their own, and the levels at which they must open; at the others that the
 * driver declares they must be refused. */
static const struct variant {
    const char *spec;
    uint32_t levels;
} variants[] = {
    {"bdb-btree:env=none:page=512:minkey=4", NONE},
    {"bdb-btree:env=none:sync=on:cache=64KiB", NONE},
    {"bdb-btree:env=cdb", NONE},
    {"bdb-btree:env=txn:locks=on", SB_LEVELS_ALL},
    {"bdb-btree:env=txn:checkpoint=64KiB:log_buffer=8KiB", SB_LEVELS_ALL},
    {"bdb-btree:log_dsync=on", PROCESS | POWER},
    {"bdb-btree:cache=64KiB", SB_LEVELS_ALL},
    {"bdb-hash:env=none:page=512:ffactor=4", NONE},
    {"bdb-hash:env=cdb:sync=on", NONE},
    {"bdb-hash:env=txn:locks=on", SB_LEVELS_ALL},
    {"bdb-hash:cache=64KiB", SB_LEVELS_ALL},
    {"files:io=stdio", SB_LEVELS_ALL},
    {"files:io=mmap:layout=hashed", SB_LEVELS_ALL},
    {"files:read=slurp:write=rename", SB_LEVELS_ALL},
    {"files:write=inplace:layout=hashed", NONE},
    {"gdbm:mmap=off:sync=on", NONE},
    {"gdbm:block=512:cache=4KiB", NONE},
    {"gdbm:coalesce=on:centfree=on:preread=on", NONE},
    {"lmdb:writemap=on", SB_LEVELS_ALL},
    {"lmdb:readahead=off:mapsize=64MiB", SB_LEVELS_ALL},
    {"tc-hash:async=on", NONE},
    {"tc-hash:txn=on:large=on", SB_LEVELS_ALL},
    {"tc-hash:txn=off:bnum=100", NONE},
    {"tc-hash:yield=off:rcnum=100", SB_LEVELS_ALL},
    {"tc-tree:txn=on:large=on", SB_LEVELS_ALL},
    {"tc-tree:txn=off", NONE},
    {"tc-tree:yield=off:lmemb=4:nmemb=4:lcnum=64:ncnum=64", SB_LEVELS_ALL},
    {"kc-hash:txn=on:bnum=100", SB_LEVELS_ALL},
    {"kc-hash:txn=off:linear=on", SB_LEVELS_ALL},
    {"kc-tree:txn=on:linear=on", SB_LEVELS_ALL},
    {"kc-tree:txn=off:psiz=512:pccap=16KiB", SB_LEVELS_ALL},
};

struct subject {
    const char *spec;
    enum sb_level level;
    enum sb_profile profile;
    bool core_only; /* only the core groups: what is special about it is elsewhere tested whole */
};

/* What opening must do. */
enum expectation { MUST_OPEN, MUST_REFUSE, MAY_REFUSE };

/* ---- scratch directories ------------------------------------------------------------------ */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path)
{
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0)
        (void)fprintf(stderr, "conformance: %s cannot be removed: %s\n", path, strerror(errno));
}

/* ---- the process of one group ------------------------------------------------------------- */

struct suite {
    struct sb_registry registry;
    uint64_t seed;
    char *base;              /* holds the scratch directories */
    char *fast_base;         /* likewise, below the level power; may be the same */
    struct outcome *outcome; /* shared with the process of the group */
    int outcome_fd;
    int tests, failures;
};

/* What a campaign would tell the store. */
static void plan_load(struct test *t)
{
    t->args.expected_records = LOAD_RECORDS;
    t->args.expected_bytes = LOAD_RECORDS * (t->key_bytes + LOAD_VALUE_BYTES);
    t->args.cache_bytes = 4 << 20;
}

static void test_init(struct test *t, struct suite *suite, const struct subject *subject,
                      const struct sb_spec *spec, const char *dir)
{
    const struct sb_driver *driver = spec->entry->driver;

    *t = (struct test){
        .registry = &suite->registry,
        .driver = driver,
        .dir = dir,
        .seed = suite->seed,
        .key_bytes = 16,
        .outcome = suite->outcome,
        .args = {.level = subject->level,
                 .profile = subject->profile,
                 .options = spec->options,
                 .batch_records = BATCH_RECORDS_MAX},
    };
    if (t->key_bytes < driver->key_bytes_min)
        t->key_bytes = driver->key_bytes_min;
    if (driver->key_bytes_max && t->key_bytes > driver->key_bytes_max)
        t->key_bytes = driver->key_bytes_max;
    if (subject->profile != SB_PROFILE_DEFAULT)
        plan_load(t);
    if (spec->has_cache)
        t->args.cache_bytes = spec->cache_bytes;
    test_make_dir(t, "store", t->store_dir);
    t->args.dir = t->store_dir;
}

/* Returns the exit code of the group's process; a failure does not return. */
static int run_in_child(struct suite *suite, const struct subject *subject,
                        const struct group *group, const char *dir)
{
    struct sb_spec spec;
    struct test t = {.outcome = suite->outcome};
    bool applicable;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)alarm(is_long() ? LONG_DEADLINE_S : DEADLINE_S);
    OK(&t, sb_spec_parse(&spec, &suite->registry, subject->spec));
    test_init(&t, suite, subject, &spec, dir);
    t.args.sessions = group->sessions ? group->sessions : 1;
    test_open(&t, SB_CREATE);
    applicable = (t.handle.caps & group->needs) == group->needs;
    if (applicable)
        group->run(&t);
    test_close(&t);
    sb_spec_release(&spec);
    return applicable ? EXIT_SUCCESS : EXIT_NOT_APPLICABLE;
}

/* The library that must be preloaded for the spec; "" for none, NULL if it cannot be found. */
static char *preload_path(const struct sb_spec *spec)
{
    const char *name = sb_store_preload(spec->entry->driver, spec->options);
    const char *slash = strrchr(spec->entry->module_path, '/');

    if (!name)
        return sb_format("%s", "");
    if (!slash)
        return NULL;
    return sb_format("%.*s/%s", (int)(slash - spec->entry->module_path), spec->entry->module_path,
                     name);
}

/* A preload needs a new program: this one, with the arguments of child_main. */
static void __attribute__((noreturn))
exec_child(const struct suite *suite, const struct subject *subject, const struct group *group,
           const char *dir)
{
    char *fd = sb_format("%d", suite->outcome_fd);
    char *spec = sb_format("%s", subject->spec);
    char *level = sb_format("%d", (int)subject->level);
    char *profile = sb_format("%d", (int)subject->profile);
    char *number = sb_format("%d", (int)(group - groups));
    char *path = sb_format("%s", dir);
    char *seed = sb_format("%" PRIu64, suite->seed);
    char name[] = "conformance", child[] = "--child";

    (void)execv("/proc/self/exe",
                (char *[]){name, child, fd, spec, level, profile, number, path, seed, NULL});
    (void)snprintf(suite->outcome->message, MESSAGE_BYTES_MAX, "exec: %s", strerror(errno));
    _exit(EXIT_FAILURE);
}

static struct outcome *map_outcome(int fd)
{
    void *memory = mmap(NULL, sizeof(struct outcome), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED) {
        perror("conformance: mmap");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static uint64_t number_of(const char *text_of_number)
{
    return strtoull(text_of_number, NULL, 10);
}

/* The other side of exec_child. */
static int child_main(char **argv)
{
    struct suite suite = {.seed = number_of(argv[8])};
    struct subject subject = {argv[3], (enum sb_level)number_of(argv[4]),
                              (enum sb_profile)number_of(argv[5]), false};

    (void)unsetenv("LD_PRELOAD");
    suite.outcome = map_outcome((int)number_of(argv[2]));
    sb_registry_load(&suite.registry);
    return run_in_child(&suite, &subject, &groups[number_of(argv[6])], argv[7]);
}

/* ---- the parent --------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = stop};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static void remove_bases(const struct suite *suite)
{
    remove_tree(suite->base);
    if (suite->fast_base != suite->base)
        remove_tree(suite->fast_base);
}

/* Waits for the process; when the suite is stopped, kills it and ends the suite. */
static int wait_for(const struct suite *suite, pid_t child)
{
    int status = 0;

    while (!stopped && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            perror("conformance: waitpid");
            exit(EXIT_FAILURE);
        }
    }
    if (stopped) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, &status, 0);
        remove_bases(suite);
        exit(128 + stopped);
    }
    return status;
}

/* Runs one group and returns the wait status of its process. */
static int run_group(struct suite *suite, const struct subject *subject, const struct group *group,
                     const char *preload)
{
    const char *base = subject->level == SB_LEVEL_POWER ? suite->base : suite->fast_base;
    char *dir = sb_format("%s/t", base);
    int status;
    pid_t child;

    if (mkdir(dir, 0700)) {
        (void)fprintf(stderr, "conformance: %s: %s\n", dir, strerror(errno));
        exit(EXIT_FAILURE);
    }
    *suite->outcome = (struct outcome){0};
    (void)fflush(stdout);
    child = fork();
    if (child < 0) {
        perror("conformance: fork");
        exit(EXIT_FAILURE);
    }
    if (child == 0) {
        if (!preload[0])
            exit(run_in_child(suite, subject, group, dir));
        (void)setenv("LD_PRELOAD", preload, 1);
        exec_child(suite, subject, group, dir);
    }
    status = wait_for(suite, child);
    remove_tree(dir);
    free(dir);
    return status;
}

/* ---- TAP ---------------------------------------------------------------------------------- */

static void tap(struct suite *suite, bool good, const char *label, const char *what)
{
    (void)printf("%sok %d - %s: %s\n", good ? "" : "not ", ++suite->tests, label, what);
    suite->failures += !good;
}

static void tap_skip(struct suite *suite, const char *label, const char *reason)
{
    (void)printf("ok %d - %s # SKIP %s\n", ++suite->tests, label, reason);
}

static void explain(const char *text_of_failure)
{
    while (*text_of_failure) {
        int length = (int)strcspn(text_of_failure, "\n");

        (void)printf("# %.*s\n", length, text_of_failure);
        text_of_failure += length + (text_of_failure[length] == '\n');
    }
}

static void report_failure(struct suite *suite, const char *label, const char *what, int status)
{
    tap(suite, false, label, what);
    if (suite->outcome->message[0])
        explain(suite->outcome->message);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        explain("it did not end before its deadline");
    else if (WIFSIGNALED(status))
        (void)printf("# killed by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != EXIT_FAILURE || !suite->outcome->message[0])
        (void)printf("# it ended with exit code %d: see stderr\n", WEXITSTATUS(status));
}

static char *label_of(const struct subject *subject)
{
    static const char *const levels[] = {"none", "process", "power"};
    static const char *const profiles[] = {"", " (equal)", " (tuned)"};

    return sb_format("%s%s at %s", subject->spec, profiles[subject->profile],
                     levels[subject->level]);
}

/* ---- subjects ----------------------------------------------------------------------------- */

static bool applies(const struct group *group, const struct subject *subject, uint32_t caps)
{
    if (subject->core_only && !group->core && !is_long())
        return false;
    if (caps & SB_CAP_DISCARDS && !group->for_discards)
        return false;
    return (caps & group->needs) == group->needs;
}

/* False when there is no point in further groups. */
static bool judge(struct suite *suite, const char *label, const struct group *group, int status,
                  enum expectation expectation)
{
    bool refused = suite->outcome->refused && !suite->outcome->opened;

    if (refused && expectation == MAY_REFUSE) {
        tap_skip(suite, label, suite->outcome->message);
        return false;
    }
    if (expectation == MUST_REFUSE) {
        tap(suite, refused, label, "is refused");
        if (!refused)
            explain("it opened, or failed with another code than SB_ERR_UNSUPPORTED");
        return false;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_APPLICABLE)
        return true; /* this mode lacks what the group is about */
    if (status == 0)
        tap(suite, true, label, group->name);
    else
        report_failure(suite, label, group->name, status);
    return status == 0 || suite->outcome->opened || WIFSIGNALED(status);
}

static void run_subject(struct suite *suite, const struct subject *subject,
                        enum expectation expectation)
{
    char *label = label_of(subject), *preload = NULL;
    struct sb_spec spec;
    bool more = true;

    if (sb_spec_parse(&spec, &suite->registry, subject->spec)) {
        tap(suite, false, label, "options");
        explain(sb_error_last()->text);
        goto out;
    }
    preload = preload_path(&spec);
    if (!preload) {
        tap_skip(suite, label, "the library to preload is unknown for a driver in the program");
        goto out;
    }
    for (size_t i = 0; i < GROUPS && more; i++)
        if (applies(&groups[i], subject, spec.entry->driver->caps))
            more = judge(suite, label, &groups[i], run_group(suite, subject, &groups[i], preload),
                         expectation);
out:
    sb_spec_release(&spec);
    free(preload);
    free(label);
}

/* A spec at every level that its driver declares. */
static void run_levels(struct suite *suite, const char *spec_text, uint32_t declared)
{
    for (int level = 0; level < SB_LEVEL_COUNT; level++) {
        struct subject subject = {spec_text, (enum sb_level)level, SB_PROFILE_DEFAULT, false};

        if (declared & SB_LEVEL_BIT(level))
            run_subject(suite, &subject, strchr(spec_text, ':') ? MAY_REFUSE : MUST_OPEN);
    }
}

/* What a profile changes does not depend on the level: `power` is left to long runs. */
static void run_profiles(struct suite *suite, const char *spec_text, uint32_t declared)
{
    static const enum sb_profile profiles[] = {SB_PROFILE_EQUAL, SB_PROFILE_TUNED};
    int last = is_long() ? SB_LEVEL_POWER : SB_LEVEL_PROCESS;

    for (size_t i = 0; i < 2; i++) {
        for (int level = 0; level <= last; level++) {
            struct subject subject = {spec_text, (enum sb_level)level, profiles[i], true};

            if (declared & SB_LEVEL_BIT(level))
                run_subject(suite, &subject, MUST_OPEN);
        }
    }
}

/* All groups at level none, the core groups above it. */
static void run_variant(struct suite *suite, const struct variant *variant, uint32_t declared)
{
    for (int level = 0; level < SB_LEVEL_COUNT; level++) {
        struct subject subject = {variant->spec, (enum sb_level)level, SB_PROFILE_DEFAULT,
                                  level != SB_LEVEL_NONE};

        if (declared & SB_LEVEL_BIT(level))
            run_subject(suite, &subject,
                        variant->levels & SB_LEVEL_BIT(level) ? MUST_OPEN : MUST_REFUSE);
    }
}

static void run_variants(struct suite *suite)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        const struct variant *variant = &variants[i];
        int name_bytes = (int)strcspn(variant->spec, ":");
        char *name = sb_format("%.*s", name_bytes, variant->spec);
        const struct sb_registry_entry *entry = sb_registry_find(&suite->registry, name);

        if (entry)
            run_variant(suite, variant, entry->driver->levels);
        else
            tap_skip(suite, variant->spec, "the driver is not built");
        free(name);
    }
}

static void run_all(struct suite *suite)
{
    const struct sb_registry *registry = &suite->registry;

    tap(suite, registry->rejection_count == 0, "modules", "all are accepted");
    for (size_t i = 0; i < registry->rejection_count; i++)
        (void)printf("# %s: %s\n", registry->rejections[i].module_path,
                     registry->rejections[i].reason);
    tap(suite, registry->entry_count > 0, "modules", "there is a driver");
    for (size_t i = 0; i < registry->entry_count; i++) {
        const struct sb_driver *driver = registry->entries[i].driver;

        run_levels(suite, driver->name, driver->levels);
        run_profiles(suite, driver->name, driver->levels);
    }
    run_variants(suite);
}

static void run_spec(struct suite *suite, const char *spec_text)
{
    struct sb_spec spec;

    if (sb_spec_parse(&spec, &suite->registry, spec_text)) {
        tap(suite, false, spec_text, "is understood");
        explain(sb_error_last()->text);
    } else {
        run_levels(suite, spec_text, spec.entry->driver->levels);
    }
    sb_spec_release(&spec);
}

/* ---- main --------------------------------------------------------------------------------- */

static char *make_base(const char *parent)
{
    char *base = sb_format("%s/storebench-conformance-XXXXXX", parent);

    if (mkdtemp(base))
        return base;
    (void)fprintf(stderr, "conformance: %s: %s\n", base, strerror(errno));
    exit(EXIT_FAILURE);
}

/* Whether there is a file system in memory with room for what the groups write. */
static bool has_fast_place(void)
{
    struct statvfs status;

    return access(FAST_PARENT, W_OK | X_OK) == 0 && statvfs(FAST_PARENT, &status) == 0 &&
           (uint64_t)status.f_bavail * status.f_frsize >= FAST_BYTES_MIN;
}

static void suite_init(struct suite *suite)
{
    const char *seed = getenv("STOREBENCH_SEED"), *parent = getenv("TMPDIR");
    bool chosen = parent && parent[0];

    *suite = (struct suite){.seed = seed ? number_of(seed) : (uint64_t)time(NULL)};
    suite->outcome_fd = memfd_create("outcome", 0);
    if (suite->outcome_fd < 0 || ftruncate(suite->outcome_fd, sizeof(struct outcome))) {
        perror("conformance: memfd_create");
        exit(EXIT_FAILURE);
    }
    suite->base = make_base(chosen ? parent : "/var/tmp");
    suite->fast_base =
        chosen || is_long() || !has_fast_place() ? suite->base : make_base(FAST_PARENT);
    suite->outcome = map_outcome(suite->outcome_fd);
    sb_registry_load(&suite->registry);
}

int main(int argc, char **argv)
{
    struct suite suite;

    if (argc == 9 && strcmp(argv[1], "--child") == 0)
        return child_main(argv);
    catch_signals();
    suite_init(&suite);
    (void)printf("# STOREBENCH_SEED=%" PRIu64 "\n", suite.seed);
    if (argc < 2)
        run_all(&suite);
    for (int i = 1; i < argc; i++)
        run_spec(&suite, argv[i]);
    (void)printf("1..%d\n", suite.tests);
    remove_bases(&suite);
    sb_registry_release(&suite.registry);
    if (suite.fast_base != suite.base)
        free(suite.fast_base);
    free(suite.base);
    return suite.failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
