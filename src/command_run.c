/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * command_run.c -- `storebench run`: options to a request, a plan, a campaign, a table.
 */
#include "campaign.h"
#include "clock.h"
#include "command.h"
#include "jsonx.h"
#include "mem.h"
#include "resume.h"
#include "runner.h"
#include "table.h"
#include "units.h"
#include "workdir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options besides the parameters, which come from the table of params.h. */
enum {
    OPT_DRIVERS,
    OPT_SCENARIOS,
    OPT_REPEATS,
    OPT_COUNT_CALLS,
    OPT_KEYS_FROM,
    OPT_NULL,
    OPT_PAIRS_FROM,
    OPT_SEED,
    OPT_TIME_LIMIT,
    OPT_DIR,
    OPT_OUT,
    OPT_JSON,
    OPT_DRY_RUN,
    OPT_QUIET,
    OPT_RESUME,
    OPT_HELP,
    OPT_COUNT
};

static const struct option own_options[] = {
    [OPT_DRIVERS] = {"drivers", required_argument, NULL, 1},
    [OPT_SCENARIOS] = {"scenarios", required_argument, NULL, 1},
    [OPT_REPEATS] = {"repeats", required_argument, NULL, 1},
    [OPT_COUNT_CALLS] = {"count", no_argument, NULL, 1},
    [OPT_KEYS_FROM] = {"keys-from", required_argument, NULL, 1},
    [OPT_NULL] = {"null", no_argument, NULL, '0'},
    [OPT_PAIRS_FROM] = {"pairs-from", required_argument, NULL, 1},
    [OPT_SEED] = {"seed", required_argument, NULL, 1},
    [OPT_TIME_LIMIT] = {"time-limit", required_argument, NULL, 1},
    [OPT_DIR] = {"dir", required_argument, NULL, 1},
    [OPT_OUT] = {"out", required_argument, NULL, 1},
    [OPT_JSON] = {"json", required_argument, NULL, 1},
    [OPT_DRY_RUN] = {"dry-run", no_argument, NULL, 1},
    [OPT_QUIET] = {"quiet", no_argument, NULL, 1},
    [OPT_RESUME] = {"resume", required_argument, NULL, 1},
    [OPT_HELP] = {"help", no_argument, NULL, 1},
};

struct options {
    struct sb_plan_request request;
    const char **dirs;
    char **param_names; /* "phase-limit": owned, as getopt borrows them */
    struct option *table;
    struct sb_own_data own;
    char *out;
    const char *resume;
    char *aside; /* the partial file that is resumed, while it is done */
    bool json, dry_run, quiet, help;
};

void sb_help_run(FILE *stream)
{
    (void)fputs(
        "Usage: storebench run [SUITE]... [OPTION]...\n\n"
        "Runs suites (files, or names from the workloads folder; default: quick) and prints a "
        "table.\nThe result, a JSON file from which every figure can be worked out again, is named "
        "at the end.\n\n"
        "What to run (LIST takes commas and the patterns * and ?):\n"
        "  --drivers=LIST      e.g. 'lmdb,kc-*' or 'lmdb:writemap=on:cache=64MiB'\n"
        "  --scenarios=LIST    replaces the chains of the suite. A scenario that fills a store\n"
        "                      starts a chain; those after it go on with that store\n"
        "  --dir=PATH          where stores are made; repeatable (default: $STOREBENCH_DIR or "
        "/var/tmp)\n"
        "  --repeats=N         blocks of the campaign; each runs every chain once in random order\n"
        "  --keys-from=FILE    a user's own keys, one a line; sets the number of records\n"
        "  -0, --null          the keys of FILE end in a NUL, not in a newline\n"
        "  --pairs-from=FILE   own keys and values: KEY<tab>VALUE lines, or the JSON Lines of\n"
        "                      'storebench dump'\n"
        "  --count             one more repeat of each chain, untimed, that counts system calls\n"
        "  --time-limit=T      of the campaign: no repeat starts that would end later\n"
        "  --seed=N            of data and order (default: a new one, recorded)\n\n"
        "Parameters (LIST allowed: one cell for each combination):\n",
        stream);
    for (size_t i = 0; i < sb_params_count; i++) {
        const struct sb_param *p = &sb_params_table[i];
        char option[32];
        size_t used = (size_t)snprintf(option, sizeof(option), "--%s=", p->name);

        for (char *c = strchr(option, '_'); c; c = strchr(option, '_'))
            *c = '-';
        (void)fprintf(stream, "  %s%-*s %s", option, (int)(19 - used),
                      p->type == SB_PARAM_CHOICE     ? "WORD"
                      : p->type == SB_PARAM_SIZE     ? "SIZE"
                      : p->type == SB_PARAM_DURATION ? "TIME"
                                                     : "N",
                      p->help);
        if (p->choices)
            (void)fprintf(stream, " (%s)", p->choices);
        (void)fprintf(stream, " [%s]\n", p->default_value);
    }
    (void)fputs(
        "  The defaults in brackets hold where the suite says nothing.\n\n"
        "Output:\n"
        "  --out=FILE          the result file (default: a new name in ./results, or here)\n"
        "  --json=-            print the result document instead of the table\n"
        "  --resume=FILE       go on with a campaign that was ended early: its result, or the\n"
        "                      .partial file that a killed one left\n"
        "  --dry-run           show what would run, and run nothing\n"
        "  --quiet             no progress\n\nScenarios:\n",
        stream);
    for (int i = 0; i < SB_SCENARIO_COUNT; i++)
        (void)fprintf(stream, "  %-12s %s\n", sb_scenarios[i].name, sb_scenarios[i].help);
}

/* ---- options ------------------------------------------------------------------------------ */

static void make_table(struct options *o)
{
    o->table = sb_alloc(OPT_COUNT + sb_params_count + 1, sizeof(*o->table));
    o->param_names = sb_alloc(sb_params_count, sizeof(*o->param_names));
    memcpy(o->table, own_options, sizeof(own_options));
    for (size_t i = 0; i < sb_params_count; i++) {
        char *name = sb_format("%s", sb_params_table[i].name);

        for (char *c = strchr(name, '_'); c; c = strchr(name, '_'))
            *c = '-';
        o->param_names[i] = name;
        /* `--latency` alone is on. */
        o->table[OPT_COUNT + i] = (struct option){
            name, strcmp(name, "latency") == 0 ? optional_argument : required_argument, NULL, 1};
    }
}

static int parse_number(const char *option, const char *text, uint64_t *valuep)
{
    if (sb_parse_count(text, valuep) == 0 && *valuep > 0)
        return 0;
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "--%s takes a number of 1 or more, not '%s'", option,
                        text);
}

static int parse_own(struct options *o, int option, const char *value)
{
    struct sb_plan_request *r = &o->request;

    switch (option) {
    case OPT_DRIVERS:
        r->drivers = value;
        return 0;
    case OPT_SCENARIOS:
        r->scenarios = value;
        return 0;
    case OPT_REPEATS:
        return parse_number("repeats", value, &r->repeats);
    case OPT_SEED:
        return parse_number("seed", value, &r->seed);
    case OPT_TIME_LIMIT:
        if (sb_parse_duration(value, &r->time_limit_ns) == 0 && r->time_limit_ns)
            return 0;
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "--time-limit takes a duration such as 90s or 10m, not '%s'", value);
    case OPT_DIR:
        o->dirs = sb_grow(o->dirs, r->dir_count + 1, sizeof(*o->dirs));
        o->dirs[r->dir_count++] = value;
        return 0;
    case OPT_OUT:
        free(o->out);
        o->out = sb_format("%s", value);
        return 0;
    case OPT_JSON:
        o->json = strcmp(value, "-") == 0;
        return o->json ? 0
                       : sb_error_set(SB_ERR_UNSUPPORTED, 0,
                                      "--json takes '-'; for a file use --out=%s", value);
    case OPT_COUNT_CALLS:
        r->count = true;
        return 0;
    case OPT_KEYS_FROM:
    case OPT_PAIRS_FROM:
        if (o->own.path)
            return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                                "--keys-from and --pairs-from: one file, once");
        o->own.path = value;
        o->own.pairs = option == OPT_PAIRS_FROM;
        return 0;
    case OPT_NULL:
        o->own.nul = true;
        return 0;
    case OPT_RESUME:
        o->resume = value;
        return 0;
    case OPT_DRY_RUN:
        o->dry_run = true;
        return 0;
    case OPT_QUIET:
        o->quiet = true;
        return 0;
    default:
        o->help = true;
        return 0;
    }
}

static int parse(struct options *o, int argc, char **argv)
{
    int option;

    make_table(o);
    optind = 1;
    while ((option = sb_next_option(argc, argv, o->table)) >= 0) {
        int rc;

        if (option < OPT_COUNT)
            rc = parse_own(o, option, optarg);
        else
            rc = sb_layer_set_list(&o->request.set, &sb_params_table[option - OPT_COUNT],
                                   optarg ? optarg : "on");
        if (rc) {
            (void)sb_complain();
            return rc;
        }
    }
    if (o->own.nul && (!o->own.path || o->own.pairs)) {
        (void)fputs("storebench: --null belongs to --keys-from\n", stderr);
        return -2;
    }
    o->request.dirs = o->dirs;
    o->request.suites = (const char *const *)(argv + optind);
    o->request.suite_count = (size_t)(argc - optind);
    return option == -1 ? 0 : option;
}

static void release(struct options *o)
{
    for (size_t i = 0; o->param_names && i < sb_params_count; i++)
        free(o->param_names[i]);
    free(o->param_names);
    free(o->table);
    free(o->dirs);
    free(o->out);
    free(o->aside);
    sb_layer_release(&o->request.set);
}

/* ---- running ------------------------------------------------------------------------------ */

static char *default_out(const struct sb_plan *plan)
{
    char now[SB_ISO8601_BYTES], stamp[SB_ISO8601_BYTES];
    const char *folder = access("results", W_OK | X_OK) == 0 ? "results/" : "";
    size_t used = 0;

    sb_wall_iso8601(now, sizeof(now));
    for (const char *c = now; *c; c++)
        if (*c != '-' && *c != ':')
            stamp[used++] = *c;
    stamp[used] = '\0';
    return sb_format("%s%s-%s.json", folder, plan->suite_name, stamp);
}

static void print_chain(const struct sb_chain *chain)
{
    (void)printf("%s", chain->spec->label);
    for (size_t i = 0; i < chain->scenario_count; i++)
        (void)printf("%s%s", i ? "," : " ", sb_scenarios[chain->scenarios[i]].name);
    for (size_t i = 0; i < sb_params_count; i++) {
        const struct sb_param *p = &sb_params_table[i];
        uint64_t value = sb_param_get(p, &chain->params);

        if (p->type == SB_PARAM_CHOICE)
            (void)printf(" %s=%s", p->key, sb_param_word(p, value));
        else
            (void)printf(" %s=%" PRIu64, p->key, value);
    }
    (void)printf(" dir=%s", chain->parent_dir);
    if (chain->rule)
        (void)printf(" # %s", chain->rule);
    if (chain->na_reason)
        (void)printf(" # n/a: %s", chain->na_reason);
    (void)putchar('\n');
}

static void print_plan(const struct sb_plan *plan)
{
    (void)printf("# suite %s, seed %" PRIu64 ", %" PRIu64 " repeats of %zu chains (%zu can run)\n",
                 plan->suite_name, plan->seed, plan->repeats, plan->chain_count,
                 sb_plan_runnable(plan));
    for (size_t i = 0; i < plan->chain_count; i++)
        print_chain(&plan->chains[i]);
}

static bool all_ok(const json_t *cells)
{
    size_t index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        const char *status = sb_json_get_text(cell, "status", "");

        if (strcmp(status, "ok") != 0 && strcmp(status, "n/a") != 0 &&
            strcmp(status, "not-run") != 0)
            return false;
    }
    return true;
}

static bool any_ok(const json_t *cells)
{
    size_t index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (strcmp(sb_json_get_text(cell, "status", ""), "n/a") != 0 &&
            json_array_size(json_object_get(cell, "repeats")))
            return true;
    }
    return false;
}

static int show(const struct options *o, const struct sb_result *result)
{
    if (o->json) {
        if (json_dumpf(result->document, stdout, JSON_COMPACT) == 0)
            (void)putchar('\n'); /* main() tells when standard output is broken */
    } else {
        sb_table_print(stdout, result->document);
    }
    (void)fprintf(stderr, "storebench: result in %s\n", result->path);
    if (sb_stop_signal)
        return SB_EXIT_SIGNAL + sb_stop_signal;
    if (!any_ok(result->cells)) {
        (void)fputs("storebench: nothing could run; the reasons are in the table and the result\n",
                    stderr);
        return SB_EXIT_NOTHING;
    }
    return all_ok(result->cells) ? SB_EXIT_OK : SB_EXIT_FAILED;
}

static int nothing_can_run(const struct sb_plan *plan)
{
    const char *reason = plan->chain_count ? plan->chains[0].na_reason : "the plan is empty";

    (void)fprintf(stderr, "storebench: nothing can run: %s%s\n", reason,
                  plan->chain_count > 1 ? " (and so on; --dry-run shows all)" : "");
    return SB_EXIT_NOTHING;
}

/* A campaign that failed leaves what it has, unless it has nothing. */
static void leave_partial(const struct sb_result *result)
{
    char *partial = sb_format("%s.partial", result->path);

    if (any_ok(result->cells))
        (void)fprintf(stderr, "storebench: what was measured so far is in %s\n", partial);
    else
        (void)unlink(partial);
    free(partial);
}

static int run_plan(struct options *o, const struct sb_plan *plan,
                    const struct sb_registry *registry, const json_t *resumed, char **command)
{
    struct sb_campaign_request request = {.plan = plan,
                                          .registry = registry,
                                          .command = command,
                                          .quiet = o->quiet,
                                          .resumed = resumed};
    struct sb_result result = {.partial_fd = -1};
    int status;

    if (!sb_plan_runnable(plan))
        return nothing_can_run(plan);
    if (!o->out)
        o->out = default_out(plan);
    request.out_path = o->out;
    if (sb_campaign_run(&request, &result)) {
        status = sb_complain();
        if (result.partial_fd >= 0)
            leave_partial(&result);
    } else {
        if (o->aside)
            (void)unlink(o->aside);
        status = show(o, &result);
    }
    sb_result_release(&result);
    return status;
}

/* A partial file makes room for that of the campaign that goes on, and is removed once that has
 * written its result. */
static int set_partial_aside(struct options *old, const struct options *o)
{
    static const char ending[] = ".partial";
    size_t bytes = strlen(o->resume);

    if (bytes < sizeof(ending) || strcmp(o->resume + bytes - sizeof(ending) + 1, ending) != 0)
        return 0;
    if (!o->out)
        old->out[bytes - sizeof(ending) + 1] = '\0';
    if (o->dry_run)
        return 0;
    old->aside = sb_format("%s.resumed", o->resume);
    if (rename(o->resume, old->aside))
        return sb_error_errno(errno, "cannot rename %s", o->resume);
    return 0;
}

/* The options of the campaign that is resumed take the place of those given now. `wordsp` holds the
 * strings that they point to. */
static int parse_resumed(struct options *o, json_t **documentp, char ***wordsp)
{
    struct options old = {0};
    const json_t *command;
    size_t count;

    if (o->request.suite_count || o->request.drivers || o->request.scenarios ||
        o->request.set.count || o->request.dir_count || o->own.path)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "--resume takes no suite and no parameters: those of the file hold");
    if (sb_resume_load(o->resume, documentp))
        return sb_error_last()->code;
    command = json_object_get(*documentp, "command");
    count = json_array_size(command);
    *wordsp = sb_alloc(count + 1, sizeof(**wordsp));
    for (size_t i = 0; i < count; i++) {
        const char *word = json_string_value(json_array_get(command, i));

        (*wordsp)[i] = sb_format("%s", word ? word : "");
    }
    if (parse(&old, (int)count, *wordsp)) {
        release(&old);
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s: its command cannot be read", o->resume);
    }
    old.quiet = o->quiet;
    old.json = o->json;
    old.dry_run = o->dry_run;
    free(old.out);
    old.out = sb_format("%s", o->out ? o->out : o->resume);
    if (set_partial_aside(&old, o))
        return sb_error_last()->code;
    old.request.seed = sb_json_get_u64(*documentp, "seed", 0);
    release(o);
    *o = old;
    return 0;
}

static void free_words(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* Reads the user's own data and makes their number and sizes parameters of the plan. */
static int prepare_own(struct options *o)
{
    static const char *const taken[] = {"records", "key_bytes", "value_bytes"};
    const struct sb_keyfile_header *h = &o->own.pack.header;
    uint64_t values[] = {0, 0, 0};
    size_t count = o->own.pairs ? 3 : 2;
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        if (sb_layer_find(&o->request.set, sb_param_find(taken[i])))
            return sb_error_set(SB_ERR_UNSUPPORTED, 0, "--%s: %s comes from %s already", taken[i],
                                taken[i], o->own.path);
    rc = sb_own_data_prepare(&o->own, o->request.dir_count ? o->dirs[0] : sb_workdir_default());
    values[0] = h->records;
    values[1] = h->key_bytes_max;
    values[2] = h->value_bytes_max;
    for (size_t i = 0; i < count && !rc; i++) {
        char number[32];

        (void)snprintf(number, sizeof(number), "%" PRIu64, values[i]);
        rc = sb_layer_set_list(&o->request.set, sb_param_find(taken[i]), number);
    }
    o->request.own = &o->own;
    return rc;
}

static int run_or_show(struct options *o, const json_t *resumed, char **command)
{
    struct sb_registry registry = {0};
    struct sb_plan plan = {0};
    int status = SB_EXIT_OK;

    sb_registry_load(&registry);
    for (size_t i = 0; i < registry.rejection_count; i++)
        (void)fprintf(stderr, "storebench: %s: %s\n", registry.rejections[i].module_path,
                      registry.rejections[i].reason);
    if ((o->own.path && prepare_own(o)) || sb_plan_build(&plan, &o->request, &registry))
        status = sb_complain();
    else if (o->dry_run)
        print_plan(&plan);
    else
        status = run_plan(o, &plan, &registry, resumed, command);
    sb_plan_release(&plan);
    sb_own_data_release(&o->own);
    sb_registry_release(&registry);
    return status;
}

int sb_command_run(int argc, char **argv)
{
    struct options o = {0};
    json_t *resumed = NULL;
    char **words = NULL;
    int status = SB_EXIT_USAGE;

    if (parse(&o, argc, argv)) {
        release(&o);
        return SB_EXIT_USAGE;
    }
    if (o.help) {
        sb_help_run(stdout);
        status = SB_EXIT_OK;
    } else if (o.resume && parse_resumed(&o, &resumed, &words)) {
        (void)sb_complain();
    } else {
        status = run_or_show(&o, resumed, words ? words : argv);
    }
    json_decref(resumed);
    release(&o);
    free_words(words);
    return status;
}
