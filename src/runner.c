/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * runner.c -- see runner.h.
 */
#include "runner.h"

#include "clock.h"
#include "jsonx.h"
#include "mem.h"
#include "paths.h"
#include "repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile sig_atomic_t sb_stop_signal;

enum {
    POLL_MS = 100,
    EXIT_LIMIT_MS = 10000, /* from "end" to the end of the process */
    LINE_BYTES_MAX = 16 << 20,
    READ_BYTES = 65536,
};

struct child {
    pid_t pid;
    int events_fd;
    char *buffer;
    size_t used_bytes, room_bytes;
    uint64_t heard_ns; /* when it last gave a sign of life */
    json_t *end;
    char doing[64];
};

/* ---- starting ----------------------------------------------------------------------------- */

static void become_repeat(const struct sb_run_request *request, int job_fd, int events_fd)
{
    char *pad = sb_alloc(1, request->environment_pad_bytes + 1);

    memset(pad, 'x', request->environment_pad_bytes);
    (void)setpgid(0, 0);
    /* A library that prints must not reach standard output, which carries results. */
    if (dup2(job_fd, 0) < 0 || dup2(2, 1) < 0)
        _exit(127);
    if (events_fd == SB_EVENT_FD) /* dup2 would leave it close-on-exec */
        (void)fcntl(events_fd, F_SETFD, 0);
    else if (dup2(events_fd, SB_EVENT_FD) < 0)
        _exit(127);
    (void)setenv("STOREBENCH_PAD", pad, 1);
    if (request->preload)
        (void)setenv("LD_PRELOAD", request->preload, 1);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)execl(sb_program_path(), "storebench",
                request->job->counting ? "count-process" : "repeat-process", (char *)NULL);
    _exit(127);
}

static int start(struct child *child, const struct sb_run_request *request)
{
    int job[2], events[2];
    json_t *document;

    if (pipe2(job, O_CLOEXEC))
        return sb_error_errno(errno, "pipe");
    if (pipe2(events, O_CLOEXEC)) {
        (void)close(job[0]);
        (void)close(job[1]);
        return sb_error_errno(errno, "pipe");
    }
    (void)fflush(NULL);
    child->pid = fork();
    if (child->pid == 0)
        become_repeat(request, job[0], events[1]);
    (void)close(job[0]);
    (void)close(events[1]);
    child->events_fd = events[0];
    if (child->pid < 0) {
        (void)close(job[1]);
        return sb_error_errno(errno, "fork");
    }
    (void)setpgid(child->pid, child->pid); /* both sides set it: whoever comes first */
    document = sb_job_to_json(request->job);
    (void)sb_json_write_line(job[1], document); /* a child that died is noticed below */
    json_decref(document);
    (void)close(job[1]);
    child->heard_ns = sb_now_ns();
    return 0;
}

/* ---- listening ---------------------------------------------------------------------------- */

static void take_line(struct child *child, const struct sb_run_request *request, const char *line,
                      size_t bytes)
{
    json_t *event = json_loadb(line, bytes, 0, NULL);
    const char *name = sb_json_get_text(event, "event", "");

    if (strcmp(name, "end") == 0 && !child->end)
        child->end = json_incref(event);
    else if (*name && request->event)
        request->event(request->event_arg, name, event);
    if (strcmp(name, "progress") == 0)
        (void)snprintf(child->doing, sizeof(child->doing), "%s",
                       sb_json_get_text(event, "doing", "?"));
    json_decref(event);
}

static void take_lines(struct child *child, const struct sb_run_request *request)
{
    char *begin = child->buffer;
    char *newline;

    while ((newline = memchr(begin, '\n', child->used_bytes - (size_t)(begin - child->buffer)))) {
        take_line(child, request, begin, (size_t)(newline - begin));
        begin = newline + 1;
    }
    child->used_bytes -= (size_t)(begin - child->buffer);
    memmove(child->buffer, begin, child->used_bytes);
}

/* False at the end of the events, or when a line is too long to be one of ours. */
static bool listen_once(struct child *child, const struct sb_run_request *request)
{
    ssize_t got;

    if (child->room_bytes - child->used_bytes < READ_BYTES) {
        if (child->room_bytes > LINE_BYTES_MAX)
            return false;
        child->room_bytes = child->room_bytes * 2 + READ_BYTES;
        child->buffer = realloc(child->buffer, child->room_bytes);
        if (!child->buffer)
            return false;
    }
    got = read(child->events_fd, child->buffer + child->used_bytes, READ_BYTES);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got == 0)
        return false;
    child->used_bytes += (size_t)got;
    child->heard_ns = sb_now_ns();
    take_lines(child, request);
    return true;
}

/* A process that the library started may hold the events open after the child's death. */
static bool has_died(const struct child *child)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

/* Listens until the events end, the child has told its end, or it has to be killed. */
static enum sb_run_status watch(struct child *child, const struct sb_run_request *request)
{
    struct pollfd poller = {.fd = child->events_fd, .events = POLLIN};
    uint64_t hang_ns = request->job->params.hang_limit_ns;

    while (!child->end) {
        int ready = poll(&poller, 1, POLL_MS);

        if (sb_stop_signal)
            return SB_RUN_STOPPED;
        if (ready > 0 && !listen_once(child, request))
            break;
        if (ready == 0 && has_died(child))
            break;
        if (sb_now_ns() - child->heard_ns > hang_ns)
            return SB_RUN_HUNG;
    }
    return child->end ? SB_RUN_ENDED : SB_RUN_CRASHED;
}

/* ---- ending ------------------------------------------------------------------------------- */

static int wait_for_exit(pid_t pid, int *statusp)
{
    for (int waited_ms = 0; waited_ms < EXIT_LIMIT_MS; waited_ms += 1) {
        const struct timespec pause = {0, 1000000};
        pid_t got = waitpid(pid, statusp, WNOHANG);

        if (got == pid)
            return 0;
        if (got < 0 && errno != EINTR)
            return -1;
        if (sb_stop_signal)
            break;
        (void)nanosleep(&pause, NULL);
    }
    return -1;
}

static void reap(const struct child *child, bool patient, int *statusp)
{
    *statusp = 0;
    if (patient && wait_for_exit(child->pid, statusp) == 0) {
        (void)kill(-child->pid, SIGKILL); /* what the library may have started and left */
        return;
    }
    (void)kill(-child->pid, SIGKILL);
    (void)kill(child->pid, SIGKILL);
    while (waitpid(child->pid, statusp, 0) < 0 && errno == EINTR)
        ;
}

static void explain_crash(const struct child *child, int status)
{
    const char *doing = *child->doing ? child->doing : "start";

    if (WIFSIGNALED(status))
        (void)sb_error_set(SB_ERR_FAILED, WTERMSIG(status), "killed by signal %d (%s) in '%s'",
                           WTERMSIG(status), strsignal(WTERMSIG(status)), doing);
    else
        (void)sb_error_set(SB_ERR_FAILED, WEXITSTATUS(status),
                           "the process ended with exit status %d in '%s'", WEXITSTATUS(status),
                           doing);
}

enum sb_run_status sb_runner_run(const struct sb_run_request *request, json_t **endp)
{
    struct child child = {.events_fd = -1};
    enum sb_run_status run;
    int status = 0;

    *endp = NULL;
    if (start(&child, request)) {
        if (child.events_fd >= 0)
            (void)close(child.events_fd);
        return SB_RUN_CRASHED;
    }
    run = watch(&child, request);
    reap(&child, run == SB_RUN_ENDED || run == SB_RUN_CRASHED, &status);
    if (run == SB_RUN_CRASHED)
        explain_crash(&child, status);
    if (run == SB_RUN_HUNG)
        (void)sb_error_set(SB_ERR_FAILED, 0, "no sign of life for %llu s in '%s'",
                           (unsigned long long)(request->job->params.hang_limit_ns / 1000000000),
                           *child.doing ? child.doing : "start");
    (void)close(child.events_fd);
    free(child.buffer);
    if (run == SB_RUN_ENDED)
        *endp = child.end;
    else
        json_decref(child.end);
    return run;
}
