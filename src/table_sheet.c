/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_sheet.c -- the main table of a group of comparable cells: throughput or commits, with a row
 * for each driver, and what the signs in it mean.
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

/* No store reaches that. */
static const double figure_max = 1e15;

/* With less the interval is but the range of a few repeats. */
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
    const struct sb_table_rows *rows;
    struct column *columns;
    size_t column_count;
    struct place *places;
    size_t place_count;
    struct figure *figures;
    size_t figure_count;
    struct sb_remarks warnings; /* their letters are their indices */
    struct sb_remarks reasons;  /* "status\nreason" */
};

/* ---- what a cell has ---------------------------------------------------------------------- */

static bool is_unordered_scan(const json_t *cell)
{
    enum sb_scenario scenario = sb_scenario_find(sb_cell_scenario(cell));

    return (scenario == SB_READ_SEQ || scenario == SB_SCAN_KEYS) && sb_cell_ok(cell) &&
           !sb_json_get_bool(cell, "ordered", true);
}

/* NaN when there is none, or none that a table could show. */
static double figure_value(const json_t *cell, const struct figure *figure)
{
    double value;

    if (!sb_cell_ok(cell))
        return NAN;
    if (figure->kind == FIGURE_SHARE)
        value = sb_json_get_real(json_object_get(cell, "summary"), figure->key, NAN);
    else
        value = sb_cell_summary(cell, figure->key, "median");
    return value >= 0 && value < figure_max ? value : NAN;
}

/* ---- columns ------------------------------------------------------------------------------ */

static char *names_before(const json_t *cell)
{
    char *names = sb_format("%s", "");

    for (size_t i = 0; i < json_array_size(json_object_get(cell, "after")); i++) {
        const char *name = sb_cell_before(cell, i);

        names = sb_table_joined(names, sb_format("%s", name ? name : "?"));
    }
    return names;
}

static char *column_key(const struct sheet *sheet, const json_t *cell)
{
    const json_t *parameters = sb_cell_parameters(cell);
    char *before, *key;

    if (sheet->group->commits)
        return sb_format("%s %" PRIu64 " %" PRIu64, sb_cell_scenario(cell),
                         sb_json_get_u64(parameters, "batch", 0),
                         sb_json_get_u64(parameters, "commits", 0));
    before = names_before(cell);
    key = sb_format("%s after %s", sb_cell_scenario(cell), before);
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

        sheet->places[sheet->place_count++] =
            (struct place){.cell = cell,
                           .row = sb_table_row_of(sheet->rows, cell),
                           .column = column_of(sheet, cell)};
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
    sheet->table->settled_was_shown = sheet->table->settled_was_shown || kind == FIGURE_SETTLED;
    sheet->table->share_was_shown = sheet->table->share_was_shown || kind == FIGURE_SHARE;
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
        if (commits &&
            sb_json_get_u64(sb_cell_parameters(sheet->columns[i].cell), "batch", 0) != 1 &&
            column_has(sheet, i, FIGURE_PUTS, "ops_per_s"))
            add_figure(sheet, i, FIGURE_PUTS, "ops_per_s");
        /* What is never written has nothing to settle. */
        if (!commits && sb_json_get_bool(sheet->group->cells[0], "persistent", false) &&
            column_has(sheet, i, FIGURE_SETTLED, settled_key))
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
    const char *first = sb_cell_before(cell, 0);

    for (size_t i = 0; i < sheet->column_count; i++) {
        const json_t *other = sheet->columns[i].cell;
        const char *other_first = sb_cell_before(other, 0);

        if (i == index)
            continue;
        if (sheet->group->commits && sb_json_get_u64(sb_cell_parameters(cell), "batch", 0) ==
                                         sb_json_get_u64(sb_cell_parameters(other), "batch", 0))
            return true;
        if (!sheet->group->commits &&
            strcmp(sb_cell_scenario(cell), sb_cell_scenario(other)) == 0 &&
            strcmp(first ? first : "", other_first ? other_first : "") == 0)
            return true;
    }
    return false;
}

static char *after_head(const struct sheet *sheet, size_t index)
{
    const json_t *cell = sheet->columns[index].cell;
    const char *first = sb_cell_before(cell, 0);
    char *names, *head;

    if (sb_cell_fills(cell))
        return sb_format("%s", "");
    if (!first)
        return sb_format("after a %s load",
                         sb_json_get_text(sb_cell_parameters(cell), "load", "hidden"));
    if (!is_ambiguous(sheet, index))
        return sb_format("after %s", first);
    names = names_before(cell);
    head = sb_format("after %s", names);
    free(names);
    return head;
}

static char *batch_head(const struct sheet *sheet, size_t index)
{
    const json_t *parameters = sb_cell_parameters(sheet->columns[index].cell);
    char batch[SB_FORMAT_BYTES], commits[SB_FORMAT_BYTES];

    sb_format_count(batch, sizeof(batch), sb_json_get_u64(parameters, "batch", 0));
    sb_format_count(commits, sizeof(commits), sb_json_get_u64(parameters, "commits", 0));
    if (is_ambiguous(sheet, index))
        return sb_format("batch %s, %s commits", batch, commits);
    return sb_format("batch %s", batch);
}

static void put_head(struct sb_grid *grid, size_t column, size_t line, char *text_take)
{
    sb_grid_head(grid, column, line, sb_table_name(text_take));
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
                     : sb_format("%s", sb_cell_scenario(sheet->columns[figure->column].cell)));
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
        put_head(grid, column, 1, sb_format("of flushes/s"));
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
    char *status = sb_table_name(sb_json_get_text(cell, "status", "?"));
    char *label = sb_table_name(sb_json_get_text(cell, "label", "?"));
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
        (void)snprintf(text, sizeof(text), value < 0.0995 ? "%.1f%%" : "%.0f%%", value * 100);
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
    if (!sb_cell_ok(cell)) {
        if (figure->kind == FIGURE_RATE)
            put_status(sheet, at, cell);
        return;
    }
    if (isfinite(figure_value(cell, figure)))
        put_value(sheet, at, cell, figure);
    if (figure->kind == FIGURE_RATE) {
        put_spread(sheet->table, at,
                   json_object_get(json_object_get(cell, "summary"), figure->key));
        put_rate_flags(sheet, at, cell); /* also where they say why there is no figure */
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
    for (size_t i = 0; i < sheet->rows->count; i++)
        sb_grid_put(sb_grid_at(grid, i, 0), SB_GRID_FIGURE, sb_table_name(sheet->rows->labels[i]));
    for (size_t i = 0; i < sheet->place_count; i++) {
        const json_t *cell = sheet->places[i].cell;
        struct sb_grid_cell *at = sb_grid_at(grid, sheet->places[i].row, 1);
        char *kept = sb_table_name(sb_json_get_text(cell, "durability_kept", ""));
        bool torn = sheet->group->commits && !sb_json_get_bool(cell, "atomic", true);

        if (!at->parts[SB_GRID_FIGURE] && *kept)
            sb_grid_put(at, SB_GRID_FIGURE, sb_format("%s%s", kept, torn ? ", not atomic" : ""));
        free(kept);
    }
}

static void print_grid(struct sheet *sheet)
{
    struct sb_grid grid;

    sb_grid_init(&grid, LEAD_COLUMNS + sheet->figure_count, sheet->rows->count);
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

        sb_table_sentence(sheet->table, lead,
                          sb_format("%s: %s", warning, explain_warning(warning)));
    }
    for (size_t i = 0; i < sheet->reasons.count; i++) {
        const struct sb_remark *remark = &sheet->reasons.entries[i];
        size_t bytes = strcspn(remark->text, "\n");

        sb_table_sentence(sheet->table, "",
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
    else if (sheet->rows->count > GRID_CELLS_MAX / (LEAD_COLUMNS + sheet->figure_count))
        sb_table_sentence(sheet->table, "", sb_format("too many rows and columns for a table"));
    else
        print_grid(sheet);
    print_footnotes(sheet);
}

static void release_sheet(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->column_count; i++)
        free(sheet->columns[i].key);
    free(sheet->columns);
    free(sheet->places);
    free(sheet->figures);
    sb_remarks_release(&sheet->warnings);
    sb_remarks_release(&sheet->reasons);
}

void sb_table_print_sheet(struct sb_table *table, const struct sb_table_group *group,
                          const struct sb_table_rows *rows)
{
    struct sheet sheet = {.table = table, .group = group, .rows = rows};

    collect_places(&sheet);
    collect_figures(&sheet);
    print_main(&sheet);
    release_sheet(&sheet);
}
