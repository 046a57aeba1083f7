/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_counted.c -- the table of what the counting repeats of a group counted: flushes, system
 * calls, and beside them how much more than the user's own bytes was written, read and kept.
 */
#include "table_parts.h"

#include "jsonx.h"
#include "mem.h"
#include "scenario.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID_CELLS_MAX = 500000 }; /* a document that asks for more is not one of ours */

static const double figure_max = 1e15;

enum figure_kind {
    FIGURE_FLUSHES,
    FIGURE_CALLS,
    FIGURE_WRITTEN,
    FIGURE_READ,
    FIGURE_SPACE,
    FIGURE_KINDS
};

static const char *const figure_heads[] = {"flushes/commit", "calls/op", "write ampl.",
                                           "read ampl.", "space ampl."};

/* A column of the grid: a figure of the cells whose key is the same. */
struct figure {
    enum figure_kind kind;
    size_t place;
};

/* Cells that stand below each other. */
struct place {
    char *key; /* owned */
    const json_t *cell;
};

struct counted {
    const struct sb_table *table;
    const struct sb_table_group *group;
    const struct sb_table_rows *rows;
    struct place *places; /* owned */
    size_t place_count;
    struct figure *figures; /* owned */
    size_t figure_count;
    struct sb_remarks reasons; /* "status\nreason" */
};

/* ---- figures ------------------------------------------------------------------------------ */

static const json_t *counted_of(const json_t *cell)
{
    const json_t *counted = json_object_get(cell, "counted");

    return json_is_object(counted) ? counted : NULL;
}

static double share_of(const json_t *cell, const char *object, const char *member)
{
    const json_t *counted = counted_of(cell);

    if (strcmp(sb_json_get_text(counted, "status", ""), "ok") != 0)
        return NAN;
    return sb_json_get_real(json_object_get(counted, object), member, NAN);
}

static bool writes(const json_t *cell)
{
    enum sb_scenario scenario = sb_scenario_find(sb_cell_scenario(cell));

    return scenario != SB_SCENARIO_COUNT && sb_scenarios[scenario].writes;
}

/* NaN when there is none, or none that a table could show. */
static double figure_value(const json_t *cell, enum figure_kind kind)
{
    double value = NAN;

    switch (kind) {
    case FIGURE_FLUSHES:
        value = share_of(cell, "per_commit", "flushes");
        break;
    case FIGURE_CALLS:
        value = share_of(cell, "per_op", "system_calls");
        break;
    case FIGURE_WRITTEN:
        value = sb_cell_summary(cell, "write_amplification", "median");
        break;
    case FIGURE_READ:
        value = sb_cell_summary(cell, "read_amplification", "median");
        break;
    default:
        if (writes(cell)) /* after a read it is what it was */
            value = sb_cell_summary(cell, "space_amplification", "median");
    }
    return value >= 0 && value < figure_max ? value : NAN;
}

/* ---- columns ------------------------------------------------------------------------------ */

static char *place_key(const struct sb_table_group *group, const json_t *cell)
{
    const json_t *parameters = sb_cell_parameters(cell);
    char *after, *key;

    if (group->commits)
        return sb_format("%" PRIu64 " %" PRIu64, sb_json_get_u64(parameters, "batch", 0),
                         sb_json_get_u64(parameters, "commits", 0));
    after = json_dumps(json_object_get(cell, "after"), JSON_COMPACT | JSON_ENCODE_ANY);
    key = sb_format("%s %s", sb_cell_scenario(cell), after ? after : "");
    free(after);
    return key;
}

static size_t place_of(struct counted *c, const json_t *cell)
{
    char *key = place_key(c->group, cell);

    for (size_t i = 0; i < c->place_count; i++)
        if (strcmp(c->places[i].key, key) == 0) {
            free(key);
            return i;
        }
    c->places = sb_grow(c->places, c->place_count + 1, sizeof(*c->places));
    c->places[c->place_count] = (struct place){.key = key, .cell = cell};
    return c->place_count++;
}

/* Whether a column of zeros tells something: no call in a read, no flush in a commit. */
static bool zeros_count(const struct counted *c, enum figure_kind kind)
{
    return kind == FIGURE_CALLS || (kind == FIGURE_FLUSHES && c->group->commits);
}

static bool is_told(const struct counted *c, const size_t *place_of_cell, struct figure figure)
{
    for (size_t i = 0; i < c->group->cell_count; i++) {
        double value = figure_value(c->group->cells[i], figure.kind);

        if (place_of_cell[i] == figure.place && isfinite(value) &&
            (value > 0 || zeros_count(c, figure.kind)))
            return true;
    }
    return false;
}

static void collect_figures(struct counted *c, const size_t *place_of_cell)
{
    for (size_t place = 0; place < c->place_count; place++)
        for (int kind = 0; kind < FIGURE_KINDS; kind++) {
            struct figure figure = {.kind = (enum figure_kind)kind, .place = place};

            if (!is_told(c, place_of_cell, figure))
                continue;
            c->figures = sb_grow(c->figures, c->figure_count + 1, sizeof(*c->figures));
            c->figures[c->figure_count++] = figure;
        }
}

static char *place_head(const struct counted *c, const json_t *cell)
{
    const char *first = sb_cell_before(cell, 0);
    char batch[SB_FORMAT_BYTES];

    if (c->group->commits) {
        sb_format_count(batch, sizeof(batch),
                        sb_json_get_u64(sb_cell_parameters(cell), "batch", 0));
        return sb_format("batch %s", batch);
    }
    if (sb_cell_fills(cell) || !first)
        return sb_format("%s", sb_cell_scenario(cell));
    return sb_format("%s, after %s", sb_cell_scenario(cell), first);
}

/* ---- the table ---------------------------------------------------------------------------- */

static char *format_figure(double value)
{
    if (value == 0)
        return sb_format("0");
    if (value < 0.00995)
        return sb_format("%.2g", value);
    return sb_format(value < 99.995 ? "%.2f" : "%.0f", value);
}

static void put_heads(const struct counted *c, struct sb_grid *grid)
{
    grid->lead = 1;
    grid->columns[0].left = true;
    sb_grid_head(grid, 0, 0, sb_format("driver"));
    for (size_t f = 0; f < c->figure_count; f++) {
        const struct figure *figure = &c->figures[f];
        bool same_place = f && c->figures[f - 1].place == figure->place;

        grid->columns[1 + f].joined = same_place;
        sb_grid_head(grid, 1 + f, 1, sb_format("%s", figure_heads[figure->kind]));
        if (!same_place) {
            char *head = place_head(c, c->places[figure->place].cell);

            sb_grid_head(grid, 1 + f, 0, sb_table_name(head));
            free(head);
        }
    }
}

/* A label with nothing counted has no row. */
static void print_grid(const struct counted *c, const size_t *place_of_cell)
{
    size_t *row_of = sb_alloc(c->rows->count, sizeof(*row_of)); /* from 1; 0: none */
    struct sb_grid grid;
    size_t used = 0;

    for (size_t i = 0; i < c->group->cell_count; i++)
        if (counted_of(c->group->cells[i]))
            row_of[sb_table_row_of(c->rows, c->group->cells[i])] = 1;
    sb_grid_init(&grid, 1 + c->figure_count, c->rows->count);
    put_heads(c, &grid);
    for (size_t i = 0; i < c->rows->count; i++) {
        if (!row_of[i])
            continue;
        sb_grid_put(sb_grid_at(&grid, used, 0), SB_GRID_FIGURE, sb_table_name(c->rows->labels[i]));
        row_of[i] = ++used;
    }
    for (size_t i = 0; i < c->group->cell_count; i++) {
        size_t row = row_of[sb_table_row_of(c->rows, c->group->cells[i])];

        for (size_t f = 0; row && f < c->figure_count; f++) {
            double value = figure_value(c->group->cells[i], c->figures[f].kind);

            if (c->figures[f].place == place_of_cell[i] && isfinite(value))
                sb_grid_put(sb_grid_at(&grid, row - 1, 1 + f), SB_GRID_FIGURE,
                            format_figure(value));
        }
    }
    grid.row_count = used;
    sb_grid_print(&grid, c->table->stream, &c->table->style);
    sb_grid_release(&grid);
    free(row_of);
}

/* Why something was not counted, and what was counted only in part. */
static void collect_reasons(struct counted *c)
{
    for (size_t i = 0; i < c->group->cell_count; i++) {
        const json_t *counted = counted_of(c->group->cells[i]);
        const char *status = sb_json_get_text(counted, "status", "?");
        char *label = sb_table_name(sb_json_get_text(c->group->cells[i], "label", "?"));
        char *text;

        if (counted && strcmp(status, "ok") != 0) {
            text =
                sb_format("not counted, %s\n%s", status, sb_json_get_text(counted, "reason", "?"));
            (void)sb_remarks_add(&c->reasons, text, label);
            free(text);
        }
        if (json_array_size(json_object_get(counted, "unseen")))
            (void)sb_remarks_add(&c->reasons,
                                 "more than counted\nio_uring or io_submit was used, whose reads, "
                                 "writes and flushes are not seen",
                                 label);
        free(label);
    }
}

static void print_reasons(const struct counted *c)
{
    for (size_t i = 0; i < c->reasons.count; i++) {
        const struct sb_remark *remark = &c->reasons.entries[i];
        size_t bytes = strcspn(remark->text, "\n");

        sb_table_sentence(c->table, c->figure_count ? "" : "   ",
                          sb_format("%.*s (%s): %s", (int)bytes, remark->text, remark->names,
                                    remark->text + bytes + 1));
    }
}

static bool anything_counted(const struct sb_table_group *group)
{
    for (size_t i = 0; i < group->cell_count; i++)
        if (counted_of(group->cells[i]))
            return true;
    return false;
}

/* Amplification alone, of cells that could not be counted, makes no table. */
static bool any_share(const struct counted *c)
{
    for (size_t f = 0; f < c->figure_count; f++)
        if (c->figures[f].kind == FIGURE_CALLS)
            return true;
    return false;
}

void sb_table_print_counted(struct sb_table *table, const struct sb_table_group *group,
                            const struct sb_table_rows *rows)
{
    struct counted c = {.table = table, .group = group, .rows = rows};
    size_t *place_of_cell;

    if (!anything_counted(group))
        return;
    place_of_cell = sb_alloc(group->cell_count, sizeof(*place_of_cell));
    for (size_t i = 0; i < group->cell_count; i++)
        place_of_cell[i] = place_of(&c, group->cells[i]);
    collect_figures(&c, place_of_cell);
    collect_reasons(&c);
    (void)fputc('\n', table->stream);
    if (!any_share(&c))
        c.figure_count = 0;
    else if (rows->count > GRID_CELLS_MAX / (1 + c.figure_count))
        sb_table_sentence(table, "   ", sb_format("Counted: too much for a table"));
    else {
        sb_table_sentence(table, "   ", sb_format("Counted, in a repeat of its own"));
        print_grid(&c, place_of_cell);
        table->counted_was_shown = true;
    }
    print_reasons(&c);
    for (size_t i = 0; i < c.place_count; i++)
        free(c.places[i].key);
    free(c.places);
    free(c.figures);
    free(place_of_cell);
    sb_remarks_release(&c.reasons);
}
