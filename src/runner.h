/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * runner.h -- runs one job in a process of its own and watches over it.
 */
#ifndef SB_RUNNER_H
#define SB_RUNNER_H

#include "job.h"

#include <signal.h>

/* Set by the signal handlers of the campaign; a running job is then killed. */
extern volatile sig_atomic_t sb_stop_signal;

struct sb_run_request {
    const struct sb_job *job;
    const char *preload;            /* path of a library, or NULL */
    unsigned environment_pad_bytes; /* moves the stack: one more thing that should not matter */
    /* Called for every event of the repeat (repeat.h) but "end"; the event is borrowed. */
    void (*event)(void *arg, const char *name, const json_t *event);
    void *event_arg;
};

enum sb_run_status {
    SB_RUN_ENDED,   /* *endp is the "end" event */
    SB_RUN_CRASHED, /* the process ended without one */
    SB_RUN_HUNG,    /* killed: no sign of life for hang_limit */
    SB_RUN_STOPPED, /* killed: sb_stop_signal */
};

/* Runs the job to its end. *endp is a new reference for SB_RUN_ENDED, else NULL; for SB_RUN_CRASHED
 * and SB_RUN_HUNG the error's text says what happened. Whatever the process had started in its
 * process group is gone when this returns. */
enum sb_run_status sb_runner_run(const struct sb_run_request *request, json_t **endp);

#endif
