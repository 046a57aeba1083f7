/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_space.c -- the table of the space that the stores of a group took, on disk and in memory.
 */
#include "table_parts.h"

#include "jsonx.h"
#include "mem.h"
#include "scenario.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a driver's store took in the chain that begins with the fill. */
struct space {
    const json_t *fill;
    const json_t *last; /* the last cell of the chain that was measured */
};

enum {
    SPACE_MEMORY = 1,
    SPACE_MEMORY_COLUMNS,
    SPACE_FILE = SPACE_MEMORY_COLUMNS,
    SPACE_RATIO,
    SPACE_COLUMNS
};

/* The random fill when there is one: it is the harder one. NULL when nothing is filled. */
static const char *main_fill(const struct sb_table_group *group)
{
    const char *found = NULL;

    for (size_t i = 0; i < group->cell_count; i++) {
        const json_t *cell = group->cells[i];

        if (sb_cell_fills(cell) &&
            (!found || sb_scenario_find(sb_cell_scenario(cell)) == SB_WRITE_RAND))
            found = sb_cell_scenario(cell);
    }
    return found;
}

static void collect_space(const struct sb_table_group *group, const struct sb_table_rows *rows,
                          const char *fill, struct space *spaces)
{
    for (size_t i = 0; i < group->cell_count; i++) {
        const json_t *cell = group->cells[i];
        struct space *space = &spaces[sb_table_row_of(rows, cell)];
        const char *first = sb_cell_before(cell, 0);
        size_t length = json_array_size(json_object_get(cell, "after"));

        if (!sb_cell_ok(cell) || strcmp(first ? first : sb_cell_scenario(cell), fill) != 0)
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
    const json_t *parameters = sb_cell_parameters(cell);

    return sb_json_get_real(parameters, "records", NAN) *
           (sb_json_get_mean(parameters, "key_bytes", NAN) +
            sb_json_get_mean(parameters, "value_bytes", NAN));
}

/* False when there is nothing to show: then the row stays empty. */
static bool put_space(struct sb_grid *grid, size_t row, const struct space *space)
{
    double file_bytes = sb_cell_summary(space->last, "file_allocated_bytes", "median");
    double memory_bytes = sb_cell_summary(space->fill, "peak_rss_bytes", "median");
    double ratio = file_bytes / put_bytes_total(space->last);
    bool has_files = grid->column_count == SPACE_COLUMNS;

    if (!isfinite(memory_bytes) && !(has_files && isfinite(file_bytes)))
        return false;
    put_bytes(sb_grid_at(grid, row, SPACE_MEMORY), memory_bytes);
    if (!has_files)
        return true;
    put_bytes(sb_grid_at(grid, row, SPACE_FILE), file_bytes);
    if (isfinite(ratio) && ratio >= 0 && ratio < 1e9)
        sb_grid_put(sb_grid_at(grid, row, SPACE_RATIO), SB_GRID_FIGURE, sb_format("%.2f", ratio));
    return true;
}

static void put_heads(struct sb_grid *grid)
{
    grid->lead = 1;
    grid->columns[0].left = true;
    sb_grid_head(grid, 0, 0, sb_format("driver"));
    sb_grid_head(grid, SPACE_MEMORY, 0, sb_format("peak memory"));
    if (grid->column_count == SPACE_MEMORY_COLUMNS)
        return;
    sb_grid_head(grid, SPACE_FILE, 0, sb_format("file size"));
    sb_grid_head(grid, SPACE_RATIO, 0, sb_format("per byte put"));
}

static char *describe_space(const char *fill, bool persistent)
{
    if (!persistent)
        return sb_format("Space: peak memory during %s", fill);
    return sb_format("Space: peak memory during %s, with the pages of mapped files; file size as "
                     "allocated at the end of that chain",
                     fill);
}

static void print_space(const struct sb_table *table, const struct sb_table_group *group,
                        const struct sb_table_rows *rows, const char *fill)
{
    bool persistent = sb_json_get_bool(group->cells[0], "persistent", false);
    struct space *spaces = sb_alloc(rows->count, sizeof(*spaces));
    struct sb_grid grid;
    size_t used = 0;

    collect_space(group, rows, fill, spaces);
    sb_grid_init(&grid, persistent ? SPACE_COLUMNS : SPACE_MEMORY_COLUMNS, rows->count);
    put_heads(&grid);
    for (size_t i = 0; i < rows->count; i++) {
        if (!put_space(&grid, used, &spaces[i]))
            continue;
        sb_grid_put(sb_grid_at(&grid, used, 0), SB_GRID_FIGURE, sb_table_name(rows->labels[i]));
        used++;
    }
    grid.row_count = used;
    if (used) {
        (void)fputc('\n', table->stream);
        sb_table_sentence(table, "   ", describe_space(fill, persistent));
        sb_grid_print(&grid, table->stream, &table->style);
    }
    sb_grid_release(&grid);
    free(spaces);
}

void sb_table_print_space(const struct sb_table *table, const struct sb_table_group *group,
                          const struct sb_table_rows *rows)
{
    const char *fill = main_fill(group);

    if (fill)
        print_space(table, group, rows, fill);
}
