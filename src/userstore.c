/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * userstore.c -- see userstore.h.
 */
#include "userstore.h"

#include "command.h"
#include "mem.h"
#include "params.h"
#include "paths.h"
#include "runner.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the driver --------------------------------------------------------------------------- */

/* A module that was turned away may be the one that is asked for. */
static int not_found(const struct sb_userstore *us, int rc)
{
    if (!us->spec.entry)
        for (size_t i = 0; i < us->registry.rejection_count; i++)
            (void)fprintf(stderr, "storebench: %s: %s\n", us->registry.rejections[i].module_path,
                          us->registry.rejections[i].reason);
    return rc;
}

/* The loader takes a preload library only at the start of a process. */
static int run_with_preload(const struct sb_userstore *us, char *const *argv)
{
    const char *name = sb_store_preload(us->spec.entry->driver, us->spec.options);
    const char *module = us->spec.entry->module_path;
    const char *slash = strrchr(module, '/');
    const char *now = getenv("LD_PRELOAD");
    char **again, *preload;
    size_t count = 0;

    if (!name || !slash || (now && strstr(now, name)))
        return 0; /* the driver checks whether it is there */
    while (argv[count])
        count++;
    again = sb_alloc(count + 2, sizeof(*again));
    again[0] = sb_format("storebench");
    memcpy(again + 1, argv, count * sizeof(*again));
    preload = sb_format("%.*s/%s%s%s", (int)(slash - module), module, name, now ? ":" : "",
                        now ? now : "");
    (void)setenv("LD_PRELOAD", preload, 1);
    (void)execv(sb_program_path(), again);
    free(preload);
    free(again[0]);
    free(again);
    return sb_error_errno(errno, "cannot run %s again", sb_program_path());
}

int sb_userstore_find(struct sb_userstore *us, const char *text, char *const *argv)
{
    struct sb_params params;
    const struct sb_driver *driver;
    int rc;

    sb_registry_load(&us->registry);
    rc = sb_spec_parse(&us->spec, &us->registry, text);
    if (rc)
        return not_found(us, rc);
    driver = us->spec.entry->driver;
    if (!(driver->caps & SB_CAP_PERSISTENT))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "%s keeps its data in memory only: there is no store in a directory",
                            driver->name);
    sb_params_defaults(&params);
    us->args = (struct sb_open){
        .profile = (enum sb_profile)params.profile,
        .options = us->spec.options,
        .batch_records = 1,
        .cache_bytes = us->spec.has_cache ? us->spec.cache_bytes : params.cache_bytes,
    };
    return run_with_preload(us, argv);
}

int sb_userstore_set_level(struct sb_userstore *us, const char *word)
{
    int least = us->args.mode == SB_RECOVER ? SB_LEVEL_PROCESS : SB_LEVEL_NONE;
    uint32_t levels = us->spec.entry->driver->levels;
    struct sb_params params = {0};
    int rc;

    if (word) {
        rc = sb_param_set(sb_param_find("durability"), &params, word);
        us->args.level = (enum sb_level)params.durability;
        return rc;
    }
    while (least < SB_LEVEL_COUNT && !(levels & SB_LEVEL_BIT(least)))
        least++;
    us->args.level = least < SB_LEVEL_COUNT ? (enum sb_level)least : SB_LEVEL_NONE;
    return 0;
}

/* ---- the directory ------------------------------------------------------------------------ */

static bool is_empty(const char *dir)
{
    DIR *listing = opendir(dir);
    bool empty = true;

    for (const struct dirent *e = listing ? readdir(listing) : NULL; e && empty;
         e = readdir(listing))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (listing)
        (void)closedir(listing);
    return empty && listing;
}

/* Whatever is wrong with it: the user named it. */
static int bad_dir(const char *what, const char *dir)
{
    return sb_error_set(SB_ERR_UNSUPPORTED, errno, "%s%s: %s", what, dir, strerror(errno));
}

static int use_dir(struct sb_userstore *us, const char *dir)
{
    us->dir = realpath(dir, NULL);
    us->args.dir = us->dir;
    return us->dir ? 0 : bad_dir("", dir);
}

int sb_userstore_set_dir(struct sb_userstore *us, const char *dir)
{
    DIR *listing = opendir(dir);

    if (!listing)
        return bad_dir("", dir);
    (void)closedir(listing);
    if (is_empty(dir))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: an empty directory, no store", dir);
    return use_dir(us, dir);
}

int sb_userstore_make_dir(struct sb_userstore *us, const char *dir)
{
    us->made_dir = mkdir(dir, 0777) == 0;
    if (!us->made_dir && errno != EEXIST)
        return bad_dir("cannot make ", dir);
    if (!is_empty(dir))
        return sb_error_set(SB_ERR_UNSUPPORTED, ENOTEMPTY, "%s is not an empty directory", dir);
    return use_dir(us, dir);
}

/* ---- the store ---------------------------------------------------------------------------- */

int sb_userstore_open(struct sb_userstore *us)
{
    int rc = sb_store_open(&us->handle, us->spec.entry->driver, &us->args);

    return rc ? sb_error_prefix("cannot open %s: ", us->dir) : 0;
}

/* A hook may fail without a word: the text would be an older one's. */
static int name_failure(const struct sb_userstore *us, int rc)
{
    if (sb_error_last()->code != rc)
        return sb_error_set((enum sb_code)rc, 0, "%s: the driver failed with '%s' and no text",
                            us->dir, sb_code_name(rc));
    return sb_error_prefix("%s: ", us->dir);
}

static int scan(struct sb_userstore *us, struct sb_cursor *cursor, sb_userstore_visit *visit,
                void *arg)
{
    struct sb_slice key, value;
    int rc = 0;

    while (!rc && !sb_stop_signal) {
        rc = sb_store_cursor_next(&us->handle, cursor, &key, &value);
        us->scan_failed = rc < 0;
        if (rc < 0)
            return name_failure(us, rc);
        if (!rc)
            rc = visit(arg, key, value);
    }
    return rc < 0 ? rc : 0;
}

int sb_userstore_scan(struct sb_userstore *us, sb_userstore_visit *visit, void *arg)
{
    struct sb_store_handle *h = &us->handle;
    struct sb_cursor *cursor = NULL;
    int rc = sb_store_begin(h, h->session, SB_READ);
    int end_rc;

    if (rc)
        return rc;
    rc = sb_store_cursor_open(h, h->session, &cursor);
    if (!rc)
        rc = scan(us, cursor, visit, arg);
    if (cursor)
        sb_store_cursor_close(h, cursor);
    end_rc = sb_store_commit(h, h->session, SB_READ);
    return rc ? rc : end_rc;
}

void sb_userstore_release(struct sb_userstore *us)
{
    if (us->handle.store && sb_store_close(&us->handle))
        sb_error_clear(); /* the failure that came first has been told */
    if (us->made_dir && us->dir)
        (void)rmdir(us->dir); /* fails, as it should, when something is in it */
    sb_report_release(&us->handle.report);
    sb_spec_release(&us->spec);
    sb_registry_release(&us->registry);
    free(us->dir);
    us->dir = NULL;
}

/* ---- signals and errors ------------------------------------------------------------------- */

static void on_signal(int number)
{
    sb_stop_signal = number;
}

void sb_userstore_catch_stop(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* else it was started by nohup */
        (void)sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
}

/* What the handler says, made beforehand: it may call nothing that allocates. */
static char *crash_text;

static void on_crash(int number)
{
    (void)number;
    if (write(STDERR_FILENO, crash_text, strlen(crash_text)) < 0)
        _exit(SB_EXIT_FAILED);
    _exit(SB_EXIT_FAILED);
}

/* The stack may be what the crash used up. */
void sb_userstore_catch_crash(const struct sb_userstore *us)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack_bytes[65536];
    stack_t stack = {.ss_sp = stack_bytes, .ss_size = sizeof(stack_bytes)};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};

    free(crash_text);
    crash_text = sb_format("storebench: %s: the library of %s crashed: the store is damaged or not "
                           "of this kind\n",
                           us->dir, us->spec.entry->driver->name);
    (void)sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        (void)sigaction(numbers[i], &action, NULL);
}

int sb_userstore_complain(int rc, const char *more)
{
    if (sb_error_last()->code != rc) /* a hook may fail without a word */
        (void)sb_error_set((enum sb_code)rc, 0, "the driver failed with '%s' and no text",
                           sb_code_name(rc));
    (void)fprintf(stderr, "storebench: %s%s%s\n", sb_error_last()->text, more ? "; " : "",
                  more ? more : "");
    return rc == SB_ERR_UNSUPPORTED || rc == SB_ERR_LIMIT ? SB_EXIT_USAGE : SB_EXIT_FAILED;
}
