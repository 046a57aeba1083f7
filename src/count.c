/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * count.c -- see count.h.
 */
#include "count.h"

#include "jsonx.h"
#include "runner.h"
#include "workdir.h"

#include <string.h>

enum {
    RECORDS_MAX = 20000,
    COMMITS_MAX = 200,
    COMMIT_OPS_MAX = 200000, /* of all commits together */
    OPENS_MAX = 5,
};
static const uint64_t phase_limit_ns_max = 10ull * 1000 * 1000 * 1000;

/* What is known of the repeat while it runs. */
struct counting {
    const struct sb_count *count;
    struct sb_params params;
    json_t *counted[SB_CHAIN_SCENARIOS_MAX]; /* of the scenarios that are finished */
};

static void keep_below(uint64_t *value, uint64_t max)
{
    if (*value > max)
        *value = max;
}

void sb_count_limit(struct sb_params *params)
{
    keep_below(&params->records, RECORDS_MAX);
    keep_below(&params->batch, params->records);
    params->records -= params->records % params->batch;
    if (params->reads)
        keep_below(&params->reads, RECORDS_MAX);
    keep_below(&params->commits, COMMITS_MAX);
    keep_below(&params->commits, COMMIT_OPS_MAX / params->batch);
    keep_below(&params->turnovers, 1);
    keep_below(&params->opens, OPENS_MAX);
    keep_below(&params->phase_limit_ns, phase_limit_ns_max);
    params->phase_min_ns = 0;
    params->latency = 0;
}

/* ---- what it tells ------------------------------------------------------------------------ */

static json_t *not_counted(const char *status, const char *reason)
{
    json_t *counted = json_object();

    sb_json_text(counted, "status", status);
    sb_json_text(counted, "reason", reason);
    return counted;
}

static json_t *take_counted(const struct counting *c, const json_t *repeat)
{
    const char *status = sb_json_get_text(repeat, "status", NULL);
    json_t *counted = json_object();
    json_t *figures;

    if (status) {
        json_decref(counted);
        return not_counted(status, sb_json_get_text(repeat, "reason", ""));
    }
    figures = json_object_get(repeat, "counted");
    if (!figures) {
        json_decref(counted);
        return not_counted("failed", "the repeat was not traced");
    }
    sb_json_text(counted, "status", "ok");
    sb_json_u64(counted, "records", c->params.records);
    sb_json_u64(counted, "batch", c->params.batch);
    sb_json_bool(counted, "cut", sb_json_get_bool(repeat, "cut", false));
    (void)json_object_update(counted, figures);
    return counted;
}

static void on_event(void *arg, const char *name, const json_t *event)
{
    struct counting *c = arg;

    if (strcmp(name, "progress") == 0) {
        sb_progress_update(c->count->progress, sb_json_get_text(event, "doing", "?"),
                           sb_json_get_u64(event, "done", 0), sb_json_get_u64(event, "planned", 0),
                           sb_json_get_u64(event, "elapsed_ns", 0));
    } else if (strcmp(name, "scenario") == 0) {
        size_t index = sb_json_get_u64(event, "index", SIZE_MAX);

        if (index < c->count->chain->scenario_count && !c->counted[index])
            c->counted[index] = take_counted(c, json_object_get(event, "repeat"));
    }
}

/* As with timed repeats: when all scenarios finished and the repeat failed all the same, it is
 * about all of them. */
static int record(struct counting *c, const char *status, const char *reason)
{
    const struct sb_chain *chain = c->count->chain;
    bool ok = strcmp(status, "ok") == 0;
    bool all_finished = c->counted[chain->scenario_count - 1] != NULL;
    int rc = 0;

    for (size_t i = 0; i < chain->scenario_count; i++) {
        json_t *counted = c->counted[i];
        json_t *cell = sb_result_cell(c->count->result, chain, i);

        if (!counted || (all_finished && !ok)) {
            json_decref(counted);
            counted = not_counted(status, reason);
        }
        if (rc)
            json_decref(counted);
        else
            rc = sb_result_set_counted(c->count->result, cell, counted);
    }
    return rc;
}

static void forget(struct counting *c)
{
    for (size_t i = 0; i < SB_CHAIN_SCENARIOS_MAX; i++)
        json_decref(c->counted[i]);
}

/* ---- running it --------------------------------------------------------------------------- */

int sb_count_chain(const struct sb_count *count)
{
    const struct sb_chain *chain = count->chain;
    struct counting c = {.count = count, .params = chain->params};
    struct sb_job job = {.module_path = chain->spec->entry->module_path,
                         .label = chain->spec->label,
                         .dir = count->dir,
                         .keys_path = chain->own ? chain->own->packed_path : NULL,
                         .seed = count->seed,
                         .scenario_count = chain->scenario_count,
                         .counting = true};
    struct sb_run_request run = {
        .job = &job, .preload = count->preload, .event = on_event, .event_arg = &c};
    const char *status, *reason;
    enum sb_run_status ended;
    json_t *end = NULL;
    int rc;

    sb_count_limit(&c.params);
    job.params = c.params;
    memcpy(job.scenarios, chain->scenarios, sizeof(job.scenarios));
    sb_progress_begin(count->progress, chain->spec->label);
    ended = sb_runner_run(&run, &end);
    if (ended == SB_RUN_STOPPED) {
        forget(&c);
        return sb_workdir_remove_store(count->dir);
    }
    status = ended == SB_RUN_HUNG ? "timeout" : "crashed";
    status = ended == SB_RUN_ENDED ? sb_json_get_text(end, "status", "failed") : status;
    reason = ended == SB_RUN_ENDED ? sb_json_get_text(end, "reason", "") : sb_error_last()->text;
    sb_progress_end(count->progress, strcmp(status, "ok") == 0 ? "counted" : reason);
    rc = record(&c, status, reason);
    json_decref(end);
    return rc ? rc : sb_workdir_remove_store(count->dir);
}

int sb_count_not_run(struct sb_result *result, const struct sb_chain *chain, const char *reason)
{
    int rc = 0;

    for (size_t i = 0; i < chain->scenario_count && !rc; i++)
        rc = sb_result_set_counted(result, sb_result_cell(result, chain, i),
                                   not_counted("not-run", reason));
    return rc;
}
