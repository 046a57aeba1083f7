/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * plan.c -- see plan.h.
 */
#include "plan.h"

#include "data.h"
#include "hash.h"
#include "mem.h"
#include "mix.h"
#include "nearest.h"
#include "store.h"
#include "workdir.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CHAINS_MAX = 10000 };

/* ---- chains ------------------------------------------------------------------------------- */

/* Layers in the order in which they apply: later ones win. */
enum { LAYER_SUITE, LAYER_CHAIN, LAYER_RULE, LAYER_REQUEST = LAYER_RULE + 8, LAYERS_MAX };

struct layers {
    const struct sb_layer *at[LAYERS_MAX]; /* NULL: none */
    const char *rule;
};

static const struct sb_values *winning(const struct layers *layers, const struct sb_param *param)
{
    for (int i = LAYERS_MAX - 1; i >= 0; i--) {
        const struct sb_values *found = layers->at[i] ? sb_layer_find(layers->at[i], param) : NULL;

        if (found)
            return found;
    }
    return NULL;
}

/* Why this driver cannot run these parameters, or NULL; free() it. */
static char *find_na_reason(const struct sb_chain *chain)
{
    const struct sb_driver *driver = chain->spec->entry->driver;
    const struct sb_params *params = &chain->params;

    /* A later scenario that the store cannot do is n/a alone: the repeat finds that out. */
    if (sb_scenarios[chain->scenarios[0]].caps & ~driver->caps)
        return sb_format("%s has no means for '%s'", driver->name,
                         sb_scenarios[chain->scenarios[0]].name);
    if (!(driver->levels & SB_LEVEL_BIT(params->durability)))
        return sb_format("%s has no mode that keeps durability '%s'", driver->name,
                         sb_level_name((enum sb_level)params->durability));
    if (sb_store_limits(driver, params->key_bytes, params->value_bytes))
        return sb_format("%s", sb_error_last()->text);
    return NULL;
}

static int check_params(const struct sb_params *params, bool own_keys)
{
    size_t least = own_keys ? 0 : sb_key_bytes_min(params->records);
    uint64_t bytes;

    if (params->key_bytes < least)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "key_bytes: %" PRIu64 " records need keys of at least %zu bytes, "
                            "not %" PRIu64,
                            params->records, least, params->key_bytes);
    if (__builtin_mul_overflow(params->records, params->key_bytes + params->value_bytes, &bytes) ||
        bytes > INT64_MAX)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "records: their bytes do not fit 63 bits");
    return 0;
}

/* Two suites, or a list, may name the same chain or one that begins like it: the longer serves
 * both. Chains that part later share the cells before: those get the repeats of both. */
static bool merge_chain(struct sb_chain *chain, const struct sb_chain *made)
{
    size_t common =
        chain->scenario_count < made->scenario_count ? chain->scenario_count : made->scenario_count;

    if (sb_chain_cell_id(chain, common - 1) != sb_chain_cell_id(made, common - 1))
        return false;
    memcpy(chain->scenarios + common, made->scenarios + common,
           (made->scenario_count - common) * sizeof(made->scenarios[0]));
    if (made->scenario_count > common)
        chain->scenario_count = made->scenario_count;
    return true;
}

static int add_chain(struct sb_plan *plan, const struct sb_chain *made)
{
    int rc = check_params(&made->params, made->own);

    if (rc)
        return rc;
    if (plan->chain_count == CHAINS_MAX)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "more than %d chains: name fewer drivers, values or directories",
                            CHAINS_MAX);
    for (size_t i = 0; i < plan->chain_count; i++)
        if (merge_chain(&plan->chains[i], made))
            return 0;
    plan->chains = sb_grow(plan->chains, plan->chain_count + 1, sizeof(*plan->chains));
    plan->chains[plan->chain_count] = *made;
    plan->chains[plan->chain_count].na_reason = find_na_reason(made);
    plan->chain_count++;
    return 0;
}

/* Sets parameter number `index` and those after it to each of their values in turn. */
static int combine(struct sb_plan *plan, struct sb_chain *chain, const struct layers *layers,
                   size_t index)
{
    const struct sb_values *values;

    if (index == sb_params_count)
        return add_chain(plan, chain);
    values = winning(layers, &sb_params_table[index]);
    if (!values)
        return combine(plan, chain, layers, index + 1);
    for (size_t i = 0; i < values->count; i++) {
        int rc = sb_param_set_number(values->param, &chain->params, values->values[i]);

        if (!rc)
            rc = combine(plan, chain, layers, index + 1);
        if (rc)
            return rc;
    }
    return 0;
}

static bool rule_matches(const struct sb_suite_rule *rule, const char *driver)
{
    for (size_t i = 0; i < rule->pattern_count; i++)
        if (fnmatch(rule->patterns[i], driver, 0) == 0)
            return true;
    return false;
}

/* A rule that the command line overrides in all its parameters has no effect to explain. */
static bool has_effect(const struct sb_layer *rule, const struct sb_layer *request)
{
    for (size_t i = 0; i < rule->count; i++)
        if (!sb_layer_find(request, rule->entries[i].param))
            return true;
    return false;
}

static int add_rules(struct layers *layers, const struct sb_suite *suite, const char *driver,
                     const struct sb_layer *request)
{
    int next = LAYER_RULE;

    for (size_t i = 0; i < suite->rule_count; i++) {
        if (!rule_matches(&suite->rules[i], driver))
            continue;
        if (next == LAYER_REQUEST)
            return sb_error_set(SB_ERR_UNSUPPORTED, 0, "more than %d rules match driver '%s'",
                                LAYER_REQUEST - LAYER_RULE, driver);
        layers->at[next++] = &suite->rules[i].set;
        if (has_effect(&suite->rules[i].set, request))
            layers->rule = suite->rules[i].why;
    }
    return 0;
}

static int add_suite_chain(struct sb_plan *plan, const struct sb_suite *suite,
                           const struct sb_suite_chain *from, const struct sb_plan_request *request)
{
    for (size_t s = 0; s < plan->spec_count; s++) {
        struct layers layers = {.at = {[LAYER_SUITE] = &suite->set,
                                       [LAYER_CHAIN] = &from->set,
                                       [LAYER_REQUEST] = &request->set}};
        int rc;

        if (from->only_caps & ~plan->specs[s].entry->driver->caps)
            continue;
        rc = add_rules(&layers, suite, plan->specs[s].entry->driver->name, &request->set);

        for (size_t d = 0; d < plan->dir_count && !rc; d++) {
            struct sb_chain chain = {.spec = &plan->specs[s],
                                     .parent_dir = plan->dirs[d],
                                     .own = plan->own,
                                     .rule = layers.rule,
                                     .scenario_count = from->scenario_count};

            memcpy(chain.scenarios, from->scenarios, sizeof(from->scenarios));
            sb_params_defaults(&chain.params);
            rc = combine(plan, &chain, &layers, 0);
        }
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- lists of the command line ------------------------------------------------------------ */

static int split(const char *list, int (*each)(void *arg, const char *item), void *arg)
{
    char *copy = sb_format("%s", list);
    char *rest = copy;
    int rc = 0;

    for (char *item = strsep(&rest, ","); item && !rc; item = strsep(&rest, ","))
        if (*item)
            rc = each(arg, item);
    free(copy);
    return rc;
}

struct driver_list {
    struct sb_plan *plan;
    const struct sb_registry *registry;
};

static int add_drivers(void *arg, const char *item)
{
    struct driver_list *list = arg;

    return sb_spec_expand(&list->plan->specs, &list->plan->spec_count, list->registry, item);
}

struct scenario_list {
    enum sb_scenario items[SB_SUITE_CHAIN_MAX * 4];
    size_t count;
};

/* A pattern takes every scenario it matches, in the order of the table. */
static int add_scenarios(void *arg, const char *item)
{
    struct scenario_list *list = arg;
    struct sb_nearest nearest;
    bool matched = false;

    sb_nearest_init(&nearest, item);
    for (int i = 0; i < SB_SCENARIO_COUNT; i++) {
        sb_nearest_offer(&nearest, sb_scenarios[i].name);
        if (fnmatch(item, sb_scenarios[i].name, 0) != 0)
            continue;
        if (list->count == sizeof(list->items) / sizeof(list->items[0]))
            return sb_error_set(SB_ERR_UNSUPPORTED, 0, "--scenarios: too many");
        list->items[list->count++] = (enum sb_scenario)i;
        matched = true;
    }
    if (matched)
        return 0;
    if (nearest.best)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no scenario '%s'; did you mean '%s'?", item,
                            nearest.best);
    return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no scenario '%s'; 'storebench help run' lists them",
                        item);
}

/* Commits measure a level; without a word on it from the user they run at both that cost something,
 * one put each. Any other chain keeps what the suite says for all. */
static int set_commit_defaults(struct sb_suite_chain *chain)
{
    int rc;

    if (!sb_scenarios[chain->scenarios[0]].counts_commits)
        return 0;
    rc = sb_layer_set_list(&chain->set, sb_param_find("durability"), "process,power");
    return rc ? rc : sb_layer_set_list(&chain->set, sb_param_find("batch"), "1");
}

static int replace_chains(struct sb_suite *suite, const char *scenarios)
{
    struct scenario_list list = {.count = 0};
    int rc = split(scenarios, add_scenarios, &list);

    if (rc)
        return rc;
    if (!list.count)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "--scenarios names none");
    sb_suite_chains_from_list(suite, list.items, list.count);
    for (size_t i = 0; i < suite->chain_count && !rc; i++)
        rc = set_commit_defaults(&suite->chains[i]);
    return rc;
}

/* ---- the plan ----------------------------------------------------------------------------- */

static int load_suites(struct sb_plan *plan, const struct sb_plan_request *request)
{
    static const char *const fallback[] = {"quick"};
    const char *const *names = request->suite_count ? request->suites : fallback;
    size_t count = request->suite_count ? request->suite_count : 1;

    plan->suites = sb_alloc(count, sizeof(*plan->suites));
    for (size_t i = 0; i < count; i++) {
        struct sb_suite *suite = &plan->suites[plan->suite_count++];
        char *joined;
        int rc = sb_suite_load(suite, names[i]);

        /* A list on the command line is one set of chains, not one for each suite. */
        if (!rc && request->scenarios && i == 0)
            rc = replace_chains(suite, request->scenarios);
        if (rc)
            return rc;
        joined = plan->suite_name ? sb_format("%s+%s", plan->suite_name, suite->name)
                                  : sb_format("%s", suite->name);
        free(plan->suite_name);
        plan->suite_name = joined;
        plan->suite_hash = sb_hash_bytes(plan->suite_hash ? plan->suite_hash : SB_HASH_START,
                                         &suite->hash, sizeof(suite->hash));
        if (suite->repeats > plan->repeats)
            plan->repeats = suite->repeats;
        plan->time_limit_ns += suite->time_limit_ns;
        plan->count = plan->count || suite->count;
    }
    plan->suite_description = sb_format("%s", plan->suites[0].description);
    return 0;
}

static int choose_drivers(struct sb_plan *plan, const struct sb_plan_request *request,
                          const struct sb_registry *registry)
{
    struct driver_list list = {plan, registry};
    int rc = 0;

    if (request->drivers)
        rc = split(request->drivers, add_drivers, &list);
    for (size_t i = 0; i < plan->suites[0].driver_count && !request->drivers && !rc; i++)
        rc = add_drivers(&list, plan->suites[0].drivers[i]);
    if (!rc && !plan->spec_count)
        rc = sb_error_set(SB_ERR_UNSUPPORTED, 0,
                          "no driver: 'storebench list' shows those of this build");
    return rc;
}

static int choose_dirs(struct sb_plan *plan, const struct sb_plan_request *request)
{
    const char *fallback = sb_workdir_default();
    size_t count = request->dir_count ? request->dir_count : 1;

    plan->dirs = sb_alloc(count, sizeof(*plan->dirs));
    for (size_t i = 0; i < count; i++) {
        const char *dir = request->dir_count ? request->dirs[i] : fallback;
        struct stat status;

        if (stat(dir, &status))
            return sb_error_errno(errno, "directory %s", dir);
        if (!S_ISDIR(status.st_mode))
            return sb_error_errno(ENOTDIR, "directory %s", dir);
        if (access(dir, W_OK | X_OK))
            return sb_error_errno(errno, "directory %s", dir);
        plan->dirs[plan->dir_count] = realpath(dir, NULL);
        if (!plan->dirs[plan->dir_count++])
            return sb_error_errno(errno, "directory %s", dir);
    }
    return 0;
}

/* 48 bits: exact in every JSON reader, and short enough to type. */
static uint64_t new_seed(void)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = sb_mix64((uint64_t)time(NULL) + ((uint64_t)getpid() << 32));
    seed &= (1ull << 48) - 1;
    return seed ? seed : 1;
}

int sb_plan_build(struct sb_plan *plan, const struct sb_plan_request *request,
                  const struct sb_registry *registry)
{
    int rc;

    *plan = (struct sb_plan){0};
    rc = load_suites(plan, request);
    if (!rc)
        rc = choose_drivers(plan, request, registry);
    if (!rc)
        rc = choose_dirs(plan, request);
    if (rc)
        return rc;
    if (request->repeats)
        plan->repeats = request->repeats;
    if (request->time_limit_ns)
        plan->time_limit_ns = request->time_limit_ns;
    plan->count = plan->count || request->count;
    plan->own = request->own;
    plan->seed = request->seed ? request->seed : new_seed();
    for (size_t i = 0; i < plan->suite_count && !rc; i++)
        for (size_t c = 0; c < plan->suites[i].chain_count && !rc; c++)
            if (i == 0 || !request->scenarios)
                rc = add_suite_chain(plan, &plan->suites[i], &plan->suites[i].chains[c], request);
    return rc;
}

void sb_plan_release(struct sb_plan *plan)
{
    for (size_t i = 0; i < plan->chain_count; i++)
        free(plan->chains[i].na_reason);
    for (size_t i = 0; i < plan->spec_count; i++)
        sb_spec_release(&plan->specs[i]);
    for (size_t i = 0; i < plan->dir_count; i++)
        free(plan->dirs[i]);
    for (size_t i = 0; i < plan->suite_count; i++)
        sb_suite_release(&plan->suites[i]);
    free(plan->chains);
    free(plan->specs);
    free(plan->dirs);
    free(plan->suites);
    free(plan->suite_name);
    free(plan->suite_description);
    *plan = (struct sb_plan){0};
}

size_t sb_plan_runnable(const struct sb_plan *plan)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->chain_count; i++)
        count += !plan->chains[i].na_reason;
    return count;
}

/* ---- identity ----------------------------------------------------------------------------- */

/* Limits of time say when to give up, not what is measured: they are no part of an identity. */
static bool is_limit(const struct sb_param *param)
{
    static const char *const names[] = {"phase_limit", "load_limit", "hang_limit"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(param->name, names[i]) == 0)
            return true;
    return false;
}

uint64_t sb_chain_workload_hash(const struct sb_chain *chain, size_t scenario_index)
{
    uint64_t hash = SB_HASH_START;

    for (size_t i = 0; i <= scenario_index; i++)
        hash = sb_hash_text(hash, sb_scenarios[chain->scenarios[i]].name);
    for (size_t i = 0; i < sb_params_count; i++) {
        uint64_t value = sb_param_get(&sb_params_table[i], &chain->params);

        if (is_limit(&sb_params_table[i]))
            continue;
        hash = sb_hash_text(hash, sb_params_table[i].key);
        hash = sb_hash_bytes(hash, &value, sizeof(value));
    }
    if (chain->own)
        hash = sb_hash_bytes(hash, &chain->own->pack.header.content_hash, sizeof(hash));
    return hash;
}

uint64_t sb_chain_cell_id(const struct sb_chain *chain, size_t scenario_index)
{
    uint64_t hash = sb_chain_workload_hash(chain, scenario_index);

    hash = sb_hash_text(hash, chain->spec->label);
    return sb_hash_text(hash, chain->parent_dir);
}
