/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table.c -- see table.h. The head of the output, the sorting of cells into groups, and what stands
 * below the tables.
 */
#include "table.h"

#include "jsonx.h"
#include "mem.h"
#include "scenario.h"
#include "table_parts.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A machine whose null driver or flush rate moves by more than this part has not stood still. */
static const double drift_remarkable = 0.25;

/* ---- the head ----------------------------------------------------------------------------- */

/* Rounds of all chains that are finished: the fewest repeats of a cell that could run to the end.
 * Where none could, the most repeats that any cell has. */
static size_t blocks_done(const json_t *cells)
{
    size_t fewest = SIZE_MAX, most = 0, index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        const char *status = sb_json_get_text(cell, "status", "");
        size_t count = json_array_size(json_object_get(cell, "repeats"));

        most = count > most ? count : most;
        if ((strcmp(status, "ok") == 0 || strcmp(status, "not-run") == 0) && count < fewest)
            fewest = count;
    }
    return fewest == SIZE_MAX ? most : fewest;
}

static char *describe_blocks(const json_t *document)
{
    uint64_t planned = sb_json_get_u64(document, "repeats_planned", 0);
    size_t done = blocks_done(json_object_get(document, "cells"));

    /* A cell that two chains share has a repeat of each in every block. */
    if (planned && done > planned)
        done = planned;
    if (planned)
        return sb_format("%zu of %" PRIu64 " block%s", done, planned, planned == 1 ? "" : "s");
    return sb_format("%zu blocks", done);
}

static const char *describe_end(const json_t *document)
{
    const char *ended_by = sb_json_get_text(document, "ended_by", "");

    if (sb_json_get_bool(document, "complete", false))
        return "complete";
    if (strcmp(ended_by, "time-limit") == 0)
        return "NOT COMPLETE: the time limit was reached";
    if (strcmp(ended_by, "signal") == 0)
        return "NOT COMPLETE: it was interrupted";
    return "NOT COMPLETE: it was ended before its time";
}

static char *describe_machine(const json_t *machine)
{
    char memory[SB_FORMAT_BYTES];
    uint64_t cores = sb_json_get_u64(machine, "cores_usable", 0);
    const char *virtualisation = sb_json_get_text(machine, "virtualisation", "");
    bool is_virtual = sb_json_get_bool(machine, "hypervisor", false);

    sb_format_bytes(memory, sizeof(memory), sb_json_get_real(machine, "memory_bytes", 0));
    return sb_format("%s, %" PRIu64 " core%s, %s%s%s", sb_json_get_text(machine, "cpu_model", "?"),
                     cores, cores == 1 ? "" : "s", memory, is_virtual ? ", " : "",
                     is_virtual ? virtualisation : "");
}

static void print_own_data(const struct sb_table *table, const json_t *own)
{
    char records[SB_FORMAT_BYTES];

    if (!own)
        return;
    sb_format_count(records, sizeof(records), sb_json_get_u64(own, "records", 0));
    sb_table_sentence(
        table, "data:    ",
        sb_format("%s %s of %s; left out: %" PRIu64 " duplicates, %" PRIu64 " empty", records,
                  sb_json_get_text(own, "kind", "keys"), sb_json_get_text(own, "file", "?"),
                  sb_json_get_u64(own, "duplicates", 0), sb_json_get_u64(own, "empty", 0)));
}

static void print_head(const struct sb_table *table)
{
    const json_t *d = table->document;
    const json_t *suite = json_object_get(d, "suite");
    char *blocks = describe_blocks(d);
    char *machine = describe_machine(json_object_get(d, "machine"));
    const char *description = sb_json_get_text(suite, "description", "");

    sb_table_sentence(table, "",
                      sb_format("storebench %s | suite %s | %s | %s | seed %" PRIu64 " | %s, %s",
                                sb_json_get_text(json_object_get(d, "storebench"), "version", "?"),
                                sb_json_get_text(suite, "name", "?"), machine,
                                sb_json_get_text(d, "started_at", "?"),
                                sb_json_get_u64(d, "seed", 0), blocks, describe_end(d)));
    if (*description)
        sb_table_sentence(table, "suite:   ", sb_format("%s", description));
    print_own_data(table, json_object_get(d, "own_data"));
    free(machine);
    free(blocks);
}

/* ---- the harness and the machine ---------------------------------------------------------- */

static const char *const moments[] = {"before", "after"};

static const char *const changed = "; CHANGED by over 25 % meanwhile";

static bool moved(const double values[2])
{
    return values[0] > 0 && values[1] > 0 && fabs(values[1] / values[0] - 1) > drift_remarkable;
}

typedef const char *(*format_fn)(char *buffer, size_t size, double value);

/* A figure of both moments: "append 5.80 k/s, then 6.11 k/s". */
static char *describe_pair(const char *what, const double values[2], format_fn format)
{
    char texts[2][SB_FORMAT_BYTES];

    for (size_t m = 0; m < 2; m++) {
        if (values[m] > 0)
            format(texts[m], sizeof(texts[m]), values[m]);
        else
            (void)snprintf(texts[m], sizeof(texts[m]), "not measured");
    }
    if (strcmp(texts[0], texts[1]) == 0)
        return sb_format("%s %s", what, texts[0]);
    return sb_format("%s %s, then %s", what, texts[0], texts[1]);
}

static void print_harness(const struct sb_table *table)
{
    static const struct {
        const char *key, *what;
    } costs[] = {{"write_rand_ns_per_op", "a put"},
                 {"read_seq_ns_per_op", "a step of a scan"},
                 {"read_rand_ns_per_op", "a read"}};
    enum { COSTS = sizeof(costs) / sizeof(costs[0]) };
    const json_t *harness = json_object_get(table->document, "harness");
    char *texts[COSTS];
    bool any_moved = false;

    for (size_t i = 0; i < COSTS; i++) {
        double ns[2];

        for (size_t m = 0; m < 2; m++)
            ns[m] = sb_json_get_real(json_object_get(harness, moments[m]), costs[i].key, 0);
        any_moved = any_moved || moved(ns);
        texts[i] = describe_pair(costs[i].what, ns, sb_format_duration);
    }
    sb_table_sentence(table, "harness: ",
                      sb_format("%s; %s; %s%s (its own cost: driver '%s', which keeps nothing and "
                                "never counts as the best)",
                                texts[0], texts[1], texts[2], any_moved ? changed : "",
                                table->harness_driver));
    for (size_t i = 0; i < COSTS; i++)
        free(texts[i]);
}

static char *describe_flush(const json_t *ceilings, const char *way, bool *movedp)
{
    double rates[2];

    for (size_t m = 0; m < 2; m++) {
        const json_t *moment = json_object_get(ceilings, moments[m]);

        rates[m] = sb_json_get_real(json_object_get(moment, way), "flushes_per_s", 0);
    }
    *movedp = *movedp || moved(rates);
    return describe_pair(way, rates, sb_format_rate);
}

static void print_flushes(const struct sb_table *table)
{
    const json_t *directories = json_object_get(table->document, "directories");
    size_t index;
    json_t *directory;

    json_array_foreach((json_t *)(uintptr_t)directories, index, directory)
    {
        const json_t *ceilings = json_object_get(directory, "flush_ceilings");
        bool any_moved = false;
        char *append = describe_flush(ceilings, "append", &any_moved);
        char *overwrite = describe_flush(ceilings, "overwrite", &any_moved);
        char *mapped = describe_flush(ceilings, "mapped", &any_moved);

        sb_table_sentence(table, "flushes: ",
                          sb_format("%s; %s; %s%s (in %s: %s on %s, write cache: %s)", append,
                                    overwrite, mapped, any_moved ? changed : "",
                                    sb_json_get_text(directory, "path", "?"),
                                    sb_json_get_text(directory, "filesystem", "?"),
                                    sb_json_get_text(directory, "device", "?"),
                                    sb_json_get_text(directory, "write_cache", "?")));
        free(append);
        free(overwrite);
        free(mapped);
    }
}

/* ---- groups ------------------------------------------------------------------------------- */

static bool counts_commits(const json_t *cell)
{
    enum sb_scenario scenario = sb_scenario_find(sb_json_get_text(cell, "scenario", ""));

    return scenario != SB_SCENARIO_COUNT && sb_scenarios[scenario].counts_commits;
}

/* Two cells with different keys never stand in one table. All parameters are part of it, also those
 * of which this program knows nothing. */
static char *group_key(const json_t *cell)
{
    json_t *parameters = json_copy(json_object_get(cell, "parameters"));
    char *text, *key;

    if (counts_commits(cell) && parameters) {
        (void)json_object_del(parameters, "batch");
        (void)json_object_del(parameters, "commits");
    }
    text = json_dumps(parameters, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
    key = sb_format("%d %d %s %s %s", counts_commits(cell),
                    sb_json_get_bool(cell, "persistent", false),
                    sb_json_get_text(cell, "durability_requested", ""),
                    sb_json_get_text(cell, "directory", ""), text ? text : "");
    free(text);
    json_decref(parameters);
    return key;
}

static struct sb_table_group *find_group(struct sb_table_group **groupsp, size_t *countp,
                                         const json_t *cell)
{
    char *key = group_key(cell);

    for (size_t i = 0; i < *countp; i++)
        if (strcmp((*groupsp)[i].key, key) == 0) {
            free(key);
            return &(*groupsp)[i];
        }
    *groupsp = sb_grow(*groupsp, *countp + 1, sizeof(**groupsp));
    (*groupsp)[*countp] = (struct sb_table_group){.key = key, .commits = counts_commits(cell)};
    return &(*groupsp)[(*countp)++];
}

/* Groups in the order of their first cells. */
static size_t make_groups(struct sb_table_group **groupsp, const json_t *cells)
{
    size_t count = 0, index;
    json_t *cell;

    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        struct sb_table_group *group = find_group(groupsp, &count, cell);

        group->cells = sb_grow(group->cells, group->cell_count + 1, sizeof(*group->cells));
        group->cells[group->cell_count++] = cell;
    }
    return count;
}

static void print_group(struct sb_table *table, const struct sb_table_group *groups, size_t count,
                        size_t index)
{
    struct sb_table_rows rows = {0};

    sb_table_rows_init(&rows, &groups[index]);
    sb_table_print_title(table, groups, count, index);
    sb_table_print_sheet(table, &groups[index], &rows);
    if (!groups[index].commits)
        sb_table_print_space(table, &groups[index], &rows);
    sb_table_print_counted(table, &groups[index], &rows);
    sb_table_rows_release(&rows);
}

/* First what fills and reads, then commits; the levels in their order, unknown ones last; else in
 * the order of the document. */
static void print_groups(struct sb_table *table)
{
    static const char *const levels[] = {"none", "process", "power", NULL};
    enum { LEVELS = sizeof(levels) / sizeof(levels[0]) };
    struct sb_table_group *groups = NULL;
    size_t count = make_groups(&groups, json_object_get(table->document, "cells"));
    bool *printed = sb_alloc(count + 1, sizeof(*printed));

    for (size_t turn = 0; turn < 2 * LEVELS; turn++)
        for (size_t i = 0; i < count; i++) {
            const char *level = sb_json_get_text(groups[i].cells[0], "durability_requested", "");
            const char *wanted = levels[turn % LEVELS];

            if (printed[i] || groups[i].commits != (turn >= LEVELS) ||
                (wanted && strcmp(level, wanted) != 0))
                continue;
            print_group(table, groups, count, i);
            printed[i] = true;
        }
    for (size_t i = 0; i < count; i++) {
        free(groups[i].key);
        free(groups[i].cells);
    }
    free(groups);
    free(printed);
}

/* ---- below the tables --------------------------------------------------------------------- */

static void print_reading_help(const struct sb_table *table)
{
    const char *mark = table->style.bold ? "bold" : "*";

    if (table->best_was_marked || table->settled_was_shown || table->share_was_shown ||
        table->counted_was_shown || table->spreads.count)
        (void)fputc('\n', table->stream);
    if (table->best_was_marked)
        sb_table_sentence(table, "",
                          sb_format("%s: the best median of its column; where intervals overlap, "
                                    "the order is not settled.",
                                    mark));
    for (size_t i = 0; i < table->spreads.count; i++)
        sb_table_sentence(table, "", sb_format("%s", table->spreads.entries[i].text));
    if (table->settled_was_shown)
        sb_table_sentence(table, "",
                          sb_format("settled: the rate with the time until background work was "
                                    "done and no dirty page was left."));
    if (table->share_was_shown)
        sb_table_sentence(table, "",
                          sb_format("of flushes/s: commits as a share of the best flush rate that "
                                    "the directory showed."));
    if (table->counted_was_shown)
        sb_table_sentence(table, "",
                          sb_format("flushes/commit: calls that wait for the device; calls/op: "
                                    "system calls; ampl.: bytes of pages made dirty, bytes read "
                                    "from the device and bytes of files, for each byte of keys and "
                                    "values, from the timed repeats; no such column: all zero."));
}

static void collect_notes(const json_t *document, struct sb_remarks *notes,
                          struct sb_remarks *rules)
{
    size_t index, note_index;
    json_t *cell, *note;

    json_array_foreach((json_t *)(uintptr_t)json_object_get(document, "cells"), index, cell)
    {
        char *label = sb_text_clean(sb_json_get_text(cell, "label", "?"), SB_TABLE_NAME_WIDTH);
        const char *rule = sb_json_get_text(cell, "rule", "");

        if (*rule)
            (void)sb_remarks_add(rules, rule, label);
        json_array_foreach(json_object_get(cell, "notes"), note_index, note)
        {
            if (json_is_string(note))
                (void)sb_remarks_add(notes, json_string_value(note), label);
        }
        free(label);
    }
}

static void print_remarks(const struct sb_table *table, const char *title,
                          const struct sb_remarks *remarks)
{
    if (!remarks->count)
        return;
    (void)fprintf(table->stream, "\n%s\n", title);
    for (size_t i = 0; i < remarks->count; i++)
        sb_table_sentence(table, "  ",
                          sb_format("%s: %s", remarks->entries[i].names, remarks->entries[i].text));
}

static void print_notes(const struct sb_table *table)
{
    struct sb_remarks notes = {0}, rules = {0};

    collect_notes(table->document, &notes, &rules);
    print_remarks(table, "Other parameters, by a rule of the suite:", &rules);
    print_remarks(table, "Notes of the drivers:", &notes);
    sb_remarks_release(&notes);
    sb_remarks_release(&rules);
}

void sb_table_print_styled(FILE *stream, const struct sb_text_style *style, const json_t *document)
{
    const json_t *harness = json_object_get(document, "harness");
    struct sb_table table = {
        .stream = stream,
        .style = *style,
        .document = document,
        .harness_driver = sb_json_get_text(json_object_get(harness, "before"), "driver", "")};

    print_head(&table);
    print_harness(&table);
    print_flushes(&table);
    print_groups(&table);
    print_reading_help(&table);
    print_notes(&table);
    sb_remarks_release(&table.spreads);
}

void sb_table_print(FILE *stream, const json_t *document)
{
    struct sb_text_style style;

    sb_text_style_init(&style, stream);
    sb_table_print_styled(stream, &style, document);
}
