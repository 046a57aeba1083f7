/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.c -- see job.h.
 */
#include "job.h"

#include "jsonx.h"

json_t *sb_params_to_json(const struct sb_params *params)
{
    json_t *object = json_object();

    for (size_t i = 0; i < sb_params_count; i++) {
        const struct sb_param *param = &sb_params_table[i];
        uint64_t value = sb_param_get(param, params);

        if (param->type == SB_PARAM_CHOICE)
            sb_json_text(object, param->key, sb_param_word(param, value));
        else
            sb_json_u64(object, param->key, value);
    }
    return object;
}

static int params_from_json(struct sb_params *params, const json_t *object)
{
    for (size_t i = 0; i < sb_params_count; i++) {
        const struct sb_param *param = &sb_params_table[i];
        const json_t *value = json_object_get(object, param->key);
        int rc;

        if (json_is_string(value))
            rc = sb_param_set(param, params, json_string_value(value));
        else if (json_is_integer(value))
            rc = sb_param_set_number(param, params, (uint64_t)json_integer_value(value));
        else
            rc = sb_error_set(SB_ERR_FAILED, 0, "job: no parameter '%s'", param->key);
        if (rc)
            return rc;
    }
    return 0;
}

json_t *sb_job_to_json(const struct sb_job *job)
{
    json_t *document = json_object();
    json_t *scenarios;

    sb_json_text(document, "module_path", job->module_path);
    sb_json_text(document, "label", job->label);
    sb_json_text(document, "dir", job->dir);
    if (job->keys_path)
        sb_json_text(document, "keys_path", job->keys_path);
    sb_json_u64(document, "seed", job->seed);
    sb_json_u64(document, "overwrites", job->overwrites);
    sb_json_u64(document, "deletes", job->deletes);
    sb_json_bool(document, "counting", job->counting);
    sb_json_take(document, "parameters", sb_params_to_json(&job->params));
    scenarios = sb_json_take(document, "scenarios", json_array());
    for (size_t i = 0; i < job->scenario_count; i++)
        sb_json_append_text(scenarios, sb_scenarios[job->scenarios[i]].name);
    return document;
}

int sb_job_from_json(struct sb_job *job, const json_t *document)
{
    const json_t *scenarios = json_object_get(document, "scenarios");

    *job = (struct sb_job){
        .module_path = sb_json_get_text(document, "module_path", NULL),
        .label = sb_json_get_text(document, "label", NULL),
        .dir = sb_json_get_text(document, "dir", NULL),
        .keys_path = sb_json_get_text(document, "keys_path", NULL),
        .seed = sb_json_get_u64(document, "seed", 0),
        .overwrites = sb_json_get_u64(document, "overwrites", 0),
        .deletes = sb_json_get_u64(document, "deletes", 0),
        .counting = sb_json_get_bool(document, "counting", false),
        .scenario_count = json_array_size(scenarios),
    };
    if (!job->module_path || !job->label || !job->dir || !job->scenario_count ||
        job->scenario_count > SB_CHAIN_SCENARIOS_MAX)
        return sb_error_set(SB_ERR_FAILED, 0, "job: incomplete");
    for (size_t i = 0; i < job->scenario_count; i++) {
        const char *name = json_string_value(json_array_get(scenarios, i));

        job->scenarios[i] = name ? sb_scenario_find(name) : SB_SCENARIO_COUNT;
        if (job->scenarios[i] == SB_SCENARIO_COUNT)
            return sb_error_set(SB_ERR_FAILED, 0, "job: unknown scenario");
    }
    return params_from_json(&job->params, json_object_get(document, "parameters"));
}

int sb_job_open_keys(const struct sb_job *job, struct sb_keyfile *own)
{
    *own = (struct sb_keyfile){0};
    return job->keys_path ? sb_keyfile_open(own, job->keys_path) : 0;
}

/* Bytes of all keys and values. */
static uint64_t planned_bytes(const struct sb_params *p, const struct sb_keyfile *own)
{
    uint64_t key_bytes = p->records * p->key_bytes, value_bytes = p->records * p->value_bytes;

    if (own && own->header) {
        key_bytes = own->header->key_bytes_total;
        if (own->header->has_values)
            value_bytes = own->header->value_bytes_total;
    }
    return key_bytes + value_bytes;
}

void sb_job_open_args(const struct sb_job *job, const struct sb_spec *spec,
                      const struct sb_keyfile *own, struct sb_open *args)
{
    const struct sb_params *p = &job->params;

    *args = (struct sb_open){
        .dir = job->dir,
        .mode = SB_CREATE,
        .level = (enum sb_level)p->durability,
        .profile = (enum sb_profile)p->profile,
        .options = spec->options,
        .expected_records = p->records,
        .expected_bytes = planned_bytes(p, own),
        .batch_records = p->batch > p->load_batch ? p->batch : p->load_batch,
        .cache_bytes = spec->has_cache ? spec->cache_bytes : p->cache_bytes,
        .map_bytes = p->map_bytes,
    };
}
