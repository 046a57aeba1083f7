/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * params.c -- see params.h.
 */
#include "params.h"

#include "data.h"
#include "units.h"

#include <inttypes.h>
#include <string.h>

#define AT(member) offsetof(struct sb_params, member)

#define HOURS_NS(n) ((n)*3600ull * 1000000000ull)

const struct sb_param sb_params_table[] = {
    {"records", "records", SB_PARAM_COUNT, AT(records), 1, 1ull << 40, "1M", NULL,
     "records that a store is filled with"},
    {"reads", "reads", SB_PARAM_COUNT, AT(reads), 0, 1ull << 40, "0", NULL,
     "reads of a read phase; 0: as many as there are records"},
    {"commits", "commits", SB_PARAM_COUNT, AT(commits), 1, 1ull << 40, "1000", NULL,
     "commits of the scenario 'commit'"},
    {"turnovers", "turnovers", SB_PARAM_COUNT, AT(turnovers), 1, 1000, "2", NULL,
     "how often the scenario 'churn' replaces all records"},
    {"opens", "opens", SB_PARAM_COUNT, AT(opens), 1, 100000, "5", NULL,
     "how often the scenarios 'open' and 'open-killed' open the store"},
    {"key_bytes", "key_bytes", SB_PARAM_SIZE, AT(key_bytes), 1, 1ull << 24, "16", NULL,
     "size of every key"},
    {"value_bytes", "value_bytes", SB_PARAM_SIZE, AT(value_bytes), 0, 1ull << 30, "100", NULL,
     "size of every value"},
    {"batch", "batch", SB_PARAM_COUNT, AT(batch), 1, 1ull << 32, "1000", NULL,
     "operations in a commit"},
    {"load_batch", "load_batch", SB_PARAM_COUNT, AT(load_batch), 1, 1ull << 32, "1000", NULL,
     "operations in a commit while a store is filled outside the clock"},
    {"durability", "durability_requested", SB_PARAM_CHOICE, AT(durability), 0, 2, "none",
     "none|process|power", "what must survive once a commit has returned"},
    {"cache", "cache_bytes", SB_PARAM_SIZE, AT(cache_bytes), 0, 1ull << 50, "512MiB", NULL,
     "budget of the store's own cache; 0: the library's default"},
    {"map", "map_bytes", SB_PARAM_SIZE, AT(map_bytes), 0, 1ull << 46, "0", NULL,
     "address space that a mapped store may reserve; 0: the driver's choice"},
    {"profile", "profile", SB_PARAM_CHOICE, AT(profile), 0, 2, "equal", "default|equal|tuned",
     "how far the driver goes beyond the library's own settings"},
    {"load", "load", SB_PARAM_CHOICE, AT(load), 0, 1, "rand", "seq|rand",
     "order in which a store is filled when no write scenario does it"},
    {"read", "read", SB_PARAM_CHOICE, AT(read), 0, 1, "touch", "touch|copy",
     "touch one word of every line of a value, or copy it out first"},
    {"read_txn", "read_txn", SB_PARAM_CHOICE, AT(read_txn), 0, 2, "batch", "op|batch|phase",
     "how many reads share a read transaction, where the store has them"},
    {"latency", "latency", SB_PARAM_CHOICE, AT(latency), 0, 1, "off", "off|on",
     "time every operation (every commit in 'commit'): percentiles, but lower rates"},
    {"interval", "interval_ns", SB_PARAM_DURATION, AT(interval_ns), 1000000, HOURS_NS(1), "1s",
     NULL, "length of the intervals of the series of rates"},
    {"phase_min", "phase_min_ns", SB_PARAM_DURATION, AT(phase_min_ns), 0, HOURS_NS(24), "250ms",
     NULL, "read phases start over until they have lasted that long"},
    {"phase_limit", "phase_limit_ns", SB_PARAM_DURATION, AT(phase_limit_ns), 1000000, HOURS_NS(24),
     "60s", NULL, "a measured phase stops after that long"},
    {"load_limit", "load_limit_ns", SB_PARAM_DURATION, AT(load_limit_ns), 1000000, HOURS_NS(240),
     "10m", NULL, "a store that is not filled by then is a timeout"},
    {"hang_limit", "hang_limit_ns", SB_PARAM_DURATION, AT(hang_limit_ns), 100000000, HOURS_NS(24),
     "2m", NULL, "a repeat that shows no sign of life for that long is killed as a timeout"},
};
const size_t sb_params_count = sizeof(sb_params_table) / sizeof(sb_params_table[0]);

static uint64_t *member(const struct sb_param *param, struct sb_params *params)
{
    return (uint64_t *)(void *)((char *)params + param->offset);
}

const struct sb_param *sb_param_find(const char *name)
{
    for (size_t i = 0; i < sb_params_count; i++)
        if (strcmp(sb_params_table[i].name, name) == 0)
            return &sb_params_table[i];
    return NULL;
}

static int find_choice(const char *choices, const char *text, uint64_t *valuep)
{
    size_t bytes = strlen(text);
    uint64_t index = 0;

    for (const char *word = choices; word; index++) {
        const char *end = strchrnul(word, '|');

        if ((size_t)(end - word) == bytes && strncmp(word, text, bytes) == 0) {
            *valuep = index;
            return 0;
        }
        word = *end ? end + 1 : NULL;
    }
    return -1;
}

static int out_of_range(const struct sb_param *param, const char *text)
{
    char low[SB_FORMAT_BYTES], high[SB_FORMAT_BYTES];

    switch (param->type) {
    case SB_PARAM_CHOICE:
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s takes one of %s, not '%s'", param->name,
                            param->choices, text);
    case SB_PARAM_SIZE:
        sb_format_bytes(low, sizeof(low), (double)param->min);
        sb_format_bytes(high, sizeof(high), (double)param->max);
        break;
    case SB_PARAM_DURATION:
        sb_format_duration(low, sizeof(low), (double)param->min);
        sb_format_duration(high, sizeof(high), (double)param->max);
        break;
    default:
        sb_format_count(low, sizeof(low), param->min);
        sb_format_count(high, sizeof(high), param->max);
    }
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "%s takes %s to %s, not '%s'", param->name, low,
                        high, text);
}

int sb_param_set_number(const struct sb_param *param, struct sb_params *params, uint64_t value)
{
    char text[SB_FORMAT_BYTES];

    if (value >= param->min && value <= param->max) {
        *member(param, params) = value;
        return 0;
    }
    sb_format_count(text, sizeof(text), value);
    return out_of_range(param, text);
}

int sb_param_set(const struct sb_param *param, struct sb_params *params, const char *text)
{
    uint64_t value = 0;
    int bad;

    switch (param->type) {
    case SB_PARAM_CHOICE:
        bad = find_choice(param->choices, text, &value);
        break;
    case SB_PARAM_SIZE:
        bad = sb_parse_size(text, &value);
        break;
    case SB_PARAM_DURATION:
        bad = sb_parse_duration(text, &value);
        break;
    default:
        bad = sb_parse_count(text, &value);
    }
    if (bad || value < param->min || value > param->max)
        return out_of_range(param, text);
    *member(param, params) = value;
    return 0;
}

uint64_t sb_param_get(const struct sb_param *param, const struct sb_params *params)
{
    return *(const uint64_t *)(const void *)((const char *)params + param->offset);
}

void sb_params_defaults(struct sb_params *params)
{
    memset(params, 0, sizeof(*params));
    for (size_t i = 0; i < sb_params_count; i++)
        if (sb_param_set(&sb_params_table[i], params, sb_params_table[i].default_value))
            sb_error_clear(); /* cannot happen: a unit test sets every default */
}

/* The words stand between '|' in the table; each gets a string of its own here. */
static const char *const level_names[] = {"none", "process", "power"};
static const char *const profile_names[] = {"default", "equal", "tuned"};
static const char *const load_names[] = {"seq", "rand"};
static const char *const latency_names[] = {"off", "on"};
static const char *const read_names[] = {"touch", "copy"};
static const char *const read_txn_names[] = {"op", "batch", "phase"};

const char *sb_param_word(const struct sb_param *param, uint64_t value)
{
    if (value > param->max)
        return "?";
    switch (param->offset) {
    case AT(durability):
        return level_names[value];
    case AT(profile):
        return profile_names[value];
    case AT(load):
        return load_names[value];
    case AT(latency):
        return latency_names[value];
    case AT(read):
        return read_names[value];
    default:
        return read_txn_names[value];
    }
}

const char *sb_level_name(enum sb_level level)
{
    return level_names[level];
}

const char *sb_profile_name(enum sb_profile profile)
{
    return profile_names[profile];
}
