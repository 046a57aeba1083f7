/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_sheet.c -- the tables of one group of comparable cells: throughput or commits with a row
 * for each driver, what the signs in it mean, and the space that the stores took.
 */
#include "table_parts.h"

#include "jsonx.h"
#include "mem.h"
#include "scenario.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAD_COLUMNS = 2,        /* driver, keeps */
    GRID_CELLS_MAX = 500000, /* a document that asks for more is not one of ours */
    LETTERS = 26,
};

/* A part of the coverage is missing when the interval is but the range of a few repeats. */
static const double usual_coverage = 0.95;

struct place {
    const json_t *cell;
    size_t row, column;
};

struct column {
    char *key;          /* what tells it from others; owned */
    const json_t *cell; /* its first */
};

enum figure_kind {
    FIGURE_RATE, /* what the scenario counts, with spread, footnotes and status */
    FIGURE_SETTLED,
    FIGURE_PUTS,
    FIGURE_SHARE
};

static const char *const settled_key = "settled_ops_per_s";
static const char *const share_key = "share_of_flush_ceiling";

/* A column of the grid: one figure of the cells of a column of the sheet. */
struct figure {
    enum figure_kind kind;
    size_t column;
    const char *key; /* in the summary */
    const json_t *best;
};

struct sheet {
    struct sb_table *table;
    const struct sb_table_group *group;
    const char **labels; /* sorted; borrowed from the document */
    size_t label_count;
    struct column *columns;
    size_t column_count;
    struct place *places;
    size_t place_count;
    struct figure *figures;
    size_t figure_count;
    struct sb_remarks warnings; /* their letters are their indices */
    struct sb_remarks reasons;  /* "status\nreason" */
};

/* ---- short forms -------------------------------------------------------------------------- */

static char *clean_name(const char *text)
{
    return sb_text_clean(text, SB_TABLE_NAME_WIDTH);
}

/* Prints a sentence of which parts come from the document, and releases it. */
static void print_sentence(const struct sheet *sheet, const char *lead, char *text_take)
{
    char *clean = sb_text_clean(text_take, SB_TABLE_TEXT_WIDTH);

    sb_text_print(sheet->table->stream, &sheet->table->style, lead, clean);
    free(clean);
    free(text_take);
}

static const char *scenario_of(const json_t *cell)
{
    return sb_json_get_text(cell, "scenario", "?");
}

static const json_t *parameters_of(const json_t *cell)
{
    return json_object_get(cell, "parameters");
}

static bool is_ok(const json_t *cell)
{
    return strcmp(sb_json_get_text(cell, "status", ""), "ok") == 0;
}

/* The name of scenario number `index` before this one in its chain; NULL when there is none. */
static const char *name_before(const json_t *cell, size_t index)
{
    return json_string_value(json_array_get(json_object_get(cell, "after"), index));
}

static bool fills(const json_t *cell)
{
    enum sb_scenario scenario = sb_scenario_find(scenario_of(cell));

    return scenario != SB_SCENARIO_COUNT && sb_scenarios[scenario].fills;
}

static bool is_unordered_scan(const json_t *cell)
{
    return sb_scenario_find(scenario_of(cell)) == SB_READ_SEQ && is_ok(cell) &&
           !sb_json_get_bool(cell, "ordered", true);
}

/* NaN when the cell has no such figure. */
static double summary_member(const json_t *cell, const char *key, const char *member)
{
    const json_t *summary = json_object_get(cell, "summary");

    return sb_json_get_real(json_object_get(summary, key), member, NAN);
}

static double figure_value(const json_t *cell, const struct figure *figure)
{
    if (!is_ok(cell))
        return NAN;
    if (figure->kind == FIGURE_SHARE)
        return sb_json_get_real(json_object_get(cell, "summary"), figure->key, NAN);
    return summary_member(cell, figure->key, "median");
}

/* ---- the title ---------------------------------------------------------------------------- */

static const char *const main_parameters[] = {
    "durability_requested", "records", "key_bytes", "value_bytes", "batch",
    "cache_bytes",          "profile", "read",      "read_txn"};

static bool is_main_parameter(const char *key)
{
    for (size_t i = 0; i < sizeof(main_parameters) / sizeof(main_parameters[0]); i++)
        if (strcmp(main_parameters[i], key) == 0)
            return true;
    return false;
}

static bool ends_in(const char *text, size_t bytes, const char *end)
{
    return bytes > strlen(end) && strcmp(text + bytes - strlen(end), end) == 0;
}

/* "phase_limit_ns": 2000000000 as "phase_limit 2.0 s": the key says the unit. */
static char *describe_parameter(const char *key, const json_t *value)
{
    char number[SB_FORMAT_BYTES];
    size_t bytes = strlen(key);

    if (json_is_string(value))
        return sb_format("%s %s", key, json_string_value(value));
    if (!json_is_number(value))
        return sb_format("%s ?", key);
    if (ends_in(key, bytes, "_bytes"))
        return sb_format("%.*s %s", (int)(bytes - strlen("_bytes")), key,
                         sb_format_bytes(number, sizeof(number), json_number_value(value)));
    if (ends_in(key, bytes, "_ns"))
        return sb_format("%.*s %s", (int)(bytes - strlen("_ns")), key,
                         sb_format_duration(number, sizeof(number), json_number_value(value)));
    return sb_format("%s %s", key,
                     sb_format_count(number, sizeof(number), (uint64_t)json_integer_value(value)));
}

static char *joined_take(char *text_take, char *more_take)
{
    char *joined =
        *text_take ? sb_format("%s, %s", text_take, more_take) : sb_format("%s", more_take);

    free(text_take);
    free(more_take);
    return joined;
}

/* Whether another group of the same kind has another value: then it is worth a word. */
static bool differs_elsewhere(const struct sb_table_group *groups, size_t count,
                              const struct sb_table_group *group, const char *key)
{
    const json_t *value = json_object_get(parameters_of(group->cells[0]), key);

    for (size_t i = 0; i < count; i++) {
        const json_t *other = json_object_get(parameters_of(groups[i].cells[0]), key);

        if (groups[i].commits == group->commits &&
            !json_equal((json_t *)(uintptr_t)value, (json_t *)(uintptr_t)other))
            return true;
    }
    return false;
}

static char *describe_settings(const struct sb_table_group *groups, size_t count,
                               const struct sb_table_group *group)
{
    static const char *const shown[] = {"batch", "cache_bytes", "profile", "read", "read_txn"};
    json_t *parameters = json_object_get(group->cells[0], "parameters");
    char *text = sb_format("%s", "");
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        value = json_object_get(parameters, shown[i]);
        if (group->commits && (strcmp(shown[i], "batch") == 0 || strncmp(shown[i], "read", 4) == 0))
            continue;
        if (value)
            text = joined_take(text, describe_parameter(shown[i], value));
    }
    json_object_foreach(parameters, key, value)
    {
        if (is_main_parameter(key) || strcmp(key, "commits") == 0 ||
            !differs_elsewhere(groups, count, group, key))
            continue;
        text = joined_take(text, describe_parameter(key, value));
    }
    return joined_take(text, sb_format("in %s", sb_json_get_text(group->cells[0], "directory",
                                                                 "an unknown directory")));
}

static void print_title(const struct sheet *sheet, const struct sb_table_group *groups,
                        size_t group_count)
{
    const json_t *cell = sheet->group->cells[0];
    const json_t *parameters = parameters_of(cell);
    char records[SB_FORMAT_BYTES], key[SB_FORMAT_BYTES], value[SB_FORMAT_BYTES];

    sb_format_count(records, sizeof(records), sb_json_get_u64(parameters, "records", 0));
    sb_format_bytes(key, sizeof(key), sb_json_get_real(parameters, "key_bytes", NAN));
    sb_format_bytes(value, sizeof(value), sb_json_get_real(parameters, "value_bytes", NAN));
    (void)fputc('\n', sheet->table->stream);
    print_sentence(
        sheet, "== ",
        sb_format("%s, durability %s, %s records, keys of %s, values of %s, %s",
                  sheet->group->commits ? "Commits" : "Throughput",
                  sb_json_get_text(cell, "durability_requested", "?"), records, key, value,
                  sb_json_get_bool(cell, "persistent", false) ? "persistent" : "in memory"));
    print_sentence(sheet, "   ", describe_settings(groups, group_count, sheet->group));
}

/* ---- rows and columns --------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void collect_labels(struct sheet *sheet)
{
    size_t count = sheet->group->cell_count;

    sheet->labels = sb_alloc(count, sizeof(*sheet->labels));
    for (size_t i = 0; i < count; i++)
        sheet->labels[i] = sb_json_get_text(sheet->group->cells[i], "label", "?");
    qsort(sheet->labels, count, sizeof(*sheet->labels), by_text);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(sheet->labels[i], sheet->labels[sheet->label_count - 1]) != 0)
            sheet->labels[sheet->label_count++] = sheet->labels[i];
}

static size_t row_of(const struct sheet *sheet, const json_t *cell)
{
    const char *label = sb_json_get_text(cell, "label", "?");
    const char **found = bsearch(&label, sheet->labels, sheet->label_count, sizeof(label), by_text);

    return (size_t)(found - sheet->labels);
}

static char *names_before(const json_t *cell)
{
    char *names = sb_format("%s", "");

    for (size_t i = 0; i < json_array_size(json_object_get(cell, "after")); i++) {
        const char *name = name_before(cell, i);

        names = joined_take(names, sb_format("%s", name ? name : "?"));
    }
    return names;
}

static char *column_key(const struct sheet *sheet, const json_t *cell)
{
    const json_t *parameters = parameters_of(cell);
    char *before, *key;

    if (sheet->group->commits)
        return sb_format("%s %" PRIu64 " %" PRIu64, scenario_of(cell),
                         sb_json_get_u64(parameters, "batch", 0),
                         sb_json_get_u64(parameters, "commits", 0));
    before = names_before(cell);
    key = sb_format("%s after %s", scenario_of(cell), before);
    free(before);
    return key;
}

static size_t column_of(struct sheet *sheet, const json_t *cell)
{
    char *key = column_key(sheet, cell);

    for (size_t i = 0; i < sheet->column_count; i++)
        if (strcmp(sheet->columns[i].key, key) == 0) {
            free(key);
            return i;
        }
    sheet->columns = sb_grow(sheet->columns, sheet->column_count + 1, sizeof(*sheet->columns));
    sheet->columns[sheet->column_count] = (struct column){.key = key, .cell = cell};
    return sheet->column_count++;
}

static void collect_places(struct sheet *sheet)
{
    sheet->places = sb_alloc(sheet->group->cell_count, sizeof(*sheet->places));
    for (size_t i = 0; i < sheet->group->cell_count; i++) {
        const json_t *cell = sheet->group->cells[i];

        sheet->places[sheet->place_count++] = (struct place){
            .cell = cell, .row = row_of(sheet, cell), .column = column_of(sheet, cell)};
    }
}

/* ---- figures ------------------------------------------------------------------------------ */

static bool may_be_best(const struct sheet *sheet, const json_t *cell)
{
    return strcmp(sb_json_get_text(cell, "driver", ""), sheet->table->harness_driver) != 0;
}

/* The best of the column; an unordered scan, which is another task, only among its like. NULL when
 * there is nothing to be better than. */
static const json_t *find_best(const struct sheet *sheet, const struct figure *figure)
{
    const json_t *best = NULL;
    size_t rivals = 0;

    for (int unordered = 0; unordered < 2 && !best; unordered++)
        for (size_t i = 0; i < sheet->place_count; i++) {
            const json_t *cell = sheet->places[i].cell;
            double value = figure_value(cell, figure);

            if (sheet->places[i].column != figure->column || !isfinite(value) ||
                !may_be_best(sheet, cell) || is_unordered_scan(cell) != (unordered == 1))
                continue;
            rivals++;
            if (!best || value > figure_value(best, figure))
                best = cell;
        }
    return rivals > 1 ? best : NULL;
}

static void add_figure(struct sheet *sheet, size_t column, enum figure_kind kind, const char *key)
{
    struct figure figure = {.kind = kind, .column = column, .key = key};

    if (kind == FIGURE_RATE || kind == FIGURE_SETTLED)
        figure.best = find_best(sheet, &figure);
    sheet->table->best_was_marked = sheet->table->best_was_marked || figure.best;
    sheet->figures = sb_grow(sheet->figures, sheet->figure_count + 1, sizeof(*sheet->figures));
    sheet->figures[sheet->figure_count++] = figure;
}

static bool column_has(const struct sheet *sheet, size_t column, enum figure_kind kind,
                       const char *key)
{
    const struct figure figure = {.kind = kind, .key = key};

    for (size_t i = 0; i < sheet->place_count; i++)
        if (sheet->places[i].column == column &&
            isfinite(figure_value(sheet->places[i].cell, &figure)))
            return true;
    return false;
}

static void collect_figures(struct sheet *sheet)
{
    bool commits = sheet->group->commits;

    for (size_t i = 0; i < sheet->column_count; i++) {
        add_figure(sheet, i, FIGURE_RATE, commits ? "commits_per_s" : "ops_per_s");
        /* With one put in each commit both rates are the same. */
        if (commits && sb_json_get_u64(parameters_of(sheet->columns[i].cell), "batch", 0) != 1 &&
            column_has(sheet, i, FIGURE_PUTS, "ops_per_s"))
            add_figure(sheet, i, FIGURE_PUTS, "ops_per_s");
        if (!commits && column_has(sheet, i, FIGURE_SETTLED, settled_key))
            add_figure(sheet, i, FIGURE_SETTLED, settled_key);
        if (commits && column_has(sheet, i, FIGURE_SHARE, share_key))
            add_figure(sheet, i, FIGURE_SHARE, share_key);
    }
}

/* ---- heads -------------------------------------------------------------------------------- */

/* Whether the head of the column would be that of another one without further words. */
static bool is_ambiguous(const struct sheet *sheet, size_t index)
{
    const json_t *cell = sheet->columns[index].cell;
    const char *first = name_before(cell, 0);

    for (size_t i = 0; i < sheet->column_count; i++) {
        const json_t *other = sheet->columns[i].cell;
        const char *other_first = name_before(other, 0);

        if (i == index)
            continue;
        if (sheet->group->commits && sb_json_get_u64(parameters_of(cell), "batch", 0) ==
                                         sb_json_get_u64(parameters_of(other), "batch", 0))
            return true;
        if (!sheet->group->commits && strcmp(scenario_of(cell), scenario_of(other)) == 0 &&
            strcmp(first ? first : "", other_first ? other_first : "") == 0)
            return true;
    }
    return false;
}

static char *after_head(const struct sheet *sheet, size_t index)
{
    const json_t *cell = sheet->columns[index].cell;
    const char *first = name_before(cell, 0);
    char *names, *head;

    if (fills(cell))
        return sb_format("%s", "");
    if (!first)
        return sb_format("after a %s load",
                         sb_json_get_text(parameters_of(cell), "load", "hidden"));
    if (!is_ambiguous(sheet, index))
        return sb_format("after %s", first);
    names = names_before(cell);
    head = sb_format("after %s", names);
    free(names);
    return head;
}

static char *batch_head(const struct sheet *sheet, size_t index)
{
    const json_t *parameters = parameters_of(sheet->columns[index].cell);
    char batch[SB_FORMAT_BYTES], commits[SB_FORMAT_BYTES];

    sb_format_count(batch, sizeof(batch), sb_json_get_u64(parameters, "batch", 0));
    sb_format_count(commits, sizeof(commits), sb_json_get_u64(parameters, "commits", 0));
    if (is_ambiguous(sheet, index))
        return sb_format("batch %s, %s commits", batch, commits);
    return sb_format("batch %s", batch);
}

static void put_head(struct sb_grid *grid, size_t column, size_t line, char *text_take)
{
    sb_grid_head(grid, column, line, clean_name(text_take));
    free(text_take);
}

static void put_heads(const struct sheet *sheet, struct sb_grid *grid, size_t index)
{
    const struct figure *figure = &sheet->figures[index];
    size_t column = LEAD_COLUMNS + index;

    grid->columns[column].joined = figure->kind != FIGURE_RATE;
    switch (figure->kind) {
    case FIGURE_RATE:
        put_head(grid, column, 0,
                 sheet->group->commits
                     ? batch_head(sheet, figure->column)
                     : sb_format("%s", scenario_of(sheet->columns[figure->column].cell)));
        put_head(grid, column, 1,
                 sheet->group->commits ? sb_format("commits") : after_head(sheet, figure->column));
        break;
    case FIGURE_SETTLED:
        put_head(grid, column, 1, sb_format("settled"));
        break;
    case FIGURE_PUTS:
        put_head(grid, column, 1, sb_format("puts"));
        break;
    case FIGURE_SHARE:
        put_head(grid, column, 1, sb_format("of flushes"));
        break;
    }
}

/* ---- cells -------------------------------------------------------------------------------- */

static void note_spread(struct sb_table *table, uint64_t count, double coverage)
{
    char *text;

    if (count < 2)
        text = sb_format("no ±: one repeat says nothing about the spread.");
    else if (coverage < usual_coverage)
        text =
            sb_format("±: half the range of %" PRIu64 " repeats, as a part of the median; the "
                      "range of so few holds the true median with a probability of only %.3g %%.",
                      count, coverage * 100);
    else
        text = sb_format("±: half the width of the interval that holds the true median with a "
                         "probability of %.3g %%, from %" PRIu64 " repeats.",
                         coverage * 100, count);
    (void)sb_remarks_add(&table->spreads, text, "");
    free(text);
}

static void put_spread(struct sb_table *table, struct sb_grid_cell *at, const json_t *summary)
{
    double median = sb_json_get_real(summary, "median", NAN);
    double low = sb_json_get_real(summary, "low", NAN);
    double high = sb_json_get_real(summary, "high", NAN);
    uint64_t count = sb_json_get_u64(summary, "count", 0);
    double percent = (high - low) / 2 / median * 100;

    if (count && isfinite(percent) && count < 2)
        note_spread(table, count, 0);
    if (count < 2 || !isfinite(percent) || percent < 0 || percent >= 1e6)
        return;
    note_spread(table, count, sb_json_get_real(summary, "coverage", 0));
    sb_grid_put(at, SB_GRID_SPREAD, sb_format(percent < 0.95 ? "±%.1f%%" : "±%.0f%%", percent));
}

struct letters {
    bool used[LETTERS];
    bool more; /* the alphabet was not enough */
};

static void add_letter(struct sheet *sheet, struct letters *letters, const char *warning)
{
    size_t index = sb_remarks_add(&sheet->warnings, warning, "");

    if (index < LETTERS)
        letters->used[index] = true;
    else
        letters->more = true;
}

static void add_letters(struct sheet *sheet, struct letters *letters, const json_t *warnings)
{
    size_t index;
    json_t *warning;

    json_array_foreach((json_t *)(uintptr_t)warnings, index, warning)
    {
        if (json_is_string(warning))
            add_letter(sheet, letters, json_string_value(warning));
    }
}

static void put_letters(struct sb_grid_cell *at, const struct letters *letters, const char *word)
{
    char text[2 * LETTERS + 2];
    size_t used = 0;

    for (size_t i = 0; i < LETTERS; i++) {
        if (!letters->used[i])
            continue;
        if (used)
            text[used++] = ',';
        text[used++] = (char)('a' + i);
    }
    if (letters->more)
        text[used++] = '?';
    text[used] = '\0';
    if (used || *word)
        sb_grid_put(at, SB_GRID_FLAGS, sb_format("%s%s%s", word, used && *word ? " " : "", text));
}

static void put_rate_flags(struct sheet *sheet, struct sb_grid_cell *at, const json_t *cell)
{
    struct letters letters = {{false}, false};
    size_t index;
    json_t *repeat;

    json_array_foreach(json_object_get(cell, "repeats"), index, repeat)
    {
        add_letters(sheet, &letters, json_object_get(repeat, "warnings"));
    }
    add_letters(sheet, &letters, json_object_get(cell, "warnings"));
    put_letters(at, &letters, is_unordered_scan(cell) ? "unordered" : "");
}

static void put_settled_flags(struct sheet *sheet, struct sb_grid_cell *at, const json_t *cell)
{
    struct letters letters = {{false}, false};
    size_t index;
    json_t *repeat;

    json_array_foreach(json_object_get(cell, "repeats"), index, repeat)
    {
        if (sb_json_get_bool(repeat, "did_not_settle", false))
            add_letter(sheet, &letters, "did-not-settle");
    }
    put_letters(at, &letters, "");
}

static void put_status(struct sheet *sheet, struct sb_grid_cell *at, const json_t *cell)
{
    char *status = clean_name(sb_json_get_text(cell, "status", "?"));
    char *label = clean_name(sb_json_get_text(cell, "label", "?"));
    const char *reason = sb_json_get_text(cell, "reason", "");
    char *text;

    if (!*reason)
        reason = strcmp(status, "not-run") == 0 ? "the campaign ended before its turn"
                                                : "no reason was recorded";
    text = sb_format("%s\n%s", status, reason);
    (void)sb_remarks_add(&sheet->reasons, text, label);
    free(text);
    free(label);
    sb_grid_put(at, SB_GRID_FIGURE, status);
}

static void put_value(const struct sheet *sheet, struct sb_grid_cell *at, const json_t *cell,
                      const struct figure *figure)
{
    double value = figure_value(cell, figure);
    char text[SB_FORMAT_BYTES];

    if (figure->kind == FIGURE_SHARE)
        (void)snprintf(text, sizeof(text), "%.0f%%", value < 1e6 ? value * 100 : INFINITY);
    else
        sb_format_rate(text, sizeof(text), value);
    sb_grid_put(at, SB_GRID_FIGURE, sb_format("%s", text));
    if (cell != figure->best)
        return;
    at->bold = sheet->table->style.bold;
    if (!at->bold)
        sb_grid_put(at, SB_GRID_MARK, sb_format("*"));
}

static void put_figure(struct sheet *sheet, struct sb_grid_cell *at, const json_t *cell,
                       const struct figure *figure)
{
    if (at->parts[SB_GRID_FIGURE])
        return; /* a document that has the cell twice: the first one stands */
    if (!is_ok(cell)) {
        if (figure->kind == FIGURE_RATE)
            put_status(sheet, at, cell);
        return;
    }
    if (!isfinite(figure_value(cell, figure)))
        return;
    put_value(sheet, at, cell, figure);
    if (figure->kind == FIGURE_RATE) {
        put_spread(sheet->table, at,
                   json_object_get(json_object_get(cell, "summary"), figure->key));
        put_rate_flags(sheet, at, cell);
    }
    if (figure->kind == FIGURE_SETTLED)
        put_settled_flags(sheet, at, cell);
}

/* ---- the main table ----------------------------------------------------------------------- */

static void put_lead(const struct sheet *sheet, struct sb_grid *grid)
{
    grid->lead = LEAD_COLUMNS;
    grid->columns[0].left = grid->columns[1].left = true;
    sb_grid_head(grid, 0, 0, sb_format("driver"));
    sb_grid_head(grid, 1, 0, sb_format("keeps"));
    for (size_t i = 0; i < sheet->label_count; i++)
        sb_grid_put(sb_grid_at(grid, i, 0), SB_GRID_FIGURE, clean_name(sheet->labels[i]));
    for (size_t i = 0; i < sheet->place_count; i++) {
        const json_t *cell = sheet->places[i].cell;
        struct sb_grid_cell *at = sb_grid_at(grid, sheet->places[i].row, 1);
        char *kept = clean_name(sb_json_get_text(cell, "durability_kept", ""));
        bool torn = sheet->group->commits && !sb_json_get_bool(cell, "atomic", true);

        if (!at->parts[SB_GRID_FIGURE] && *kept)
            sb_grid_put(at, SB_GRID_FIGURE, sb_format("%s%s", kept, torn ? ", not atomic" : ""));
        free(kept);
    }
}

static void print_grid(struct sheet *sheet)
{
    struct sb_grid grid;

    sb_grid_init(&grid, LEAD_COLUMNS + sheet->figure_count, sheet->label_count);
    put_lead(sheet, &grid);
    for (size_t f = 0; f < sheet->figure_count; f++) {
        put_heads(sheet, &grid, f);
        for (size_t i = 0; i < sheet->place_count; i++)
            if (sheet->places[i].column == sheet->figures[f].column)
                put_figure(sheet, sb_grid_at(&grid, sheet->places[i].row, LEAD_COLUMNS + f),
                           sheet->places[i].cell, &sheet->figures[f]);
    }
    sb_grid_print(&grid, sheet->table->stream, &sheet->table->style);
    sb_grid_release(&grid);
}

static const char *explain_warning(const char *warning)
{
    static const struct {
        const char *name, *text;
    } known[] = {
        {"background-in-gaps", "other threads of the store worked while the clock stood still "
                               "(over 5 % of its CPU time): the rate may flatter it"},
        {"cold-memory", "memory was slow to come from the host (over 2 µs a page): the store may "
                        "be faster than that"},
        {"short-phase", "measured for less than 10 ms: a rough figure"},
        {"cut-by-limit", "stopped by the phase's time limit before it was through"},
        {"above-flush-ceiling", "more commits than the directory showed flushes: not each commit "
                                "waited for a flush of its own, or the device lies"},
        {"did-not-settle", "background work had not ended when the wait for it did: the settled "
                           "rate is too high"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].name, warning) == 0)
            return known[i].text;
    return "a warning that this version does not know";
}

static void print_footnotes(const struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->warnings.count; i++) {
        const char *warning = sheet->warnings.entries[i].text;
        char lead[] = {i < LETTERS ? (char)('a' + (int)i) : '?', ' ', '\0'};

        print_sentence(sheet, lead, sb_format("%s: %s", warning, explain_warning(warning)));
    }
    for (size_t i = 0; i < sheet->reasons.count; i++) {
        const struct sb_remark *remark = &sheet->reasons.entries[i];
        size_t bytes = strcspn(remark->text, "\n");

        print_sentence(sheet, "",
                       sb_format("%.*s (%s): %s", (int)bytes, remark->text, remark->names,
                                 remark->text + bytes + 1));
    }
}

static bool nothing_applies(const struct sb_table_group *group)
{
    for (size_t i = 0; i < group->cell_count; i++)
        if (strcmp(sb_json_get_text(group->cells[i], "status", ""), "n/a") != 0)
            return false;
    return true;
}

static void print_main(struct sheet *sheet)
{
    if (nothing_applies(sheet->group))
        for (size_t i = 0; i < sheet->place_count; i++) {
            struct sb_grid_cell unused = {.bold = false};

            put_status(sheet, &unused, sheet->places[i].cell);
            sb_grid_put(&unused, SB_GRID_FIGURE, NULL);
        }
    else if (sheet->label_count > GRID_CELLS_MAX / (LEAD_COLUMNS + sheet->figure_count))
        print_sentence(sheet, "", sb_format("too many rows and columns for a table"));
    else
        print_grid(sheet);
    print_footnotes(sheet);
}

/* ---- space -------------------------------------------------------------------------------- */

/* What a driver's store took in the chain that begins with the fill. */
struct space {
    const json_t *fill;
    const json_t *last; /* the last cell of the chain that was measured */
};

enum { SPACE_FILE = 1, SPACE_RATIO, SPACE_MEMORY, SPACE_COLUMNS };

/* The random fill when there is one: it is the harder one. NULL when nothing is filled. */
static const char *main_fill(const struct sheet *sheet)
{
    const char *found = NULL;

    for (size_t i = 0; i < sheet->column_count; i++) {
        const json_t *cell = sheet->columns[i].cell;

        if (fills(cell) && (!found || sb_scenario_find(scenario_of(cell)) == SB_WRITE_RAND))
            found = scenario_of(cell);
    }
    return found;
}

static void collect_space(const struct sheet *sheet, const char *fill, struct space *spaces)
{
    for (size_t i = 0; i < sheet->place_count; i++) {
        const json_t *cell = sheet->places[i].cell;
        struct space *space = &spaces[sheet->places[i].row];
        const char *first = name_before(cell, 0);
        size_t length = json_array_size(json_object_get(cell, "after"));

        if (!is_ok(cell) || strcmp(first ? first : scenario_of(cell), fill) != 0)
            continue;
        if (!first)
            space->fill = cell;
        if (!space->last || length > json_array_size(json_object_get(space->last, "after")))
            space->last = cell;
    }
}

static void put_bytes(struct sb_grid_cell *at, double value_bytes)
{
    char text[SB_FORMAT_BYTES];

    if (isfinite(value_bytes))
        sb_grid_put(at, SB_GRID_FIGURE,
                    sb_format("%s", sb_format_bytes(text, sizeof(text), value_bytes)));
}

static double put_bytes_total(const json_t *cell)
{
    const json_t *parameters = parameters_of(cell);

    return sb_json_get_real(parameters, "records", NAN) *
           (sb_json_get_real(parameters, "key_bytes", NAN) +
            sb_json_get_real(parameters, "value_bytes", NAN));
}

static bool put_space(struct sb_grid *grid, size_t row, const struct space *space)
{
    double file_bytes = summary_member(space->last, "file_allocated_bytes", "median");
    double memory_bytes = summary_member(space->fill, "peak_rss_bytes", "median");
    double ratio = file_bytes / put_bytes_total(space->last);

    put_bytes(sb_grid_at(grid, row, SPACE_FILE), file_bytes);
    if (isfinite(ratio) && ratio >= 0 && ratio < 1e9)
        sb_grid_put(sb_grid_at(grid, row, SPACE_RATIO), SB_GRID_FIGURE, sb_format("%.2f", ratio));
    put_bytes(sb_grid_at(grid, row, SPACE_MEMORY), memory_bytes);
    return isfinite(file_bytes) || isfinite(memory_bytes);
}

static void print_space(const struct sheet *sheet, const char *fill)
{
    struct space *spaces = sb_alloc(sheet->label_count, sizeof(*spaces));
    struct sb_grid grid;
    bool any = false;

    collect_space(sheet, fill, spaces);
    sb_grid_init(&grid, SPACE_COLUMNS, sheet->label_count);
    grid.lead = 1;
    grid.columns[0].left = true;
    sb_grid_head(&grid, 0, 0, sb_format("driver"));
    sb_grid_head(&grid, SPACE_FILE, 0, sb_format("file size"));
    sb_grid_head(&grid, SPACE_RATIO, 0, sb_format("per byte put"));
    sb_grid_head(&grid, SPACE_MEMORY, 0, sb_format("peak memory"));
    for (size_t row = 0; row < sheet->label_count; row++) {
        sb_grid_put(sb_grid_at(&grid, row, 0), SB_GRID_FIGURE, clean_name(sheet->labels[row]));
        any = put_space(&grid, row, &spaces[row]) || any;
    }
    if (any) {
        (void)fputc('\n', sheet->table->stream);
        print_sentence(sheet, "   ",
                       sb_format("Space: allocated on disk at the end of the chain that begins "
                                 "with %s; peak memory during %s, with pages of mapped files",
                                 fill, fill));
        sb_grid_print(&grid, sheet->table->stream, &sheet->table->style);
    }
    sb_grid_release(&grid);
    free(spaces);
}

/* ---- all ---------------------------------------------------------------------------------- */

static void release_sheet(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->column_count; i++)
        free(sheet->columns[i].key);
    free(sheet->labels);
    free(sheet->columns);
    free(sheet->places);
    free(sheet->figures);
    sb_remarks_release(&sheet->warnings);
    sb_remarks_release(&sheet->reasons);
}

void sb_table_print_group(struct sb_table *table, const struct sb_table_group *groups,
                          size_t group_count, size_t index)
{
    struct sheet sheet = {.table = table, .group = &groups[index]};

    collect_labels(&sheet);
    collect_places(&sheet);
    collect_figures(&sheet);
    print_title(&sheet, groups, group_count);
    print_main(&sheet);
    if (!sheet.group->commits && main_fill(&sheet))
        print_space(&sheet, main_fill(&sheet));
    release_sheet(&sheet);
}
