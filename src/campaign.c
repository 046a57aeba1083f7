/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * campaign.c -- see campaign.h. One block runs every chain once, in an order of its own, so that a
 * slow minute of the machine falls on all drivers alike.
 */
#include "campaign.h"

#include "calibrate.h"
#include "clock.h"
#include "count.h"
#include "jsonx.h"
#include "mem.h"
#include "permutation.h"
#include "progress.h"
#include "resume.h"
#include "runner.h"
#include "store.h"
#include "units.h"
#include "workdir.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAD_BYTES_MAX = 4096 };

/* What is known of a chain while the campaign runs. */
struct chain_state {
    uint64_t longest_ns; /* of its repeats so far */
    bool given_up;       /* n/a or timed out: further repeats would tell nothing */
};

struct campaign {
    const struct sb_campaign_request *request;
    const struct sb_plan *plan;
    struct sb_result *result;
    struct sb_progress progress;
    char **work_dirs; /* one for each directory of the plan */
    struct chain_state *states;
    uint64_t begin_ns;
    uint64_t repeats_run;

    /* Of the repeat that runs. */
    const struct sb_chain *chain;
    json_t *repeats[SB_CHAIN_SCENARIOS_MAX]; /* of the scenarios that are finished */
    const char *ended_by;
};

/* ---- one repeat --------------------------------------------------------------------------- */

static void on_event(void *arg, const char *name, const json_t *event)
{
    struct campaign *c = arg;

    if (strcmp(name, "progress") == 0) {
        sb_progress_update(&c->progress, sb_json_get_text(event, "doing", "?"),
                           sb_json_get_u64(event, "done", 0), sb_json_get_u64(event, "planned", 0),
                           sb_json_get_u64(event, "elapsed_ns", 0));
    } else if (strcmp(name, "facts") == 0) {
        for (size_t i = 0; i < c->chain->scenario_count; i++)
            sb_result_facts(sb_result_cell(c->result, c->chain, i), event);
    } else if (strcmp(name, "scenario") == 0) {
        size_t index = sb_json_get_u64(event, "index", SIZE_MAX);

        if (index < c->chain->scenario_count && !c->repeats[index])
            c->repeats[index] = json_incref(json_object_get(event, "repeat"));
    }
}

static const char *run_status_word(enum sb_run_status status)
{
    return status == SB_RUN_HUNG ? "timeout" : "crashed";
}

/* Members that every scenario of a repeat shares. */
static void add_common(json_t *repeat, const json_t *common)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)common, key, value)
    {
        if (!json_object_get(repeat, key))
            (void)sb_json_take(repeat, key, json_incref(value));
    }
}

/* The first scenario that did not finish is what the repeat's status is about, and those after it
 * never ran; those before it were measured and checked before anything went wrong. When all of them
 * finished and the repeat still failed (wrong contents, a crash in close), it is about all. */
static int record_repeat(struct campaign *c, json_t *common, const char *status, const char *reason)
{
    bool all_finished = c->repeats[c->chain->scenario_count - 1] != NULL;
    int rc = 0;

    for (size_t i = 0; i < c->chain->scenario_count && !rc; i++) {
        json_t *repeat = c->repeats[i] ? c->repeats[i] : json_object();
        bool ok = c->repeats[i] && !all_finished;

        c->repeats[i] = NULL;
        if (!json_object_get(repeat, "status")) { /* else it has told its own: n/a */
            sb_json_text(repeat, "status", ok ? "ok" : status);
            if (reason && !ok)
                sb_json_text(repeat, "reason", reason);
        }
        add_common(repeat, common);
        rc = sb_result_add_repeat(c->result, sb_result_cell(c->result, c->chain, i), repeat);
    }
    return rc;
}

static void drop_repeat(struct campaign *c)
{
    for (size_t i = 0; i < c->chain->scenario_count; i++) {
        json_decref(c->repeats[i]);
        c->repeats[i] = NULL;
    }
}

/* "write-rand 1.23 M/s, read-rand 2.1 M/s" for the log. */
static void describe_outcome(const struct campaign *c, const char *status, const char *reason,
                             char *text, size_t size)
{
    size_t used = 0;

    if (strcmp(status, "ok") != 0) {
        (void)snprintf(text, size, "%s: %.*s", status, SB_ERROR_BYTES_MAX, reason ? reason : "");
        return;
    }
    text[0] = '\0';
    for (size_t i = 0; i < c->chain->scenario_count && used < size; i++) {
        const struct sb_scenario_info *info = &sb_scenarios[c->chain->scenarios[i]];
        const char *own = sb_json_get_text(c->repeats[i], "status", NULL);
        const char *counted = info->counts_commits ? "commits" : "ops";
        double count = sb_json_get_real(c->repeats[i], counted, 0);
        double elapsed_ns = sb_json_get_real(c->repeats[i], "elapsed_ns", 0);
        char rate[SB_FORMAT_BYTES];

        (void)sb_format_rate(rate, sizeof(rate), elapsed_ns > 0 ? count / elapsed_ns * 1e9 : 0);
        used += (size_t)snprintf(text + used, size - used, "%s%s %s", i ? ", " : "", info->name,
                                 own ? own : rate);
    }
}

static char *preload_path(const struct sb_spec *spec)
{
    const char *name = sb_store_preload(spec->entry->driver, spec->options);
    const char *slash = strrchr(spec->entry->module_path, '/');

    if (!name || !slash)
        return NULL;
    return sb_format("%.*s/%s", (int)(slash - spec->entry->module_path), spec->entry->module_path,
                     name);
}

static const char *work_dir_of(const struct campaign *c, const struct sb_chain *chain)
{
    for (size_t i = 0; i < c->plan->dir_count; i++)
        if (c->plan->dirs[i] == chain->parent_dir)
            return c->work_dirs[i];
    return c->work_dirs[0];
}

static json_t *describe_place(const struct campaign *c, uint64_t block, size_t position,
                              unsigned pad_bytes)
{
    char now[SB_ISO8601_BYTES];
    json_t *common = json_object();
    const json_t *machine = json_object_get(c->result->document, "machine");

    sb_json_u64(common, "block", block);
    sb_json_u64(common, "position", position);
    sb_json_text(common, "arm", "A");
    sb_json_text(common, "boot_id", sb_json_get_text(machine, "boot_id", "unknown"));
    sb_json_text(common, "started_at", sb_wall_iso8601(now, sizeof(now)));
    sb_json_u64(common, "environment_pad_bytes", pad_bytes);
    return common;
}

/* What the process told at its end, over to what all its scenarios share. */
static void add_end(json_t *common, const json_t *end)
{
    static const char *const keys[] = {
        "steps",       "digest", "harness_rss_bytes", "counters", "files_after_close", "code",
        "native_code", "doing"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *value = json_object_get(end, keys[i]);

        if (value)
            (void)sb_json_take(common, keys[i], json_incref(value));
    }
}

static int finish_repeat(struct campaign *c, enum sb_run_status run, const json_t *end,
                         json_t *common)
{
    struct chain_state *state = &c->states[c->chain - c->plan->chains];
    const char *status, *reason;
    char outcome[1024];

    if (run == SB_RUN_STOPPED) {
        drop_repeat(c);
        return 0;
    }
    status = run == SB_RUN_ENDED ? sb_json_get_text(end, "status", "failed") : run_status_word(run);
    reason = run == SB_RUN_ENDED ? sb_json_get_text(end, "reason", NULL) : sb_error_last()->text;
    add_end(common, end);
    state->given_up = strcmp(status, "n/a") == 0 || strcmp(status, "timeout") == 0;
    describe_outcome(c, status, reason, outcome, sizeof(outcome));
    sb_progress_end(&c->progress, outcome);
    return record_repeat(c, common, status, reason);
}

static int run_repeat(struct campaign *c, const struct sb_chain *chain, uint64_t block,
                      size_t position)
{
    struct chain_state *state = &c->states[chain - c->plan->chains];
    uint64_t random = sb_mix64(c->plan->seed + 7919 * block + position);
    unsigned pad_bytes = (unsigned)(random % PAD_BYTES_MAX);
    char *dir = sb_format("%s/%zu-%" PRIu64, work_dir_of(c, chain),
                          (size_t)(chain - c->plan->chains), block);
    char *preload = preload_path(chain->spec);
    struct sb_job job = {.module_path = chain->spec->entry->module_path,
                         .label = chain->spec->label,
                         .dir = dir,
                         .keys_path = chain->own ? chain->own->packed_path : NULL,
                         .seed = c->plan->seed,
                         .params = chain->params,
                         .scenario_count = chain->scenario_count};
    struct sb_run_request run = {.job = &job,
                                 .preload = preload,
                                 .environment_pad_bytes = pad_bytes,
                                 .event = on_event,
                                 .event_arg = c};
    json_t *common = describe_place(c, block, position, pad_bytes);
    uint64_t begin_ns = sb_now_ns();
    enum sb_run_status status;
    json_t *end = NULL;
    int rc;

    memcpy(job.scenarios, chain->scenarios, sizeof(job.scenarios));
    c->chain = chain;
    sb_progress_begin(&c->progress, chain->spec->label);
    status = sb_runner_run(&run, &end);
    rc = finish_repeat(c, status, end, common);
    if (!rc)
        rc = sb_workdir_remove_store(dir); /* left when the process was killed */
    if (sb_now_ns() - begin_ns > state->longest_ns)
        state->longest_ns = sb_now_ns() - begin_ns;
    json_decref(end);
    json_decref(common);
    free(preload);
    free(dir);
    return rc;
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* Whether another repeat of the chain would still end in time. */
static bool fits(const struct campaign *c, const struct chain_state *state)
{
    uint64_t spent_ns = sb_now_ns() - c->begin_ns;

    return !c->plan->time_limit_ns || spent_ns + state->longest_ns <= c->plan->time_limit_ns;
}

static int run_block(struct campaign *c, uint64_t block)
{
    struct sb_permutation order;

    sb_permutation_init(&order, c->plan->chain_count, sb_mix64(c->plan->seed ^ block));
    for (size_t position = 0; position < c->plan->chain_count; position++) {
        size_t index = sb_permutation_at(&order, position);
        int rc;

        if (sb_stop_signal)
            return 0;
        if (c->plan->chains[index].na_reason || c->states[index].given_up) {
            c->progress.planned -= !c->plan->chains[index].na_reason;
            continue;
        }
        if (c->request->resumed && sb_resume_has(c->result, &c->plan->chains[index], block)) {
            c->progress.planned--;
            continue;
        }
        if (!fits(c, &c->states[index])) {
            c->ended_by = "time-limit";
            return 0;
        }
        rc = run_repeat(c, &c->plan->chains[index], block, position);
        if (rc)
            return rc;
    }
    return 0;
}

static int run_blocks(struct campaign *c)
{
    int rc = 0;

    for (uint64_t block = 1; block <= c->plan->repeats && !rc; block++) {
        if (sb_stop_signal || strcmp(c->ended_by, "done") != 0)
            break;
        rc = run_block(c, block);
    }
    return rc;
}

/* One counting repeat of each chain that a timed one could run. */
static int count_chain(struct campaign *c, size_t index)
{
    const struct sb_chain *chain = &c->plan->chains[index];
    char *dir = sb_format("%s/%zu-count", work_dir_of(c, chain), index);
    char *preload = preload_path(chain->spec);
    struct sb_count count = {.chain = chain,
                             .result = c->result,
                             .progress = &c->progress,
                             .preload = preload,
                             .dir = dir,
                             .seed = c->plan->seed};
    int rc = sb_count_chain(&count);

    free(preload);
    free(dir);
    return rc;
}

static int run_counts(struct campaign *c)
{
    int rc = 0;

    for (size_t i = 0; c->plan->count && i < c->plan->chain_count && !rc; i++) {
        if (sb_stop_signal)
            break;
        if (c->plan->chains[i].na_reason || c->states[i].given_up)
            c->progress.planned -= !c->plan->chains[i].na_reason;
        else if (!fits(c, &c->states[i]))
            rc = sb_count_not_run(c->result, &c->plan->chains[i], "the time limit was reached");
        else
            rc = count_chain(c, i);
    }
    return rc;
}

/* ---- before and after --------------------------------------------------------------------- */

static int make_work_dirs(struct campaign *c)
{
    c->work_dirs = sb_alloc(c->plan->dir_count, sizeof(*c->work_dirs));
    for (size_t i = 0; i < c->plan->dir_count; i++) {
        int rc = sb_workdir_create(c->plan->dirs[i], &c->work_dirs[i]);

        if (rc)
            return rc;
    }
    return 0;
}

static int remove_work_dirs(struct campaign *c)
{
    int rc = 0;

    for (size_t i = 0; c->work_dirs && i < c->plan->dir_count; i++) {
        if (c->work_dirs[i] && sb_workdir_remove(c->work_dirs[i]))
            rc = sb_error_last()->code;
        free(c->work_dirs[i]);
    }
    free(c->work_dirs);
    return rc;
}

static int calibrate(struct campaign *c, const char *moment)
{
    struct sb_calibration calibration = {.plan = c->plan,
                                         .registry = c->request->registry,
                                         .result = c->result,
                                         .work_dir = c->work_dirs[0]};

    if (sb_stop_signal)
        return 0;
    sb_progress_say(&c->progress, strcmp(moment, "before") == 0
                                      ? "measuring the machine and the harness"
                                      : "measuring the machine and the harness again");
    return sb_calibrate(&calibration, moment);
}

static int end_result(struct campaign *c)
{
    int rc;

    if (sb_stop_signal)
        c->ended_by = "signal";
    rc = sb_result_set(c->result, "ended_by", json_string(c->ended_by));
    if (!rc)
        rc = sb_result_set(c->result, "complete", json_boolean(strcmp(c->ended_by, "done") == 0));
    return rc ? rc : sb_result_finish(c->result);
}

static void on_signal(int number)
{
    sb_stop_signal = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* else it was started by nohup */
        (void)sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a repeat that died early is seen by its exit status */
}

int sb_campaign_run(const struct sb_campaign_request *request, struct sb_result *resultp)
{
    struct campaign c = {.request = request,
                         .plan = request->plan,
                         .result = resultp,
                         .begin_ns = sb_now_ns(),
                         .ended_by = "done"};
    int rc, remove_rc;

    catch_signals();
    c.states = sb_alloc(c.plan->chain_count, sizeof(*c.states));
    sb_progress_init(&c.progress, sb_plan_runnable(c.plan) * (c.plan->repeats + c.plan->count),
                     request->quiet);
    rc = sb_result_create(resultp, c.plan, request->out_path, request->command);
    if (!rc && request->resumed)
        rc = sb_resume_repeats(resultp, request->resumed);
    if (!rc)
        rc = make_work_dirs(&c);
    if (!rc)
        rc = calibrate(&c, "before");
    if (!rc)
        rc = run_blocks(&c);
    if (!rc)
        rc = run_counts(&c);
    if (!rc)
        rc = calibrate(&c, "after");
    sb_progress_clear(&c.progress);
    if (!rc)
        rc = end_result(&c);
    remove_rc = remove_work_dirs(&c);
    free(c.states);
    return rc ? rc : remove_rc;
}
