/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * job.h -- what the process of one repeat is told: one chain on one store, as JSON on its standard
 * input.
 */
#ifndef SB_JOB_H
#define SB_JOB_H

#include "keyfile.h"
#include "params.h"
#include "scenario.h"
#include "spec.h"

#include <jansson.h>

enum { SB_CHAIN_SCENARIOS_MAX = 16 };

struct sb_job {
    const char *module_path; /* borrowed, from the document when it was read */
    const char *label;
    const char *dir;       /* of the store; must not exist yet */
    const char *keys_path; /* a packed key file (keyfile.h), or NULL */
    uint64_t seed;
    struct sb_params params;
    enum sb_scenario scenarios[SB_CHAIN_SCENARIOS_MAX];
    size_t scenario_count;
    /* State of the data set (dataset.h), for a process that goes on with a filled store. */
    uint64_t overwrites, deletes;
    bool counting; /* runs under a tracer that counts system calls (counting.h) */
};

/* A new document; json_decref it. */
json_t *sb_job_to_json(const struct sb_job *job);

/* Fills the job from a document, which must outlive it. */
int sb_job_from_json(struct sb_job *job, const json_t *document) SB_MUST_CHECK;

/* What to open the job's store with; `spec` is the job's label, parsed, and `own` its key file or
 * NULL. The mode is SB_CREATE. */
void sb_job_open_args(const struct sb_job *job, const struct sb_spec *spec,
                      const struct sb_keyfile *own, struct sb_open *args);

/* Opens the job's key file, if it has one: else *own is closed, which data sets take for none. */
int sb_job_open_keys(const struct sb_job *job, struct sb_keyfile *own) SB_MUST_CHECK;

/* All parameters with their result keys, as a new object. */
json_t *sb_params_to_json(const struct sb_params *params);

#endif
