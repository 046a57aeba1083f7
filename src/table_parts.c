/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_parts.c -- see table_parts.h. What all tables need: texts, remarks, the members of a cell,
 * the rows of a group.
 */
#include "table_parts.h"

#include "jsonx.h"
#include "mem.h"
#include "scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts -------------------------------------------------------------------------------- */

char *sb_table_name(const char *text)
{
    return sb_text_clean(text, SB_TABLE_NAME_WIDTH);
}

void sb_table_sentence(const struct sb_table *table, const char *lead, char *text_take)
{
    char *clean = sb_text_clean(text_take, SB_TABLE_TEXT_WIDTH);

    sb_text_print(table->stream, &table->style, lead, clean);
    free(clean);
    free(text_take);
}

char *sb_table_joined(char *text_take, char *more_take)
{
    char *joined =
        *text_take ? sb_format("%s, %s", text_take, more_take) : sb_format("%s", more_take);

    free(text_take);
    free(more_take);
    return joined;
}

/* ---- remarks ------------------------------------------------------------------------------ */

/* Whether `name` is one of `names`, which are separated by ", ". */
static bool has_name(const char *names, const char *name)
{
    size_t bytes = strlen(name);

    for (const char *at = names; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
        if (strncmp(at, name, bytes) == 0 && (!at[bytes] || strncmp(at + bytes, ", ", 2) == 0))
            return true;
    return false;
}

size_t sb_remarks_add(struct sb_remarks *remarks, const char *text, const char *name)
{
    struct sb_remark *remark;
    char *longer;
    size_t i = 0;

    while (i < remarks->count && strcmp(remarks->entries[i].text, text) != 0)
        i++;
    if (i == remarks->count) {
        remarks->entries = sb_grow(remarks->entries, i + 1, sizeof(*remarks->entries));
        remarks->entries[remarks->count++] =
            (struct sb_remark){.text = sb_format("%s", text), .names = sb_format("%s", name)};
        return i;
    }
    remark = &remarks->entries[i];
    if (!has_name(remark->names, name)) {
        longer = sb_format("%s, %s", remark->names, name);
        free(remark->names);
        remark->names = longer;
    }
    return i;
}

void sb_remarks_release(struct sb_remarks *remarks)
{
    for (size_t i = 0; i < remarks->count; i++) {
        free(remarks->entries[i].text);
        free(remarks->entries[i].names);
    }
    free(remarks->entries);
    *remarks = (struct sb_remarks){0};
}

/* ---- cells -------------------------------------------------------------------------------- */

const char *sb_cell_scenario(const json_t *cell)
{
    return sb_json_get_text(cell, "scenario", "?");
}

const json_t *sb_cell_parameters(const json_t *cell)
{
    return json_object_get(cell, "parameters");
}

bool sb_cell_ok(const json_t *cell)
{
    return strcmp(sb_json_get_text(cell, "status", ""), "ok") == 0;
}

const char *sb_cell_before(const json_t *cell, size_t index)
{
    return json_string_value(json_array_get(json_object_get(cell, "after"), index));
}

bool sb_cell_fills(const json_t *cell)
{
    enum sb_scenario scenario = sb_scenario_find(sb_cell_scenario(cell));

    return scenario != SB_SCENARIO_COUNT && sb_scenarios[scenario].fills;
}

double sb_cell_summary(const json_t *cell, const char *key, const char *member)
{
    const json_t *summary = json_object_get(cell, "summary");

    return sb_json_get_real(json_object_get(summary, key), member, NAN);
}

/* ---- rows --------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void sb_table_rows_init(struct sb_table_rows *rows, const struct sb_table_group *group)
{
    size_t count = group->cell_count;

    rows->labels = sb_alloc(count, sizeof(*rows->labels));
    for (size_t i = 0; i < count; i++)
        rows->labels[i] = sb_json_get_text(group->cells[i], "label", "?");
    qsort(rows->labels, count, sizeof(*rows->labels), by_text);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(rows->labels[i], rows->labels[rows->count - 1]) != 0)
            rows->labels[rows->count++] = rows->labels[i];
}

size_t sb_table_row_of(const struct sb_table_rows *rows, const json_t *cell)
{
    const char *label = sb_json_get_text(cell, "label", "?");
    const char **found = bsearch(&label, rows->labels, rows->count, sizeof(label), by_text);

    return (size_t)(found - rows->labels);
}

void sb_table_rows_release(struct sb_table_rows *rows)
{
    free(rows->labels);
    *rows = (struct sb_table_rows){0};
}
