/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * suite.c -- see suite.h. Unknown members are refused, since a misspelt one would silently measure
 * something else.
 */
#include "suite.h"

#include "caps.h"
#include "hash.h"
#include "jsonx.h"
#include "mem.h"
#include "nearest.h"
#include "paths.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUITE_FORMAT = 1, VALUES_MAX = 256 };

#define bad(...) sb_error_set(SB_ERR_UNSUPPORTED, 0, __VA_ARGS__)

/* ---- layers ------------------------------------------------------------------------------- */

const struct sb_values *sb_layer_find(const struct sb_layer *layer, const struct sb_param *param)
{
    for (size_t i = 0; i < layer->count; i++)
        if (layer->entries[i].param == param)
            return &layer->entries[i];
    return NULL;
}

static struct sb_values *layer_entry(struct sb_layer *layer, const struct sb_param *param)
{
    for (size_t i = 0; i < layer->count; i++)
        if (layer->entries[i].param == param)
            return &layer->entries[i];
    layer->entries = sb_grow(layer->entries, layer->count + 1, sizeof(*layer->entries));
    layer->entries[layer->count] = (struct sb_values){.param = param};
    return &layer->entries[layer->count++];
}

static int add_value(struct sb_values *entry, const struct sb_params *parsed)
{
    uint64_t value = sb_param_get(entry->param, parsed);

    for (size_t i = 0; i < entry->count; i++)
        if (entry->values[i] == value)
            return 0; /* the same combination twice would be one cell twice */
    if (entry->count == VALUES_MAX)
        return bad("%s has more than %d values", entry->param->name, VALUES_MAX);
    entry->values = sb_grow(entry->values, entry->count + 1, sizeof(*entry->values));
    entry->values[entry->count++] = value;
    return 0;
}

int sb_layer_set_list(struct sb_layer *layer, const struct sb_param *param, const char *list)
{
    struct sb_values *entry = layer_entry(layer, param);
    char *copy = sb_format("%s", list);
    char *rest = copy;
    int rc = 0;

    entry->count = 0;
    for (char *item = strsep(&rest, ","); item && !rc; item = strsep(&rest, ",")) {
        struct sb_params parsed;

        rc = sb_param_set(param, &parsed, item);
        if (!rc)
            rc = add_value(entry, &parsed);
    }
    free(copy);
    return rc;
}

void sb_layer_release(struct sb_layer *layer)
{
    for (size_t i = 0; i < layer->count; i++)
        free(layer->entries[i].values);
    free(layer->entries);
    *layer = (struct sb_layer){0};
}

static int layer_add_json(struct sb_values *entry, const json_t *value)
{
    struct sb_params parsed;
    int rc;

    if (json_is_string(value))
        rc = sb_param_set(entry->param, &parsed, json_string_value(value));
    else if (json_is_integer(value) && json_integer_value(value) >= 0 &&
             entry->param->type != SB_PARAM_DURATION && entry->param->type != SB_PARAM_CHOICE)
        rc = sb_param_set_number(entry->param, &parsed, (uint64_t)json_integer_value(value));
    else if (entry->param->type == SB_PARAM_DURATION)
        rc = bad("%s takes a duration in quotes, such as \"10s\"", entry->param->name);
    else
        rc = bad("%s takes a %s", entry->param->name,
                 entry->param->type == SB_PARAM_CHOICE ? "word in quotes"
                                                       : "whole number of 0 or more");
    return rc ? rc : add_value(entry, &parsed);
}

static int unknown_param(const char *name)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, name);
    for (size_t i = 0; i < sb_params_count; i++)
        sb_nearest_offer(&nearest, sb_params_table[i].name);
    if (nearest.best)
        return bad("no parameter '%s'; did you mean '%s'?", name, nearest.best);
    return bad("no parameter '%s'; workloads/README.md lists them", name);
}

static int read_layer(struct sb_layer *layer, const json_t *object)
{
    const char *name;
    json_t *value;

    if (!object)
        return 0;
    if (!json_is_object(object))
        return bad("'set' is not an object");
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        const struct sb_param *param = sb_param_find(name);
        struct sb_values *entry;
        size_t count = json_is_array(value) ? json_array_size(value) : 1;
        int rc = 0;

        if (!param)
            return unknown_param(name);
        if (!count)
            return bad("%s has no value", name);
        entry = layer_entry(layer, param);
        for (size_t i = 0; i < count && !rc; i++)
            rc = layer_add_json(entry, json_is_array(value) ? json_array_get(value, i) : value);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- members ------------------------------------------------------------------------------ */

static int only_members(const json_t *object, const char *const *names, size_t count)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return bad("is not an object");
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        struct sb_nearest nearest;
        bool known = false;

        sb_nearest_init(&nearest, name);
        for (size_t i = 0; i < count; i++) {
            known = known || strcmp(names[i], name) == 0;
            sb_nearest_offer(&nearest, names[i]);
        }
        if (known)
            continue;
        if (nearest.best)
            return bad("no member '%s' here; did you mean '%s'?", name, nearest.best);
        return bad("no member '%s' here", name);
    }
    return 0;
}

static int read_strings(char ***stringsp, size_t *countp, const json_t *array, const char *what)
{
    if (!json_is_array(array) || !json_array_size(array))
        return bad("'%s' is not a list of words", what);
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));

        if (!text || !*text)
            return bad("'%s' holds something that is not a word", what);
        *stringsp = sb_grow(*stringsp, *countp + 1, sizeof(**stringsp));
        (*stringsp)[(*countp)++] = sb_format("%s", text);
    }
    return 0;
}

static int unknown_scenario(const char *name)
{
    struct sb_nearest nearest;

    sb_nearest_init(&nearest, name);
    for (int i = 0; i < SB_SCENARIO_COUNT; i++)
        sb_nearest_offer(&nearest, sb_scenarios[i].name);
    if (nearest.best)
        return bad("no scenario '%s'; did you mean '%s'?", name, nearest.best);
    return bad("no scenario '%s'", name);
}

static bool writes_are_over(const struct sb_suite_chain *chain, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (sb_scenarios[chain->scenarios[i]].ends_writes)
            return true;
    return false;
}

/* Whether a scenario of a plain list can go on with the store of the last chain. */
static bool can_follow(const struct sb_suite *suite, enum sb_scenario scenario)
{
    const struct sb_suite_chain *chain;

    if (!suite->chain_count || sb_scenarios[scenario].starts_chain)
        return false;
    chain = &suite->chains[suite->chain_count - 1];
    return chain->scenario_count < SB_SUITE_CHAIN_MAX &&
           !sb_scenarios[chain->scenarios[0]].counts_commits &&
           !(sb_scenarios[scenario].writes && writes_are_over(chain, chain->scenario_count));
}

int sb_suite_chain_check(const struct sb_suite_chain *chain)
{
    for (size_t i = 1; i < chain->scenario_count; i++)
        if (sb_scenarios[chain->scenarios[i]].starts_chain)
            return bad("'%s' needs a store of its own: it can only be the first of a chain",
                       sb_scenarios[chain->scenarios[i]].name);
    for (size_t i = 1; i < chain->scenario_count; i++)
        if (writes_are_over(chain, i) && sb_scenarios[chain->scenarios[i]].writes)
            return bad("'%s' cannot follow a scenario that deletes: only reads can",
                       sb_scenarios[chain->scenarios[i]].name);
    return 0;
}

static int read_only(struct sb_suite_chain *chain, const json_t *words)
{
    if (words && !json_is_array(words))
        return bad("'only' is not a list of capabilities");
    for (size_t i = 0; i < json_array_size(words); i++) {
        const char *word = json_string_value(json_array_get(words, i));
        uint32_t bit = word ? sb_cap_find(word) : 0;

        if (!bit)
            return bad("'only' names no capability '%s'; 'storebench list' shows them",
                       word ? word : "?");
        chain->only_caps |= bit;
    }
    return 0;
}

static int read_chain(struct sb_suite_chain *chain, const json_t *object)
{
    static const char *const names[] = {"scenarios", "only", "set"};
    const json_t *scenarios = json_object_get(object, "scenarios");
    int rc = only_members(object, names, 3);

    if (!rc)
        rc = read_only(chain, json_object_get(object, "only"));

    if (rc)
        return rc;
    if (!json_is_array(scenarios) || !json_array_size(scenarios) ||
        json_array_size(scenarios) > SB_SUITE_CHAIN_MAX)
        return bad("'scenarios' is not a list of 1 to %d scenarios", SB_SUITE_CHAIN_MAX);
    for (size_t i = 0; i < json_array_size(scenarios); i++) {
        const char *name = json_string_value(json_array_get(scenarios, i));
        enum sb_scenario found = name ? sb_scenario_find(name) : SB_SCENARIO_COUNT;

        if (found == SB_SCENARIO_COUNT)
            return unknown_scenario(name ? name : "?");
        chain->scenarios[chain->scenario_count++] = found;
    }
    rc = sb_suite_chain_check(chain);
    return rc ? rc : read_layer(&chain->set, json_object_get(object, "set"));
}

static int read_chains(struct sb_suite *suite, const json_t *array)
{
    if (!json_is_array(array) || !json_array_size(array))
        return bad("'chains' is not a list of chains");
    for (size_t i = 0; i < json_array_size(array); i++) {
        int rc;

        suite->chains = sb_grow(suite->chains, suite->chain_count + 1, sizeof(*suite->chains));
        suite->chains[suite->chain_count] = (struct sb_suite_chain){.scenario_count = 0};
        rc = read_chain(&suite->chains[suite->chain_count++], json_array_get(array, i));
        if (rc)
            return sb_error_prefix("chain %zu: ", i + 1);
    }
    return 0;
}

static int read_rules(struct sb_suite *suite, const json_t *array)
{
    static const char *const names[] = {"drivers", "set", "why"};

    if (!array)
        return 0;
    if (!json_is_array(array))
        return bad("'rules' is not a list");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        struct sb_suite_rule *rule;
        int rc = only_members(object, names, 3);

        suite->rules = sb_grow(suite->rules, suite->rule_count + 1, sizeof(*suite->rules));
        rule = &suite->rules[suite->rule_count++];
        *rule = (struct sb_suite_rule){.why = sb_format("%s", sb_json_get_text(object, "why", ""))};
        if (!rc)
            rc = read_strings(&rule->patterns, &rule->pattern_count,
                              json_object_get(object, "drivers"), "drivers");
        if (!rc)
            rc = read_layer(&rule->set, json_object_get(object, "set"));
        if (!rc && !*rule->why)
            rc = bad("'why' is missing: it is shown beside the cells that a rule changes");
        if (rc)
            return sb_error_prefix("rule %zu: ", i + 1);
    }
    return 0;
}

/* A member that need not be there. */
static int read_text(const json_t *root, const char *key, const char *fallback, const char **textp)
{
    const json_t *value = json_object_get(root, key);

    *textp = value ? json_string_value(value) : fallback;
    return *textp ? 0 : bad("'%s' is not a text in quotes", key);
}

/* The name becomes a part of file names. */
static int read_names(struct sb_suite *suite, const json_t *root)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *name, *description;
    int rc = read_text(root, "name", "unnamed", &name);

    if (!rc)
        rc = read_text(root, "description", "", &description);
    if (rc)
        return rc;
    if (!*name || *name == '.' || name[strspn(name, allowed)])
        return bad("'name' is not made of letters, digits, '-', '_' and '.'");
    suite->name = sb_format("%s", name);
    suite->description = sb_format("%s", description);
    return 0;
}

static int read_numbers(struct sb_suite *suite, const json_t *root)
{
    const char *time_limit;
    int rc = read_text(root, "time_limit", "0s", &time_limit);

    if (rc)
        return rc;
    suite->repeats = sb_json_get_u64(root, "repeats", 0);
    if (suite->repeats < 1 || suite->repeats > 10000)
        return bad("'repeats' is not a number from 1 to 10000");
    if (sb_parse_duration(time_limit, &suite->time_limit_ns))
        return bad("'time_limit' is not a duration such as \"3m\"");
    if (json_object_get(root, "count") && !json_is_boolean(json_object_get(root, "count")))
        return bad("'count' is neither true nor false");
    suite->count = sb_json_get_bool(root, "count", false);
    return 0;
}

static int read_suite(struct sb_suite *suite, const json_t *root)
{
    static const char *const names[] = {"storebench_suite", "name",  "description", "repeats",
                                        "time_limit",       "count", "drivers",     "set",
                                        "chains",           "rules"};
    int rc = only_members(root, names, sizeof(names) / sizeof(names[0]));

    if (rc)
        return rc;
    if (sb_json_get_u64(root, "storebench_suite", 0) != SUITE_FORMAT)
        return bad("'storebench_suite' is not %d: not a suite of this version", SUITE_FORMAT);
    rc = read_names(suite, root);
    if (!rc)
        rc = read_numbers(suite, root);
    if (!rc)
        rc = read_strings(&suite->drivers, &suite->driver_count, json_object_get(root, "drivers"),
                          "drivers");
    if (!rc)
        rc = read_layer(&suite->set, json_object_get(root, "set"));
    if (!rc)
        rc = read_chains(suite, json_object_get(root, "chains"));
    if (!rc)
        rc = read_rules(suite, json_object_get(root, "rules"));
    return rc;
}

/* ---- files -------------------------------------------------------------------------------- */

static char *find_file(const char *name)
{
    const char *const folders[] = {sb_source_workloads_dir(), sb_installed_workloads_dir()};

    if (strchr(name, '/') || access(name, R_OK) == 0)
        return sb_format("%s", name);
    for (size_t i = 0; i < 2; i++) {
        size_t bytes = strlen(name);
        bool has_end = bytes > 5 && strcmp(name + bytes - 5, ".json") == 0;
        char *path = sb_format("%s/%s%s", folders[i], name, has_end ? "" : ".json");

        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return sb_format("%s", name);
}

int sb_suite_load(struct sb_suite *suite, const char *name_or_path)
{
    char *path = find_file(name_or_path);
    json_error_t error;
    json_t *root = NULL;
    int rc;

    *suite = (struct sb_suite){0};
    if (access(path, R_OK) != 0) {
        rc = sb_error_errno(errno, "suite %s", path);
        goto out;
    }
    root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        for (char *c = error.text; *c; c++) /* it quotes the file, which may be anything */
            *c = iscntrl((unsigned char)*c) ? '?' : *c;
        rc = bad("%s:%d:%d: %s", path, error.line, error.column, error.text);
        goto out;
    }
    suite->hash = sb_hash_file(path);
    rc = read_suite(suite, root);
    if (rc)
        rc = sb_error_prefix("%s: ", path);
out:
    json_decref(root);
    free(path);
    return rc;
}

void sb_suite_release(struct sb_suite *suite)
{
    for (size_t i = 0; i < suite->driver_count; i++)
        free(suite->drivers[i]);
    for (size_t i = 0; i < suite->chain_count; i++)
        sb_layer_release(&suite->chains[i].set);
    for (size_t i = 0; i < suite->rule_count; i++) {
        for (size_t j = 0; j < suite->rules[i].pattern_count; j++)
            free(suite->rules[i].patterns[j]);
        free(suite->rules[i].patterns);
        free(suite->rules[i].why);
        sb_layer_release(&suite->rules[i].set);
    }
    free(suite->drivers);
    free(suite->chains);
    free(suite->rules);
    free(suite->name);
    free(suite->description);
    sb_layer_release(&suite->set);
    *suite = (struct sb_suite){0};
}

void sb_suite_chains_from_list(struct sb_suite *suite, const enum sb_scenario *scenarios,
                               size_t count)
{
    for (size_t i = 0; i < suite->chain_count; i++)
        sb_layer_release(&suite->chains[i].set);
    suite->chain_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct sb_suite_chain *chain;

        if (!can_follow(suite, scenarios[i])) {
            suite->chains = sb_grow(suite->chains, suite->chain_count + 1, sizeof(*suite->chains));
            suite->chains[suite->chain_count++] = (struct sb_suite_chain){.scenario_count = 0};
        }
        chain = &suite->chains[suite->chain_count - 1];
        chain->scenarios[chain->scenario_count++] = scenarios[i];
    }
}
