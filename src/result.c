/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * result.c -- see result.h.
 */
#include "result.h"

#include "clock.h"
#include "describe.h"
#include "hash.h"
#include "jsonx.h"
#include "mem.h"
#include "stats.h"

#include "buildinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- cells -------------------------------------------------------------------------------- */

static json_t *names_before(const struct sb_chain *chain, size_t index)
{
    json_t *names = json_array();

    for (size_t i = 0; i < index; i++)
        sb_json_append_text(names, sb_scenarios[chain->scenarios[i]].name);
    return names;
}

static json_t *describe_hashes(const struct sb_chain *chain, size_t index)
{
    json_t *hashes = json_object();

    sb_json_hex(hashes, "workload", sb_chain_workload_hash(chain, index));
    sb_json_hex(hashes, "driver", sb_registry_module_hash(chain->spec->entry));
    sb_json_hex(hashes, "library", sb_registry_library_hash(chain->spec->entry));
    sb_json_text(hashes, "harness", SB_LOOP_HASH);
    return hashes;
}

/* Sizes of a user's own data differ: the parameters then hold the largest, and their means. */
static json_t *describe_parameters(const struct sb_chain *chain)
{
    json_t *parameters = sb_params_to_json(&chain->params);
    const struct sb_keyfile_header *h = chain->own ? &chain->own->pack.header : NULL;

    if (h)
        sb_json_real(parameters, "key_bytes_mean", (double)h->key_bytes_total / (double)h->records);
    if (h && h->has_values)
        sb_json_real(parameters, "value_bytes_mean",
                     (double)h->value_bytes_total / (double)h->records);
    return parameters;
}

static json_t *describe_cell(const struct sb_chain *chain, size_t index)
{
    const struct sb_driver *driver = chain->spec->entry->driver;
    json_t *cell = json_object();

    sb_json_hex(cell, "id", sb_chain_cell_id(chain, index));
    sb_json_text(cell, "driver", driver->name);
    sb_json_text(cell, "label", chain->spec->label);
    sb_json_text(cell, "scenario", sb_scenarios[chain->scenarios[index]].name);
    sb_json_take(cell, "after", names_before(chain, index));
    sb_json_bool(cell, "persistent", (driver->caps & SB_CAP_PERSISTENT) != 0);
    sb_json_take(cell, "parameters", describe_parameters(chain));
    sb_json_text(cell, "directory", chain->parent_dir);
    sb_json_text(cell, "durability_requested",
                 sb_level_name((enum sb_level)chain->params.durability));
    sb_json_take(cell, "durability_kept", json_null());
    sb_json_text(cell, "status", chain->na_reason ? "n/a" : "not-run");
    sb_json_take(cell, "reason", chain->na_reason ? json_string(chain->na_reason) : json_null());
    sb_json_take(cell, "rule", chain->rule ? json_string(chain->rule) : json_null());
    sb_json_take(cell, "hashes", describe_hashes(chain, index));
    sb_json_take(cell, "repeats", json_array());
    sb_json_take(cell, "summary", json_object());
    return cell;
}

static json_t *find_cell(const json_t *cells, const char *id)
{
    size_t index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (strcmp(sb_json_get_text(cell, "id", ""), id) == 0)
            return cell;
    }
    return NULL;
}

json_t *sb_result_cell(const struct sb_result *result, const struct sb_chain *chain,
                       size_t scenario_index)
{
    char id[17];

    (void)snprintf(id, sizeof(id), "%016" PRIx64, sb_chain_cell_id(chain, scenario_index));
    return find_cell(result->cells, id);
}

void sb_result_facts(json_t *cell, const json_t *facts)
{
    static const char *const keys[] = {"library_version", "durability_kept",   "atomic",
                                       "ordered",         "effective_options", "notes"};

    if (json_object_get(cell, "library_version"))
        return;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        json_t *value = json_object_get(facts, keys[i]);

        if (value)
            (void)sb_json_take(cell, keys[i], json_incref(value));
    }
}

/* ---- derived figures ---------------------------------------------------------------------- */

static void put_rate(json_t *derived, const char *key, double count, double ns)
{
    if (count > 0 && ns > 0)
        sb_json_real(derived, key, count / ns * 1e9);
}

/* Bytes of keys and values that an operation of the scenario gives to the store. */
static double user_bytes_written(enum sb_scenario scenario, double key_bytes, double value_bytes)
{
    switch (scenario) {
    case SB_WRITE_SEQ:
    case SB_WRITE_RAND:
    case SB_BULK_LOAD:
    case SB_COMMIT:
    case SB_OVERWRITE:
        return key_bytes + value_bytes;
    case SB_DELETE:
        return key_bytes;
    case SB_CHURN: /* two puts for each delete */
        return key_bytes + value_bytes * 2 / 3;
    default:
        return 0;
    }
}

/* The same of what it gets; a read that misses gets nothing. */
static double user_bytes_read(enum sb_scenario scenario, double key_bytes, double value_bytes)
{
    if (scenario == SB_READ_SEQ || scenario == SB_READ_RAND)
        return key_bytes + value_bytes;
    return scenario == SB_SCAN_KEYS ? key_bytes : 0;
}

static void put_ratio(json_t *derived, const char *key, double bytes, double user_bytes)
{
    if (bytes >= 0 && user_bytes > 0)
        sb_json_real(derived, key, bytes / user_bytes);
}

/* How much more than the user's own keys and values went to and from storage, and is kept there:
 *   write_amplification = (usage.write_bytes + settle_write_bytes) / user bytes written
 *   read_amplification  = usage.read_bytes / user bytes read; 0 when the page cache had it all
 *   space_amplification = files.allocated_bytes / (live_records * (key_bytes + value_bytes))
 * write_bytes are pages made dirty, as the kernel counts them for the process: a page that is
 * written twice before it is written back counts once, and nothing counts on a memory file system.
 * A phase that was cut has no write amplification: what had to follow it off the clock was written
 * as well. */
static void derive_amplification(json_t *derived, const json_t *repeat, const json_t *cell,
                                 enum sb_scenario scenario)
{
    const json_t *parameters = json_object_get(cell, "parameters");
    const json_t *usage = json_object_get(repeat, "usage");
    const json_t *files = json_object_get(repeat, "files");
    double key_bytes = sb_json_get_mean(parameters, "key_bytes", 0);
    double value_bytes = sb_json_get_mean(parameters, "value_bytes", 0);
    double ops = sb_json_get_real(repeat, "ops", 0);
    double live = sb_json_get_real(repeat, "live_records", 0);

    if (!files)
        return; /* a store in memory */
    if (!sb_json_get_bool(repeat, "cut", false))
        put_ratio(derived, "write_amplification",
                  sb_json_get_real(usage, "write_bytes", -INFINITY) +
                      sb_json_get_real(repeat, "settle_write_bytes", 0),
                  ops * user_bytes_written(scenario, key_bytes, value_bytes));
    put_ratio(derived, "read_amplification", sb_json_get_real(usage, "read_bytes", -1),
              ops * user_bytes_read(scenario, key_bytes, value_bytes));
    put_ratio(derived, "space_amplification", sb_json_get_real(files, "allocated_bytes", -1),
              live * (key_bytes + value_bytes));
}

static void derive(json_t *repeat, const json_t *cell, enum sb_scenario scenario)
{
    bool counts_commits = sb_scenarios[scenario].counts_commits;
    json_t *derived = json_object();
    double ops = sb_json_get_real(repeat, "ops", 0);
    double elapsed_ns = sb_json_get_real(repeat, "elapsed_ns", 0);
    double settle_ns = sb_json_get_real(repeat, "settle_ns", -1);
    bool cut = sb_json_get_bool(repeat, "cut", false);

    put_rate(derived, "ops_per_s", ops, elapsed_ns);
    put_rate(derived, "ops_per_cpu_s", ops, sb_json_get_real(repeat, "clocked_cpu_ns", 0));
    if (counts_commits)
        put_rate(derived, "commits_per_s", sb_json_get_real(repeat, "commits", 0), elapsed_ns);
    /* A fill that was cut settles more records than it clocked. */
    if (settle_ns >= 0 && !cut)
        put_rate(derived, "settled_ops_per_s", ops, elapsed_ns + settle_ns);
    derive_amplification(derived, repeat, cell, scenario);
    (void)sb_json_take(repeat, "derived", derived);
}

/* The figures that are summarised over the repeats: name in the summary, and where they stand. */
static const struct {
    const char *key, *object, *member;
} summarised[] = {
    {"ops_per_s", "derived", "ops_per_s"},
    {"commits_per_s", "derived", "commits_per_s"},
    {"settled_ops_per_s", "derived", "settled_ops_per_s"},
    {"ops_per_cpu_s", "derived", "ops_per_cpu_s"},
    {"peak_rss_bytes", "memory", "peak_rss_bytes"},
    {"file_allocated_bytes", "files", "allocated_bytes"},
    {"file_apparent_bytes", "files", "apparent_bytes"},
    {"write_bytes", "usage", "write_bytes"},
    {"write_amplification", "derived", "write_amplification"},
    {"read_amplification", "derived", "read_amplification"},
    {"space_amplification", "derived", "space_amplification"},
    {"latency_p50_ns", "latency", "p50_ns"},
    {"latency_p99_ns", "latency", "p99_ns"},
    {"latency_p999_ns", "latency", "p999_ns"},
    {"latency_max_ns", "latency", "max_ns"},
};

static void summarise_member(json_t *summary, const json_t *repeats, size_t which)
{
    double *values = sb_alloc(json_array_size(repeats), sizeof(*values));
    struct sb_summary s;
    size_t count = 0, index;
    json_t *repeat, *o;

    json_array_foreach((json_t *)(uintptr_t)repeats, index, repeat)
    {
        const json_t *object = json_object_get(repeat, summarised[which].object);
        double value = sb_json_get_real(object, summarised[which].member, NAN);

        if (strcmp(sb_json_get_text(repeat, "status", ""), "ok") == 0 && isfinite(value))
            values[count++] = value;
    }
    sb_summarise(values, count, &s);
    free(values);
    if (!count)
        return;
    o = sb_json_take(summary, summarised[which].key, json_object());
    sb_json_u64(o, "count", s.count);
    sb_json_real(o, "median", s.median);
    sb_json_real(o, "low", s.low);
    sb_json_real(o, "high", s.high);
    sb_json_real(o, "coverage", s.coverage);
    sb_json_real(o, "min", s.min);
    sb_json_real(o, "max", s.max);
}

/* A cell is ok if all its repeats are; else it is what the first one that was not is. */
static void judge(json_t *cell)
{
    const json_t *repeats = json_object_get(cell, "repeats");
    size_t index;
    json_t *repeat;

    if (!json_array_size(repeats))
        return; /* stays n/a or not-run */
    sb_json_text(cell, "status", "ok");
    json_array_foreach((json_t *)(uintptr_t)repeats, index, repeat)
    {
        const char *status = sb_json_get_text(repeat, "status", "failed");

        if (strcmp(status, "ok") == 0)
            continue;
        sb_json_text(cell, "status", status);
        sb_json_text(cell, "reason", sb_json_get_text(repeat, "reason", ""));
        return;
    }
}

/* ---- shares of ceilings ------------------------------------------------------------------- */

/* The best way to flush that was measured in the directory, before or after; 0 if none was. */
static double best_flush_rate(const json_t *document, const char *path)
{
    static const char *const moments[] = {"before", "after"};
    static const char *const ways[] = {"append", "overwrite", "mapped"};
    const json_t *directories = json_object_get(document, "directories");
    double best = 0;
    size_t index;
    json_t *directory;

    json_array_foreach((json_t *)(uintptr_t)directories, index, directory)
    {
        const json_t *ceilings = json_object_get(directory, "flush_ceilings");

        if (strcmp(sb_json_get_text(directory, "path", ""), path) != 0)
            continue;
        for (size_t i = 0; i < 2 * 3; i++) {
            const json_t *moment = json_object_get(ceilings, moments[i / 3]);
            const json_t *way = json_object_get(moment, ways[i % 3]);
            double rate = sb_json_get_real(way, "flushes_per_s", 0);

            best = rate > best ? rate : best;
        }
    }
    return best;
}

static const double ceiling_tolerance = 1.05;

static void compare_with_ceiling(const json_t *document, json_t *cell)
{
    json_t *summary = json_object_get(cell, "summary");
    const json_t *commits = json_object_get(summary, "commits_per_s");
    double rate = sb_json_get_real(commits, "median", 0);
    double best = best_flush_rate(document, sb_json_get_text(cell, "directory", ""));
    json_t *warnings;

    if (strcmp(sb_json_get_text(cell, "durability_requested", ""), "power") != 0 || rate <= 0 ||
        best <= 0)
        return;
    sb_json_real(summary, "share_of_flush_ceiling", rate / best);
    if (rate <= best * ceiling_tolerance)
        return;
    warnings = json_object_get(cell, "warnings");
    if (!warnings)
        warnings = sb_json_take(cell, "warnings", json_array());
    sb_json_append_text(warnings, "above-flush-ceiling");
}

/* ---- the document ------------------------------------------------------------------------- */

static int partial_line(struct sb_result *result, json_t *line_take)
{
    bool ok = result->partial_fd < 0 || sb_json_write_line(result->partial_fd, line_take);
    int number = errno;

    json_decref(line_take);
    return ok ? 0 : sb_error_errno(number, "cannot write %s.partial", result->path);
}

static void add_header(json_t *document, const struct sb_plan *plan, char *const *command)
{
    char now[SB_ISO8601_BYTES];
    json_t *words, *suite;
    uint64_t id = SB_HASH_START;
    uint64_t start_ns = sb_now_ns();

    sb_wall_iso8601(now, sizeof(now));
    id = sb_hash_text(id, now);
    id = sb_hash_bytes(id, &start_ns, sizeof(start_ns));
    id = sb_hash_bytes(id, &plan->seed, sizeof(plan->seed));
    sb_json_text(document, "schema", SB_RESULT_SCHEMA);
    sb_json_hex(document, "campaign_id", id);
    words = sb_json_take(document, "command", json_array());
    for (; *command; command++)
        sb_json_append_text(words, *command);
    sb_json_u64(document, "seed", plan->seed);
    suite = sb_json_take(document, "suite", json_object());
    sb_json_text(suite, "name", plan->suite_name);
    sb_json_text(suite, "description", plan->suite_description);
    sb_json_hex(suite, "hash", plan->suite_hash);
    sb_json_u64(document, "repeats_planned", plan->repeats);
    sb_json_u64(document, "time_limit_ns", plan->time_limit_ns);
    sb_json_text(document, "started_at", now);
    if (plan->own)
        sb_json_take(document, "own_data", sb_own_data_describe(plan->own));
    sb_json_take(document, "storebench", sb_describe_program());
}

static int open_partial(struct sb_result *result)
{
    char *partial = sb_format("%s.partial", result->path);
    struct stat status;
    int rc = 0;

    /* The rename at the end would put a file in the place of a device. */
    if (stat(result->path, &status) == 0 && !S_ISREG(status.st_mode))
        rc = sb_error_set(SB_ERR_FAILED, 0, "cannot write %s: it is not a regular file",
                          result->path);
    else
        result->partial_fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (!rc && result->partial_fd < 0 && errno == EEXIST)
        rc = sb_error_set(SB_ERR_FAILED, EEXIST,
                          "%s exists: a run that goes on or was killed measured it; move it away, "
                          "or name another --out",
                          partial);
    else if (!rc && result->partial_fd < 0)
        rc = sb_error_errno(errno, "cannot write %s", partial);
    free(partial);
    return rc;
}

int sb_result_create(struct sb_result *result, const struct sb_plan *plan, const char *path,
                     char *const *command)
{
    json_t *line;
    int rc;

    *result = (struct sb_result){
        .document = json_object(), .path = sb_format("%s", path), .partial_fd = -1};
    add_header(result->document, plan, command);
    result->cells = sb_json_take(result->document, "cells", json_array());
    for (size_t i = 0; i < plan->chain_count; i++)
        for (size_t s = 0; s < plan->chains[i].scenario_count; s++)
            if (!sb_result_cell(result, &plan->chains[i], s))
                sb_json_append_take(result->cells, describe_cell(&plan->chains[i], s));
    rc = open_partial(result);
    if (rc)
        return rc;
    line = json_object();
    sb_json_text(line, "line", "campaign");
    (void)sb_json_take(line, "document", json_incref(result->document));
    return partial_line(result, line);
}

int sb_result_set(struct sb_result *result, const char *key, json_t *value_take)
{
    json_t *line = json_object();

    sb_json_text(line, "line", "member");
    sb_json_text(line, "key", key);
    (void)sb_json_take(line, "value", json_incref(value_take));
    (void)sb_json_take(result->document, key, value_take);
    return partial_line(result, line);
}

int sb_result_add_repeat(struct sb_result *result, json_t *cell, json_t *repeat_take)
{
    enum sb_scenario scenario = sb_scenario_find(sb_json_get_text(cell, "scenario", ""));
    json_t *line = json_object();

    if (scenario != SB_SCENARIO_COUNT)
        derive(repeat_take, cell, scenario);
    sb_json_append_take(json_object_get(cell, "repeats"), repeat_take);
    sb_json_text(line, "line", "repeat");
    sb_json_text(line, "cell", sb_json_get_text(cell, "id", ""));
    (void)sb_json_take(line, "repeat", json_incref(repeat_take));
    return partial_line(result, line);
}

int sb_result_set_counted(struct sb_result *result, json_t *cell, json_t *counted_take)
{
    const json_t *old = json_object_get(cell, "counted");
    json_t *line;

    if (strcmp(sb_json_get_text(old, "status", ""), "ok") == 0) {
        json_decref(counted_take);
        return 0;
    }
    (void)sb_json_take(cell, "counted", counted_take);
    line = json_object();
    sb_json_text(line, "line", "counted");
    sb_json_text(line, "cell", sb_json_get_text(cell, "id", ""));
    (void)sb_json_take(line, "counted", json_incref(counted_take));
    return partial_line(result, line);
}

/* ---- the file ----------------------------------------------------------------------------- */

static int write_value(FILE *file, const json_t *value)
{
    return json_dumpf(value, file, JSON_COMPACT | JSON_ENCODE_ANY) ? -1 : 0;
}

/* One member a line, and of the cells one cell a line: easy to diff, to grep and to read by line.
 */
static int write_document(FILE *file, const json_t *document)
{
    const char *separator = "{\n";
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)document, key, value)
    {
        if (fprintf(file, "%s\"%s\": ", separator, key) < 0)
            return -1;
        separator = ",\n";
        if (strcmp(key, "cells") != 0) {
            if (write_value(file, value))
                return -1;
            continue;
        }
        if (fputs("[", file) < 0)
            return -1;
        for (size_t i = 0; i < json_array_size(value); i++)
            if (fputs(i ? ",\n" : "\n", file) < 0 || write_value(file, json_array_get(value, i)))
                return -1;
        if (fputs("\n]", file) < 0)
            return -1;
    }
    return fputs("\n}\n", file) < 0 ? -1 : 0;
}

static int write_file(const struct sb_result *result)
{
    char *temporary = sb_format("%s.tmp", result->path);
    FILE *file = fopen(temporary, "we");
    int rc = 0;

    if (!file || write_document(file, result->document) || fflush(file) || fsync(fileno(file)))
        rc = sb_error_errno(errno, "cannot write %s", temporary);
    if (file && fclose(file) && !rc)
        rc = sb_error_errno(errno, "cannot write %s", temporary);
    if (!rc && rename(temporary, result->path))
        rc = sb_error_errno(errno, "cannot rename %s", temporary);
    if (rc && file)
        (void)unlink(temporary);
    free(temporary);
    return rc;
}

int sb_result_finish(struct sb_result *result)
{
    char now[SB_ISO8601_BYTES];
    char *partial;
    size_t index;
    json_t *cell;
    int rc;

    json_array_foreach(result->cells, index, cell)
    {
        json_t *summary = json_object_get(cell, "summary");

        judge(cell);
        for (size_t i = 0; i < sizeof(summarised) / sizeof(summarised[0]); i++)
            summarise_member(summary, json_object_get(cell, "repeats"), i);
        compare_with_ceiling(result->document, cell);
    }
    sb_json_text(result->document, "ended_at", sb_wall_iso8601(now, sizeof(now)));
    rc = write_file(result);
    if (rc)
        return rc; /* the partial file still has everything */
    (void)close(result->partial_fd);
    result->partial_fd = -1;
    partial = sb_format("%s.partial", result->path);
    (void)unlink(partial);
    free(partial);
    return 0;
}

void sb_result_release(struct sb_result *result)
{
    if (result->partial_fd >= 0)
        (void)close(result->partial_fd);
    json_decref(result->document);
    free(result->path);
    *result = (struct sb_result){.partial_fd = -1};
}
