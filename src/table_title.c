/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * table_title.c -- what the cells of a group have in common, in words: always that by which tables
 * are told apart, other parameters only where they differ from those of another table.
 */
#include "table_parts.h"

#include "jsonx.h"
#include "mem.h"
#include "units.h"

#include <math.h>
#include <string.h>

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
    if (!json_is_number(value) || json_number_value(value) < 0)
        return sb_format("%s ?", key);
    if (ends_in(key, bytes, "_bytes"))
        return sb_format("%.*s %s", (int)(bytes - strlen("_bytes")), key,
                         sb_format_bytes(number, sizeof(number), json_number_value(value)));
    if (ends_in(key, bytes, "_ns"))
        return sb_format("%.*s %s", (int)(bytes - strlen("_ns")), key,
                         sb_format_duration(number, sizeof(number), json_number_value(value)));
    if (json_is_real(value))
        return sb_format("%s %g", key, json_real_value(value));
    return sb_format("%s %s", key,
                     sb_format_count(number, sizeof(number), (uint64_t)json_integer_value(value)));
}

/* Whether another group of the same kind has another value: then it is worth a word. */
static bool differs_elsewhere(const struct sb_table_group *groups, size_t count,
                              const struct sb_table_group *group, const char *key)
{
    const json_t *value = json_object_get(sb_cell_parameters(group->cells[0]), key);

    for (size_t i = 0; i < count; i++) {
        const json_t *other = json_object_get(sb_cell_parameters(groups[i].cells[0]), key);

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
            text = sb_table_joined(text, describe_parameter(shown[i], value));
    }
    /* Timing every operation costs: such rates are not the usual ones. */
    if (strcmp(sb_json_get_text(parameters, "latency", "off"), "off") != 0)
        text = sb_table_joined(text, sb_format("every operation timed"));
    json_object_foreach(parameters, key, value)
    {
        if (is_main_parameter(key) || strcmp(key, "commits") == 0 ||
            !differs_elsewhere(groups, count, group, key))
            continue;
        text = sb_table_joined(text, describe_parameter(key, value));
    }
    return sb_table_joined(text, sb_format("in %s", sb_json_get_text(group->cells[0], "directory",
                                                                     "an unknown directory")));
}

void sb_table_print_title(const struct sb_table *table, const struct sb_table_group *groups,
                          size_t group_count, size_t index)
{
    const struct sb_table_group *group = &groups[index];
    const json_t *cell = group->cells[0];
    const json_t *parameters = sb_cell_parameters(cell);
    char records[SB_FORMAT_BYTES], key[SB_FORMAT_BYTES], value[SB_FORMAT_BYTES];

    sb_format_count(records, sizeof(records), sb_json_get_u64(parameters, "records", 0));
    sb_format_bytes(key, sizeof(key), sb_json_get_mean(parameters, "key_bytes", NAN));
    sb_format_bytes(value, sizeof(value), sb_json_get_mean(parameters, "value_bytes", NAN));
    (void)fputc('\n', table->stream);
    sb_table_sentence(
        table, "== ",
        sb_format("%s, durability %s, %s records, keys of %s, values of %s, %s",
                  group->commits ? "Commits" : "Throughput",
                  sb_json_get_text(cell, "durability_requested", "?"), records, key, value,
                  sb_json_get_bool(cell, "persistent", false) ? "persistent" : "in memory"));
    sb_table_sentence(table, "   ", describe_settings(groups, group_count, group));
}
