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

enum { SPACE_FILE = 1, SPACE_RATIO, SPACE_MEMORY, SPACE_COLUMNS };

/* The random fill when there is one: it is the harder one. NULL when nothing is filled. */
static const char *main_fill(const struct sheet *sheet)
{
    const char *found = NULL;

    for (size_t i = 0; i < sheet->column_count; i++) {
        const json_t *cell = sheet->columns[i].cell;

        if (sb_cell_fills(cell) &&
            (!found || sb_scenario_find(sb_cell_scenario(cell)) == SB_WRITE_RAND))
            found = sb_cell_scenario(cell);
    }
    return found;
}

static void collect_space(const struct sheet *sheet, const char *fill, struct space *spaces)
{
    for (size_t i = 0; i < sheet->place_count; i++) {
        const json_t *cell = sheet->places[i].cell;
        struct space *space = &spaces[sheet->places[i].row];
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
           (sb_json_get_real(parameters, "key_bytes", NAN) +
            sb_json_get_real(parameters, "value_bytes", NAN));
}

static bool put_space(struct sb_grid *grid, size_t row, const struct space *space)
{
    double file_bytes = sb_cell_summary(space->last, "file_allocated_bytes", "median");
    double memory_bytes = sb_cell_summary(space->fill, "peak_rss_bytes", "median");
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
        sb_grid_put(sb_grid_at(&grid, row, 0), SB_GRID_FIGURE, sb_table_name(sheet->labels[row]));
        any = put_space(&grid, row, &spaces[row]) || any;
    }
    if (any) {
        (void)fputc('\n', sheet->table->stream);
        sb_table_sentence(sheet->table, "   ",
                          sb_format("Space: allocated on disk at the end of the chain that begins "
                                    "with %s; peak memory during %s, with pages of mapped files",
                                    fill, fill));
        sb_grid_print(&grid, sheet->table->stream, &sheet->table->style);
    }
    sb_grid_release(&grid);
    free(spaces);
}
