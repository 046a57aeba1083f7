/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * phase.h -- runs one scenario on an open store: prepares spans, clocks them, checks what they
 * returned, and stops at the planned count or time.
 */
#ifndef SB_PHASE_H
#define SB_PHASE_H

#include "loop.h"
#include "scenario.h"
#include "stopwatch.h"

struct sb_phase_result {
    uint64_t ops;     /* puts, gets or records scanned, while clocked */
    uint64_t commits; /* commit units while clocked; writes only */
    bool cut;         /* stopped by phase_limit before the planned count */
    struct sb_stopwatch watch;
    uint64_t unclocked_ns;
    uint64_t warmup_ops, warmup_ns;
    uint64_t missing, wrong; /* found by the checks; not judged for SB_CAP_DISCARDS */
};

struct sb_phase {
    struct sb_store_handle *handle;
    struct sb_dataset *data; /* kept up to date with what was written */
    const struct sb_params *params;
    struct sb_ring *ring;
    struct sb_recorder *recorder;
    /* Called in gaps, at most every SB_PHASE_GAP_NS; may be NULL. */
    void (*gap)(void *arg, uint64_t done, uint64_t planned);
    void *gap_arg;
    /* Called once when the warm-up is over, right before the clock starts; may be NULL. */
    void (*ready)(void *arg);
};

enum { SB_PHASE_GAP_NS = 100 * 1000 * 1000 };

/* Runs `scenario`. A value that is wrong, missing, twice or out of order is SB_ERR_CORRUPT with a
 * text that tells the first such record. The result is valid up to the failure. */
int sb_phase_run(struct sb_phase *phase, enum sb_scenario scenario,
                 struct sb_phase_result *result) SB_MUST_CHECK;

/* Fills the store outside any measurement, in the order that `params->load` names, from record
 * number `from` of that order on. SB_ERR_FAILED with "timeout" in its text after load_limit. */
int sb_phase_load(struct sb_phase *phase, enum sb_load_order order, uint64_t from) SB_MUST_CHECK;

/* Reads the whole store and compares it with the data set. */
int sb_phase_digest(struct sb_phase *phase, struct sb_digest *digest) SB_MUST_CHECK;

/* True after an error that a limit of time caused. */
bool sb_phase_timed_out(void);

#endif
