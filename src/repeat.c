/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * repeat.c -- see repeat.h. The order of things: load the driver, make the directory, open, load,
 * settle, measure each scenario and settle after it, compare the contents, close, measure the
 * files, delete.
 */
#include "repeat.h"

#include "describe_counted.h"
#include "describe_recorder.h"
#include "diskuse.h"
#include "job.h"
#include "jsonx.h"
#include "phase.h"
#include "reopen.h"
#include "reserve.h"
#include "settle.h"
#include "spec.h"
#include "usage.h"
#include "workdir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory that a store may touch for the planned data: the records, their copies in a log or cache,
 * and the page cache of its files. */
enum { RESERVE_FACTOR = 4 };
static const uint64_t reserve_bytes_min = 16u << 20;
static const uint64_t reserve_bytes_max = 4ull << 30;

/* Above this part of the clocked CPU time, work that other threads did in the gaps is remarked. */
static const double gap_cpu_remarkable = 0.05;
/* A page that costs more was not backed by the host. */
static const double first_touch_remarkable_ns = 2000;
static const uint64_t short_phase_ns = 10 * 1000 * 1000;

struct repeat {
    struct sb_job job;
    struct sb_registry registry;
    struct sb_spec spec;
    struct sb_open open_args;
    struct sb_store_handle handle;
    struct sb_keyfile own; /* a user's keys, when the job has them */
    struct sb_dataset data;
    struct sb_ring ring;
    struct sb_recorder recorder;
    struct sb_phase phase;
    struct sb_reserve reserve;
    json_t *steps;
    const char *doing; /* name of the scenario or step, for progress */
    uint64_t doing_since_ns;

    /* Of the scenario that runs. */
    struct sb_usage usage_before;
    struct sb_memory memory_peak;
    double first_touch_ns;
    uint64_t reserve_bytes;
    bool peak_reset;
};

static void send_event(json_t *event_take, const char *name)
{
    sb_json_text(event_take, "event", name);
    /* Without a parent there is nobody to work for. */
    if (!sb_json_write_line(SB_EVENT_FD, event_take))
        _exit(1);
    json_decref(event_take);
}

/* ---- gaps --------------------------------------------------------------------------------- */

/* Memory of the process without the user's keys, which are mapped and resident as a whole. */
static struct sb_memory sample_memory(const struct repeat *r)
{
    uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t keys_bytes = (r->own.mapped_bytes + page_bytes - 1) / page_bytes * page_bytes;
    struct sb_memory now;

    sb_memory_sample(&now);
    now.rss_file_bytes -= keys_bytes < now.rss_file_bytes ? keys_bytes : now.rss_file_bytes;
    now.peak_rss_bytes -= keys_bytes < now.peak_rss_bytes ? keys_bytes : now.peak_rss_bytes;
    return now;
}

static void in_gap(void *arg, uint64_t done, uint64_t planned)
{
    struct repeat *r = arg;
    struct sb_memory now = sample_memory(r);
    json_t *event = json_object();

    sb_memory_keep_max(&r->memory_peak, &now);
    sb_json_text(event, "doing", r->doing);
    sb_json_u64(event, "done", done);
    sb_json_u64(event, "planned", planned);
    sb_json_u64(event, "elapsed_ns", sb_now_ns() - r->doing_since_ns);
    send_event(event, "progress");
}

static void start_doing(struct repeat *r, const char *what)
{
    r->doing = what;
    r->doing_since_ns = sb_now_ns();
    in_gap(r, 0, 0);
}

/* The last thing before the clock starts. */
static void get_ready(void *arg)
{
    struct repeat *r = arg;

    r->reserve_bytes = r->reserve.held_bytes;
    sb_reserve_release(&r->reserve);
    r->first_touch_ns = sb_first_touch_ns_per_page();
    r->peak_reset = sb_memory_reset_peak();
    r->memory_peak = (struct sb_memory){0};
    sb_usage_sample(&r->usage_before);
    r->doing_since_ns = sb_now_ns();
    sb_counting_mark(SB_COUNTING_BEGIN);
}

static void hold_reserve(struct repeat *r)
{
    uint64_t wanted_bytes = reserve_bytes_min + r->open_args.expected_bytes * RESERVE_FACTOR;

    sb_reserve_hold(&r->reserve,
                    wanted_bytes < reserve_bytes_max ? wanted_bytes : reserve_bytes_max);
}

/* ---- what a scenario measured ------------------------------------------------------------- */

static void put_usage(json_t *object, const struct sb_usage *used)
{
    sb_json_u64(object, "cpu_user_ns", used->cpu_user_ns);
    sb_json_u64(object, "cpu_system_ns", used->cpu_system_ns);
    sb_json_u64(object, "minor_faults", used->minor_faults);
    sb_json_u64(object, "major_faults", used->major_faults);
    sb_json_u64(object, "voluntary_switches", used->voluntary_switches);
    sb_json_u64(object, "involuntary_switches", used->involuntary_switches);
    if (!used->io_readable)
        return;
    sb_json_u64(object, "read_bytes", used->read_bytes);
    sb_json_u64(object, "write_bytes", used->write_bytes);
    sb_json_u64(object, "cancelled_write_bytes", used->cancelled_write_bytes);
    sb_json_u64(object, "read_call_bytes", used->read_call_bytes);
    sb_json_u64(object, "write_call_bytes", used->write_call_bytes);
    sb_json_u64(object, "read_calls", used->read_calls);
    sb_json_u64(object, "write_calls", used->write_calls);
}

static void put_memory(json_t *object, const struct sb_memory *peak, bool was_reset)
{
    sb_json_u64(object, "peak_rss_bytes", peak->peak_rss_bytes);
    sb_json_u64(object, "peak_anon_bytes", peak->rss_anon_bytes);
    sb_json_u64(object, "peak_file_bytes", peak->rss_file_bytes);
    sb_json_u64(object, "peak_shmem_bytes", peak->rss_shmem_bytes);
    sb_json_bool(object, "peak_was_reset", was_reset);
}

static void put_files(json_t *object, const char *dir)
{
    struct sb_disk_use use;

    if (sb_disk_use(dir, &use))
        return;
    sb_json_u64(object, "apparent_bytes", use.apparent_bytes);
    sb_json_u64(object, "allocated_bytes", use.allocated_bytes + use.directory_allocated_bytes);
    sb_json_u64(object, "count", use.file_count);
}

static void put_warnings(json_t *repeat, const struct repeat *r,
                         const struct sb_phase_result *result)
{
    const struct sb_stopwatch *watch = &result->watch;
    json_t *warnings = sb_json_take(repeat, "warnings", json_array());

    if ((double)watch->gap_other_cpu_ns > gap_cpu_remarkable * (double)watch->cpu_ns)
        sb_json_append_text(warnings, "background-in-gaps");
    if (r->first_touch_ns > first_touch_remarkable_ns)
        sb_json_append_text(warnings, "cold-memory");
    if (watch->elapsed_ns < short_phase_ns)
        sb_json_append_text(warnings, "short-phase");
    if (result->cut)
        sb_json_append_text(warnings, "cut-by-limit");
}

static json_t *describe_phase(struct repeat *r, const struct sb_phase_result *result)
{
    const struct sb_stopwatch *watch = &result->watch;
    json_t *repeat = json_object();
    struct sb_memory now = sample_memory(r);
    struct sb_usage used;

    sb_usage_sample(&used);
    sb_usage_diff(&r->usage_before, &used, &used);
    sb_memory_keep_max(&r->memory_peak, &now);
    sb_json_u64(repeat, "ops", result->ops);
    sb_json_u64(repeat, "commits", result->commits);
    sb_json_u64(repeat, "elapsed_ns", watch->elapsed_ns);
    sb_json_u64(repeat, "unclocked_ns", result->unclocked_ns);
    sb_json_u64(repeat, "clocked_cpu_ns", watch->cpu_ns);
    sb_json_u64(repeat, "gap_cpu_ns", watch->gap_cpu_ns);
    sb_json_u64(repeat, "gap_background_cpu_ns", watch->gap_other_cpu_ns);
    sb_json_u64(repeat, "warmup_ops", result->warmup_ops);
    sb_json_u64(repeat, "warmup_ns", result->warmup_ns);
    sb_json_bool(repeat, "cut", result->cut);
    sb_json_u64(repeat, "values_missing", result->missing);
    sb_json_u64(repeat, "values_wrong", result->wrong);
    sb_json_real(repeat, "first_touch_ns_per_page", r->first_touch_ns);
    sb_json_u64(repeat, "reserve_bytes", r->reserve_bytes);
    put_usage(sb_json_take(repeat, "usage", json_object()), &used);
    put_memory(sb_json_take(repeat, "memory", json_object()), &r->memory_peak, r->peak_reset);
    sb_describe_intervals(repeat, &r->recorder);
    if (r->job.params.latency)
        sb_describe_latency(repeat, &r->recorder);
    put_warnings(repeat, r, result);
    return repeat;
}

/* ---- steps -------------------------------------------------------------------------------- */

static uint64_t step(struct repeat *r, const char *key, uint64_t begin_ns)
{
    uint64_t now_ns = sb_now_ns();

    sb_json_u64(r->steps, key, now_ns - begin_ns);
    return now_ns;
}

static int load_driver(struct repeat *r)
{
    int rc;

    sb_registry_load_module(&r->registry, r->job.module_path);
    rc = sb_spec_parse(&r->spec, &r->registry, r->job.label);
    if (rc && r->registry.rejection_count)
        return sb_error_set(SB_ERR_FAILED, 0, "%s: %s", r->registry.rejections[0].module_path,
                            r->registry.rejections[0].reason);
    return rc;
}

static void send_facts(struct repeat *r)
{
    const struct sb_report *report = &r->handle.report;
    json_t *facts = json_object();
    json_t *settings = sb_json_take(facts, "effective_options", json_object());
    json_t *notes = sb_json_take(facts, "notes", json_array());

    sb_json_text(facts, "library_version", r->handle.driver->version());
    sb_json_text(facts, "durability_kept", sb_level_name(report->level_kept));
    sb_json_bool(facts, "atomic", (r->handle.caps & SB_CAP_TXN) != 0);
    sb_json_bool(facts, "ordered", (r->handle.caps & SB_CAP_ORDERED) != 0);
    for (size_t i = 0; i < report->setting_count; i++) {
        const struct sb_setting *s = &report->settings[i];
        json_t *setting = sb_json_take(settings, s->name, json_object());

        sb_json_text(setting, "value", s->value);
        sb_json_text(setting, "origin", s->origin == SB_READ_BACK ? "read-back" : "requested");
    }
    for (size_t i = 0; i < report->note_count; i++)
        sb_json_append_text(notes, report->notes[i]);
    send_event(facts, "facts");
}

static int open_store(struct repeat *r)
{
    uint64_t begin_ns;
    int rc;

    if (mkdir(r->job.dir, 0755))
        return sb_error_errno(errno, "cannot make %s", r->job.dir);
    sb_job_open_args(&r->job, &r->spec, &r->own, &r->open_args);
    begin_ns = sb_now_ns();
    rc = sb_store_open(&r->handle, r->spec.entry->driver, &r->open_args);
    (void)step(r, "open_ns", begin_ns);
    return rc;
}

static int settle(struct repeat *r, struct sb_settled *settled)
{
    start_doing(r, "settle");
    return sb_settle(&r->handle, r->job.dir, r->job.params.phase_limit_ns, settled);
}

/* Fills the store when no scenario of the chain does. */
static int load(struct repeat *r)
{
    struct sb_settled settled;
    uint64_t begin_ns;
    int rc;

    if (sb_scenarios[r->job.scenarios[0]].fills)
        return 0;
    hold_reserve(r);
    start_doing(r, "load");
    sb_reserve_release(&r->reserve);
    begin_ns = sb_now_ns();
    rc = sb_phase_load(&r->phase, (enum sb_load_order)r->job.params.load, 0);
    (void)step(r, "load_ns", begin_ns);
    if (!rc)
        rc = settle(r, &settled);
    if (!rc)
        sb_json_u64(r->steps, "load_settle_ns", settled.settle_ns);
    return rc;
}

static void send_scenario(size_t index, json_t *repeat_take)
{
    json_t *event = json_object();

    sb_json_u64(event, "index", index);
    sb_json_take(event, "repeat", repeat_take);
    send_event(event, "scenario");
}

static int measure(struct repeat *r, enum sb_scenario scenario, struct sb_phase_result *result)
{
    const struct sb_reopen reopen = {&r->phase, &r->job, &r->open_args};
    const struct sb_driver *driver = r->handle.driver;

    if (sb_scenarios[scenario].caps & ~r->handle.caps)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s has no means for '%s'", driver->name,
                            sb_scenarios[scenario].name);
    if (scenario == SB_OPEN || scenario == SB_OPEN_KILLED)
        return sb_reopen_run(&reopen, scenario, result);
    return sb_phase_run(&r->phase, scenario, result);
}

/* A scenario that this store cannot do says so and leaves the chain to go on. */
static void send_not_applicable(size_t index)
{
    json_t *repeat = json_object();

    sb_json_text(repeat, "status", "n/a");
    sb_json_text(repeat, "reason", sb_error_last()->text);
    send_scenario(index, repeat);
}

/* After a scenario that wrote: what the store has left to do, and what that writes. */
static int settle_scenario(struct repeat *r, json_t *repeat)
{
    struct sb_usage before, after, used;
    struct sb_settled settled;
    int rc;

    sb_usage_sample(&before);
    rc = settle(r, &settled);
    if (rc)
        return rc;
    sb_usage_sample(&after);
    sb_usage_diff(&before, &after, &used);
    sb_json_u64(repeat, "settle_ns", settled.settle_ns);
    sb_json_bool(repeat, "did_not_settle", settled.did_not_settle);
    if (used.io_readable)
        sb_json_u64(repeat, "settle_write_bytes", used.write_bytes);
    return 0;
}

/* What was made dirty is known from the kernel's own account, as for timed repeats: no call is made
 * for stores to mapped pages. */
static void put_counted(json_t *repeat, const struct sb_phase_result *result)
{
    const json_t *usage = json_object_get(repeat, "usage");
    struct sb_counted counted = {.ops = result->ops,
                                 .commits = result->commits,
                                 .dirtied_known = json_object_get(usage, "write_bytes") != NULL,
                                 .dirtied_bytes = sb_json_get_u64(usage, "write_bytes", 0) +
                                                  sb_json_get_u64(repeat, "settle_write_bytes", 0)};

    if (sb_counting_fetch(&counted.totals))
        sb_describe_counted(sb_json_take(repeat, "counted", json_object()), &counted);
}

static int run_scenario(struct repeat *r, size_t index)
{
    enum sb_scenario scenario = r->job.scenarios[index];
    struct sb_phase_result result;
    json_t *repeat;
    int rc;

    hold_reserve(r);
    start_doing(r, sb_scenarios[scenario].name);
    rc = measure(r, scenario, &result);
    if (rc == SB_ERR_UNSUPPORTED && !sb_scenarios[scenario].starts_chain && r->handle.store) {
        send_not_applicable(index);
        return 0;
    }
    if (rc)
        return rc;
    repeat = describe_phase(r, &result);
    if (sb_scenarios[scenario].writes) {
        rc = settle_scenario(r, repeat);
        if (rc) {
            json_decref(repeat);
            return rc;
        }
    }
    sb_json_u64(repeat, "live_records", sb_dataset_live(&r->data));
    if (r->handle.caps & SB_CAP_PERSISTENT)
        put_files(sb_json_take(repeat, "files", json_object()), r->job.dir);
    if (r->job.counting)
        put_counted(repeat, &result);
    send_scenario(index, repeat);
    return 0;
}

/* Every byte of every record, once more, off the clock. */
static int compare_contents(struct repeat *r, json_t *end)
{
    struct sb_digest found, expected;
    char text[SB_DIGEST_TEXT_BYTES];
    uint64_t begin_ns = sb_now_ns();
    int rc;

    if (r->handle.caps & SB_CAP_DISCARDS)
        return 0;
    start_doing(r, "compare");
    rc = sb_phase_digest(&r->phase, &found);
    if (rc)
        return rc;
    sb_dataset_digest(&r->data, &expected);
    (void)step(r, "compare_ns", begin_ns);
    sb_digest_text(&found, text);
    sb_json_text(end, "digest", text);
    if (found.low == expected.low && found.high == expected.high &&
        found.records == expected.records)
        return 0;
    return sb_error_set(SB_ERR_CORRUPT, 0,
                        "wrong data: the store's contents are not what was put (%llu records of "
                        "%llu)",
                        (unsigned long long)found.records, (unsigned long long)expected.records);
}

static int close_store(struct repeat *r, json_t *end)
{
    bool persistent = r->handle.caps & SB_CAP_PERSISTENT;
    uint64_t begin_ns;
    json_t *counters = sb_json_take(end, "counters", json_object());
    int rc = sb_store_counters(&r->handle);

    for (size_t i = 0; i < r->handle.report.counter_count; i++)
        sb_json_u64(counters, r->handle.report.counters[i].name,
                    r->handle.report.counters[i].value);
    if (rc)
        return rc;
    start_doing(r, "close");
    begin_ns = sb_now_ns();
    rc = sb_store_close(&r->handle);
    (void)step(r, "close_ns", begin_ns);
    if (!rc && persistent)
        put_files(sb_json_take(end, "files_after_close", json_object()), r->job.dir);
    return rc;
}

static int run_chain(struct repeat *r, json_t *end)
{
    struct sb_machine machine;
    struct sb_memory memory;
    int rc = load_driver(r);

    if (!rc)
        rc = sb_store_limits(r->spec.entry->driver, r->job.params.key_bytes,
                             r->job.params.value_bytes);
    if (rc)
        return rc;
    rc = sb_job_open_keys(&r->job, &r->own);
    if (rc)
        return rc;
    sb_dataset_init(&r->data, &r->job.params, r->job.seed, r->own.header ? &r->own : NULL);
    sb_ring_init(&r->ring, &r->data);
    sb_machine_read(&machine);
    sb_recorder_init(&r->recorder, &machine, r->job.params.interval_ns);
    memory = sample_memory(r);
    sb_json_u64(end, "harness_rss_bytes", memory.rss_anon_bytes + memory.rss_file_bytes);
    start_doing(r, "open");
    rc = open_store(r);
    if (rc)
        return rc;
    send_facts(r);
    rc = load(r);
    for (size_t i = 0; i < r->job.scenario_count && !rc; i++)
        rc = run_scenario(r, i);
    if (!rc)
        rc = compare_contents(r, end);
    return rc ? rc : close_store(r, end);
}

static const char *status_word(int rc)
{
    if (!rc)
        return "ok";
    if (rc == SB_ERR_UNSUPPORTED || rc == SB_ERR_LIMIT)
        return "n/a";
    return sb_phase_timed_out() ? "timeout" : "failed";
}

static void send_end(struct repeat *r, json_t *end, int rc)
{
    /* A hook of the measured loop may fail without a word: the text would be an older one's. */
    if (rc && sb_error_last()->code != rc)
        (void)sb_error_set((enum sb_code)rc, 0, "%s: a hook failed with code %d and without a text",
                           r->spec.label, rc);
    sb_json_text(end, "status", status_word(rc));
    if (rc) {
        sb_json_text(end, "code", sb_code_name(rc));
        sb_json_text(end, "reason", sb_error_last()->text);
        sb_json_u64(end, "native_code", (uint64_t)labs(sb_error_last()->native_code));
    }
    sb_json_text(end, "doing", r->doing ? r->doing : "start");
    sb_json_take(end, "steps", json_incref(r->steps));
    send_event(end, "end");
}

int sb_repeat_main(void)
{
    struct repeat *r = calloc(1, sizeof(*r));
    json_t *end = json_object();
    json_error_t error;
    json_t *document;
    int rc;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a repeat without its runner is of no use */
    document = json_loadf(stdin, 0, &error);
    if (!r || !document || sb_job_from_json(&r->job, document)) {
        (void)fprintf(stderr, "storebench: this command is for the program's own use\n");
        json_decref(document);
        json_decref(end);
        free(r);
        return 2;
    }
    sb_counting_on = r->job.counting;
    r->steps = json_object();
    r->phase = (struct sb_phase){.handle = &r->handle,
                                 .data = &r->data,
                                 .params = &r->job.params,
                                 .ring = &r->ring,
                                 .recorder = &r->recorder,
                                 .gap = in_gap,
                                 .gap_arg = r,
                                 .ready = get_ready};
    rc = run_chain(r, end);
    send_end(r, end, rc);
    if (r->handle.store && sb_store_close(&r->handle))
        sb_error_clear(); /* the failure that came first has been told */
    if (sb_workdir_remove_store(r->job.dir))
        (void)fprintf(stderr, "storebench: %s\n", sb_error_last()->text);
    sb_report_release(&r->handle.report);
    sb_ring_release(&r->ring);
    sb_keyfile_close(&r->own);
    sb_recorder_release(&r->recorder);
    sb_spec_release(&r->spec);
    sb_registry_release(&r->registry);
    json_decref(r->steps);
    json_decref(document);
    free(r);
    return 0;
}
