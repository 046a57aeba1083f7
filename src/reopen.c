/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reopen.c -- see reopen.h.
 */
#include "reopen.h"

#include "check.h"
#include "jsonx.h"
#include "paths.h"
#include "spec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITER_LIMIT_MS = 30000 };

/* ---- the writer that dies ----------------------------------------------------------------- */

/* What the writer holds: freed by its death. */
struct writer {
    struct sb_job job;
    struct sb_registry registry;
    struct sb_spec spec;
    struct sb_keyfile own;
    struct sb_store_handle handle;
};

static int open_for_writer(struct writer *w)
{
    struct sb_open args;
    int rc = sb_job_open_keys(&w->job, &w->own);

    if (rc)
        return rc;
    sb_registry_load_module(&w->registry, w->job.module_path);
    rc = sb_spec_parse(&w->spec, &w->registry, w->job.label);
    if (rc)
        return rc;
    sb_job_open_args(&w->job, &w->spec, w->own.header ? &w->own : NULL, &args);
    args.mode = SB_REOPEN;
    return sb_store_open(&w->handle, w->spec.entry->driver, &args);
}

/* Commits for ever. */
static int write_until_killed(struct writer *w)
{
    struct sb_dataset data;
    struct sb_ring ring;
    struct sb_span span = {.handle = &w->handle,
                           .session = w->handle.session,
                           .ring = &ring,
                           .count = 1,
                           .batch = w->job.params.batch};
    bool told = false;
    int rc = 0;

    sb_dataset_init(&data, &w->job.params, w->job.seed, w->own.header ? &w->own : NULL);
    data.overwrites = w->job.overwrites;
    data.deletes = w->job.deletes;
    sb_ring_init(&ring, &data);
    for (uint64_t i = 0; !rc; i++) {
        uint64_t id = sb_dataset_live_at(&data, sb_mix64(i) % sb_dataset_live(&data));

        sb_ring_set_write(&ring, 0, &data, id, sb_dataset_version(&data, id));
        rc = sb_span_put(&span);
        if (!rc && !told && span.commits >= w->job.params.commits) {
            told = true;
            if (write(STDOUT_FILENO, "r", 1) != 1)
                break;
        }
    }
    return rc;
}

int sb_reopen_writer_main(void)
{
    json_t *document = json_loadf(stdin, 0, NULL);
    struct writer w = {.own = {0}};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!document || sb_job_from_json(&w.job, document))
        return 2;
    if (open_for_writer(&w) || write_until_killed(&w))
        (void)fprintf(stderr, "storebench: %s\n", sb_error_last()->text);
    return 1; /* a writer that is not killed has failed */
}

/* ---- killing it --------------------------------------------------------------------------- */

static void become_writer(int job_fd, int told_fd)
{
    if (dup2(job_fd, STDIN_FILENO) < 0 || dup2(told_fd, STDOUT_FILENO) < 0)
        _exit(127);
    (void)execl(sb_program_path(), "storebench", "writer-process", (char *)NULL);
    _exit(127);
}

/* True once the writer has said that it made its commits. */
static bool wait_until_told(int told_fd)
{
    struct pollfd poller = {.fd = told_fd, .events = POLLIN};
    char byte;

    return poll(&poller, 1, WRITER_LIMIT_MS) > 0 && read(told_fd, &byte, 1) == 1;
}

static int kill_a_writer(const struct sb_reopen *reopen)
{
    struct sb_job job = *reopen->job;
    int to[2] = {-1, -1}, from[2] = {-1, -1}, status = 0;
    json_t *document;
    bool told;
    pid_t pid;

    job.overwrites = reopen->phase->data->overwrites;
    job.deletes = reopen->phase->data->deletes;
    if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
        return sb_error_errno(errno, "pipe");
    pid = fork();
    if (pid == 0)
        become_writer(to[0], from[1]);
    (void)close(to[0]);
    (void)close(from[1]);
    document = sb_job_to_json(&job);
    (void)sb_json_write_line(to[1], document); /* a writer that died says nothing below */
    json_decref(document);
    (void)close(to[1]);
    told = pid > 0 && wait_until_told(from[0]);
    (void)close(from[0]);
    if (pid > 0) {
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    if (!told || !WIFSIGNALED(status))
        return sb_error_set(SB_ERR_FAILED, status,
                            "the process that was to be killed did not get "
                            "to write");
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------ */

/* Opens the store and gets one value, on the clock. */
static int open_and_get(const struct sb_reopen *reopen, const struct sb_open *args,
                        struct sb_phase_result *result)
{
    struct sb_store_handle *h = reopen->phase->handle;
    struct sb_ring *ring = reopen->phase->ring;
    struct sb_span span = {.handle = h, .ring = ring, .count = 1, .batch = 1};
    uint64_t index = sb_mix64(result->ops) % sb_dataset_live(reopen->phase->data);
    int rc;

    sb_ring_set_read(ring, 0, reopen->phase->data, sb_dataset_live_at(reopen->phase->data, index));
    sb_report_release(&h->report);
    sb_stopwatch_start(&result->watch);
    rc = sb_store_open(h, h->driver, args);
    span.session = h->session;
    if (!rc)
        rc = sb_span_get(&span);
    (void)sb_stopwatch_stop(&result->watch);
    result->ops += !rc;
    if (!rc && (span.missing || span.wrong))
        rc = sb_check_explain(&span);
    return rc;
}

int sb_reopen_run(const struct sb_reopen *reopen, enum sb_scenario scenario,
                  struct sb_phase_result *result)
{
    struct sb_store_handle *h = reopen->phase->handle;
    bool killed = scenario == SB_OPEN_KILLED;
    struct sb_open args = *reopen->args;
    int rc = 0;

    *result = (struct sb_phase_result){0};
    if (killed && h->report.level_kept == SB_LEVEL_NONE)
        return sb_error_set(SB_ERR_UNSUPPORTED, 0,
                            "%s promises nothing after a crash at durability 'none'",
                            h->driver->name);
    args.mode = killed && (h->caps & SB_CAP_RECOVERY) ? SB_RECOVER : SB_REOPEN;
    if (reopen->phase->ready)
        reopen->phase->ready(reopen->phase->gap_arg);
    sb_stopwatch_reset(&result->watch);
    for (uint64_t i = 0; i < reopen->job->params.opens && !rc; i++) {
        rc = sb_store_close(h);
        if (!rc && killed)
            rc = kill_a_writer(reopen);
        if (!rc)
            rc = open_and_get(reopen, &args, result);
        if (reopen->phase->gap)
            reopen->phase->gap(reopen->phase->gap_arg, i + 1, reopen->job->params.opens);
    }
    result->unclocked_ns = sb_stopwatch_unclocked_ns(&result->watch);
    return rc;
}
