/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * calibrate.c -- see calibrate.h.
 */
#include "calibrate.h"

#include "describe.h"
#include "jsonx.h"
#include "mem.h"
#include "runner.h"
#include "stats.h"
#include "workdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NULL_REPEATS = 3,
    SMALL_CAMPAIGN_REPEATS = 20, /* up to so many, quick ceilings are in proportion */
};
static const uint64_t null_records = 200000;
static const uint64_t null_phase_min_ns = 20 * 1000 * 1000;

static struct sb_ceilings_plan ceilings_plan(const struct sb_plan *plan)
{
    return sb_ceilings_plan(sb_plan_runnable(plan) * plan->repeats <= SMALL_CAMPAIGN_REPEATS);
}

/* ---- the null driver ---------------------------------------------------------------------- */

static const enum sb_scenario null_chain[] = {SB_WRITE_RAND, SB_READ_SEQ, SB_READ_RAND};
enum { NULL_SCENARIOS = sizeof(null_chain) / sizeof(null_chain[0]) };

struct null_run {
    double ns_per_op[NULL_SCENARIOS];
};

static void on_null_event(void *arg, const char *name, const json_t *event)
{
    struct null_run *run = arg;
    const json_t *repeat = json_object_get(event, "repeat");
    size_t index = sb_json_get_u64(event, "index", SIZE_MAX);
    double ops = sb_json_get_real(repeat, "ops", 0);

    if (strcmp(name, "scenario") == 0 && index < NULL_SCENARIOS && ops > 0)
        run->ns_per_op[index] = sb_json_get_real(repeat, "elapsed_ns", 0) / ops;
}

/* The driver that keeps nothing, known by what it declares. */
static const struct sb_registry_entry *find_null(const struct sb_registry *registry)
{
    for (size_t i = 0; i < registry->entry_count; i++)
        if (registry->entries[i].driver->caps & SB_CAP_DISCARDS)
            return &registry->entries[i];
    return NULL;
}

static void run_null(const struct sb_calibration *c, const struct sb_registry_entry *entry,
                     struct null_run *measured)
{
    char *dir = sb_format("%s/null", c->work_dir);
    struct sb_job job = {.module_path = entry->module_path,
                         .label = entry->driver->name,
                         .dir = dir,
                         .seed = c->plan->seed,
                         .params = c->plan->chains[0].params,
                         .scenario_count = NULL_SCENARIOS};
    struct sb_run_request run = {.job = &job, .event = on_null_event, .event_arg = measured};
    json_t *end = NULL;

    memcpy(job.scenarios, null_chain, sizeof(null_chain));
    job.params.durability = SB_LEVEL_NONE;
    job.params.phase_min_ns = null_phase_min_ns;
    if (job.params.records > null_records)
        job.params.records = null_records;
    (void)sb_runner_run(&run, &end); /* a failure leaves the figures at 0, which is told */
    if (sb_workdir_remove_store(dir))
        sb_error_clear();
    json_decref(end);
    free(dir);
}

/* Median over a few processes of the cost of each kind of operation. */
static json_t *measure_harness(const struct sb_calibration *c)
{
    const struct sb_registry_entry *entry = find_null(c->registry);
    struct null_run runs[NULL_REPEATS] = {{{0}}};
    json_t *harness = json_object();

    for (size_t i = 0; entry && i < NULL_REPEATS && !sb_stop_signal; i++)
        run_null(c, entry, &runs[i]);
    sb_json_text(harness, "driver", entry ? entry->driver->name : "");
    for (size_t s = 0; s < NULL_SCENARIOS; s++) {
        double values[NULL_REPEATS];
        struct sb_summary summary;
        char *key = sb_format("%s_ns_per_op", sb_scenarios[null_chain[s]].name);

        for (char *dash = strchr(key, '-'); dash; dash = strchr(key, '-'))
            *dash = '_';
        for (size_t i = 0; i < NULL_REPEATS; i++)
            values[i] = runs[i].ns_per_op[s];
        sb_summarise(values, NULL_REPEATS, &summary);
        sb_json_real(harness, key, summary.median);
        free(key);
    }
    return harness;
}

/* ---- the machine -------------------------------------------------------------------------- */

/* The member of the document, made when it is not there yet. */
static json_t *both_moments(const struct sb_result *result, const char *key)
{
    json_t *object = json_object_get(result->document, key);

    return object ? json_incref(object) : json_object();
}

static int put_machine(struct sb_result *result)
{
    struct sb_machine machine;

    if (json_object_get(result->document, "machine"))
        return 0;
    sb_machine_read(&machine);
    return sb_result_set(result, "machine", sb_describe_machine(&machine));
}

static json_t *describe_dir(const char *path)
{
    struct sb_directory directory;

    (void)sb_directory_read(&directory, path); /* what cannot be read says "unknown" */
    return sb_describe_directory(&directory);
}

static int put_directories(const struct sb_calibration *c, const char *moment,
                           const struct sb_ceilings_plan *plan)
{
    json_t *list = json_object_get(c->result->document, "directories");

    list = list ? json_incref(list) : json_array();
    for (size_t i = 0; i < c->plan->dir_count; i++) {
        struct sb_flush_ceilings ceilings;
        json_t *directory = json_array_get(list, i);

        if (!directory) {
            sb_json_append_take(list, describe_dir(c->plan->dirs[i]));
            directory = json_array_get(list, i);
            sb_json_text(directory, "path", c->plan->dirs[i]);
            (void)sb_json_take(directory, "flush_ceilings", json_object());
        }
        if (sb_flush_ceilings_measure(plan, c->plan->dirs[i], &ceilings)) {
            int rc = sb_error_errno(errno, "cannot flush files in %s", c->plan->dirs[i]);

            json_decref(list);
            return rc;
        }
        (void)sb_json_take(json_object_get(directory, "flush_ceilings"), moment,
                           sb_describe_flush_ceilings(&ceilings));
    }
    return sb_result_set(c->result, "directories", list);
}

int sb_calibrate(const struct sb_calibration *c, const char *moment)
{
    struct sb_ceilings_plan plan = ceilings_plan(c->plan);
    struct sb_ceilings ceilings;
    json_t *both;
    int rc = put_machine(c->result);

    if (rc)
        return rc;
    sb_ceilings_measure(&plan, &ceilings);
    both = both_moments(c->result, "ceilings");
    (void)sb_json_take(both, moment, sb_describe_ceilings(&ceilings));
    rc = sb_result_set(c->result, "ceilings", both);
    if (!rc)
        rc = put_directories(c, moment, &plan);
    if (rc)
        return rc;
    both = both_moments(c->result, "harness");
    (void)sb_json_take(both, moment, measure_harness(c));
    return sb_result_set(c->result, "harness", both);
}
