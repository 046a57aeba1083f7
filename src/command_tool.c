/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_tool.c -- `storebench tool`: a store's own verify, stat and salvage, through its driver.
 */
#include "command.h"
#include "copytree.h"
#include "nearest.h"
#include "outfile.h"
#include "userstore.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_OUT, OPT_HELP };

static const struct option option_table[] = {[OPT_OUT] = {"out", required_argument, NULL, 1},
                                             [OPT_HELP] = {"help", no_argument, NULL, 1},
                                             {NULL, 0, NULL, 0}};

static const char *const verbs[] = {"verify", "stat", "salvage"};
enum { VERB_COUNT = sizeof(verbs) / sizeof(verbs[0]) };

struct tool {
    const char *verb, *out_dir;
    struct sb_userstore us;
};

void sb_help_tool(FILE *stream)
{
    (void)fputs(
        "Usage: storebench tool DRIVER[:option=value]... verify|stat|salvage DIR [--out=DIR]\n\n"
        "Runs a tool of the store's own library on the store in DIR, which must not be in use.\n"
        "Not every library has all three; one that is missing is refused with those there are.\n\n"
        "  verify   looks for damage: exit status 0 if there is none, 1 if there is\n"
        "  stat     describes the store's files: records, pages, levels, buckets\n"
        "  salvage  saves what can be read from a damaged store. GDBM rebuilds the file and keeps\n"
        "           the old one beside it; Tokyo and Kyoto Cabinet rewrite the file; Berkeley DB\n"
        "           changes nothing and prints the records in the format of db_dump\n\n"
        "  --out=DIR  salvage works on a copy of the store, made in DIR, which must be empty or\n"
        "             not exist; the store itself is not touched\n",
        stream);
}

static void print_line(const char *line, void *arg)
{
    sb_outfile_line(arg, line);
}

static int run_hook(struct tool *t)
{
    struct sb_report report = {.print = print_line};
    struct sb_outfile out;
    int rc = sb_outfile_open(&out, NULL);

    if (rc)
        return sb_userstore_complain(rc, NULL);
    report.print_arg = &out;
    (void)setvbuf(out.stream, NULL, _IOLBF, 0); /* what was found before a crash counts */
    sb_userstore_catch_crash(&t->us);
    rc = sb_store_tool(t->us.spec.entry->driver, &t->us.args, t->verb, &report);
    sb_report_release(&report);
    if (rc) {
        if (rc != SB_ERR_UNSUPPORTED)
            (void)sb_error_prefix("%s: ", t->us.dir);
        sb_outfile_discard(&out, false); /* with what the library has said about the damage */
        return sb_userstore_complain(rc, NULL);
    }
    rc = sb_outfile_finish(&out);
    return rc ? sb_userstore_complain(rc, NULL) : SB_EXIT_OK;
}

/* Whether the driver has the verb at all shows on a store that is not there. */
static int has_verb(struct tool *t)
{
    struct sb_report report = {.print = NULL};
    struct sb_open args = t->us.args;
    int rc;

    args.dir = "/dev/null/none";
    rc = sb_store_tool(t->us.spec.entry->driver, &args, t->verb, &report);
    sb_report_release(&report);
    return rc == SB_ERR_UNSUPPORTED ? rc : 0;
}

static bool is_below(const char *path, const char *dir)
{
    size_t bytes = strlen(dir);

    return strncmp(path, dir, bytes) == 0 && (path[bytes] == '/' || !path[bytes]);
}

/* From then on the copy is the store. */
static int copy_store(struct tool *t)
{
    char *from = t->us.dir;
    int rc = has_verb(t);

    if (rc)
        return rc;
    t->us.dir = NULL;
    rc = sb_userstore_make_dir(&t->us, t->out_dir);
    if (!rc && is_below(t->us.dir, from))
        rc = sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s is in the store that is to be copied",
                          t->us.dir);
    if (!rc)
        rc = sb_copy_tree(from, t->us.dir);
    free(from);
    return rc;
}

static int check_verb(const char *verb)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, verb);
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(verb, verbs[i]) == 0)
            return 0;
        sb_nearest_offer(&nearest, verbs[i]);
    }
    if (nearest.best)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no tool '%s'; did you mean '%s'?", verb,
                            nearest.best);
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no tool '%s'; there are verify, stat and salvage",
                        verb);
}

static int find_and_run(struct tool *t, char **words, char **argv)
{
    bool salvage;
    int rc = check_verb(words[1]);

    if (rc)
        return sb_complain();
    t->verb = words[1];
    salvage = strcmp(t->verb, "salvage") == 0;
    if (t->out_dir && !salvage) {
        (void)fputs("storebench: --out belongs to salvage\n", stderr);
        return SB_EXIT_USAGE;
    }
    if (sb_userstore_find(&t->us, words[0], argv) || sb_userstore_set_dir(&t->us, words[2]))
        return sb_complain();
    t->us.args.mode = SB_REOPEN;
    rc = sb_userstore_set_level(&t->us, NULL);
    t->us.args.mode = salvage ? SB_RECOVER : SB_REOPEN;
    (void)signal(SIGPIPE, SIG_IGN);
    if (!rc && t->out_dir)
        rc = copy_store(t);
    return rc ? sb_userstore_complain(rc, NULL) : run_hook(t);
}

int sb_command_tool(int argc, char **argv)
{
    struct tool t = {.verb = NULL};
    int option, status;

    optind = 1;
    while ((option = sb_next_option(argc, argv, option_table)) >= 0) {
        if (option == OPT_HELP) {
            sb_help_tool(stdout);
            return SB_EXIT_OK;
        }
        t.out_dir = optarg;
    }
    if (option == -2)
        return SB_EXIT_USAGE;
    if (argc - optind < 3) {
        (void)fputs("storebench: tool needs DRIVER, verify|stat|salvage and DIR; see 'storebench "
                    "help tool'\n",
                    stderr);
        return SB_EXIT_USAGE;
    }
    if (argc - optind > 3)
        return sb_no_arguments(argv[optind + 3]);
    status = find_and_run(&t, argv + optind, argv);
    sb_userstore_release(&t.us);
    return status;
}
