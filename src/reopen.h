/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reopen.h -- the scenarios `open` and `open-killed`: how long a filled store takes from the call
 * of open to its first value, after a clean close and after kill -9 in the middle of commits.
 */
#ifndef SB_REOPEN_H
#define SB_REOPEN_H

#include "job.h"
#include "phase.h"

struct sb_reopen {
    struct sb_phase *phase;     /* with an open store */
    const struct sb_job *job;   /* of this repeat */
    const struct sb_open *args; /* as the store was opened */
};

/* Runs SB_OPEN or SB_OPEN_KILLED: `job->params.opens` times. Leaves the store open. The process
 * that is killed puts the values again that are there already, so that the contents are the same
 * whichever of its commits survive. */
int sb_reopen_run(const struct sb_reopen *reopen, enum sb_scenario scenario,
                  struct sb_phase_result *result) SB_MUST_CHECK;

/* The process that is killed: reads a job from standard input, commits until it dies, and writes a
 * byte to standard output once it has made `commits` commits. */
int sb_reopen_writer_main(void);

#endif
