/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tracer.c -- see tracer.h.
 *
 * Everything that is traced dies with this process (PTRACE_O_EXITKILL), and this process dies with
 * the runner. Threads of a process share its descriptors; a child starts with a copy of them.
 */
#include "tracer.h"

#include "counting.h"
#include "error.h"
#include "jsonx.h"
#include "mem.h"
#include "paths.h"
#include "repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Of the signal in a system call stop, with PTRACE_O_TRACESYSGOOD. */
enum { SYSCALL_STOP = SIGTRAP | 0x80 };

struct process {
    pid_t id;
    struct sb_descriptors descriptors;
    size_t threads;
    struct process *next;
};

struct task {
    pid_t id;
    struct process *process;
    struct sb_system_call call;
    bool in_call; /* its entry was seen */
};

struct tracer {
    pid_t child; /* the repeat */
    struct sb_flushcount count;
    struct process *processes;
    struct task *tasks; /* owned */
    size_t task_count;
};

/* ---- tasks -------------------------------------------------------------------------------- */

static struct task *find_task(struct tracer *t, pid_t id)
{
    for (size_t i = 0; i < t->task_count; i++)
        if (t->tasks[i].id == id)
            return &t->tasks[i];
    return NULL;
}

static struct process *find_process(const struct tracer *t, pid_t id)
{
    struct process *p = t->processes;

    while (p && p->id != id)
        p = p->next;
    return p;
}

/* The process that a thread belongs to, and that one's parent; 0 for what cannot be read. */
static void look_up(pid_t id, pid_t *processp, pid_t *parentp)
{
    char path[64], line[128];
    FILE *file;

    *processp = *parentp = 0;
    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)id);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "Tgid:", 5) == 0)
            *processp = (pid_t)strtol(line + 5, NULL, 10);
        if (strncmp(line, "PPid:", 5) == 0)
            *parentp = (pid_t)strtol(line + 5, NULL, 10);
    }
    if (file)
        (void)fclose(file);
}

static struct process *add_process(struct tracer *t, pid_t id, pid_t parent_id)
{
    const struct process *parent = find_process(t, parent_id);
    struct process *p = sb_alloc(1, sizeof(*p));

    p->id = id;
    if (parent)
        sb_descriptors_copy(&p->descriptors, &parent->descriptors);
    p->next = t->processes;
    t->processes = p;
    return p;
}

/* A thread or process that is new; the event of its parent and its own first stop come in any
 * order. It is stopped, or its parent still is, so that its parent's descriptors are what it got.
 */
static struct task *adopt(struct tracer *t, pid_t id)
{
    struct task *task = find_task(t, id);
    pid_t process_id, parent_id;
    struct process *p;

    if (task)
        return task;
    look_up(id, &process_id, &parent_id);
    p = find_process(t, process_id);
    if (!p)
        p = add_process(t, process_id ? process_id : id, parent_id);
    p->threads++;
    t->tasks = sb_grow(t->tasks, t->task_count + 1, sizeof(*t->tasks));
    task = &t->tasks[t->task_count++];
    *task = (struct task){.id = id, .process = p};
    return task;
}

static void drop_process(struct tracer *t, struct process *gone)
{
    struct process **link = &t->processes;

    while (*link != gone)
        link = &(*link)->next;
    *link = gone->next;
    sb_descriptors_release(&gone->descriptors);
    free(gone);
}

static void drop_task(struct tracer *t, pid_t id)
{
    struct task *task = find_task(t, id);

    if (!task)
        return;
    if (--task->process->threads == 0)
        drop_process(t, task->process);
    *task = t->tasks[--t->task_count];
}

/* An exec ends all other threads of the process, and whichever made it goes on under the process's
 * own number. */
static void note_exec(struct tracer *t, pid_t id)
{
    struct task *task = adopt(t, id);
    struct process *p = task->process;

    for (size_t i = t->task_count; i-- > 0;)
        if (t->tasks[i].process == p && t->tasks[i].id != id)
            drop_task(t, t->tasks[i].id);
    sb_descriptors_exec(&p->descriptors);
}

/* ---- system calls ------------------------------------------------------------------------- */

/* Word by word: the one way into another process that is there wherever ptrace is. */
static void hand_over(const struct tracer *t, pid_t id, uint64_t address)
{
    const struct sb_flush_totals *totals = &t->count.totals;
    const char *from = (const char *)totals;
    char *to = (char *)(uintptr_t)address;

    for (size_t at = 0; at < sizeof(*totals); at += sizeof(long)) {
        long word;

        memcpy(&word, from + at, sizeof(word));
        if (ptrace(PTRACE_POKEDATA, id, to + at, word))
            return;
    }
}

static void take_mark(struct tracer *t, const struct task *task)
{
    switch (task->call.args[1]) {
    case SB_COUNTING_BEGIN:
        sb_flushcount_begin(&t->count);
        break;
    case SB_COUNTING_START:
        sb_flushcount_start(&t->count);
        break;
    case SB_COUNTING_STOP:
        sb_flushcount_stop(&t->count);
        break;
    case SB_COUNTING_FETCH:
        hand_over(t, task->id, task->call.args[2]);
        break;
    default:
        sb_flushcount_end(&t->count);
    }
}

/* struct open_how begins with its flags. */
static uint64_t flags_of_openat2(const struct task *task)
{
    const char *from = (const char *)(uintptr_t)task->call.args[2];
    long word;

    errno = 0;
    word = ptrace(PTRACE_PEEKDATA, task->id, from, NULL);
    return errno ? 0 : (uint64_t)(unsigned long)word;
}

static void enter(struct tracer *t, struct task *task, const struct __ptrace_syscall_info *info)
{
    struct sb_system_call *call = &task->call;

    *call = (struct sb_system_call){.number = info->entry.nr};
    for (size_t i = 0; i < 6; i++)
        call->args[i] = info->entry.args[i];
    task->in_call = true;
    if (call->number == SYS_prctl && (uint32_t)call->args[0] == SB_COUNTING_OPTION) {
        take_mark(t, task);
        return;
    }
    if (call->number == SYS_openat2)
        call->open_flags = flags_of_openat2(task);
    sb_flushcount_enter(&t->count, &task->process->descriptors, call);
}

/* Returns 0, or the errno that says that this kernel cannot tell system calls. */
static int at_system_call(struct tracer *t, pid_t id)
{
    struct __ptrace_syscall_info info;
    struct task *task = adopt(t, id);

    memset(&info, 0, sizeof(info));
    if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof(info), &info) < 0)
        return errno == ESRCH ? 0 : errno; /* it may have been killed meanwhile */
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        enter(t, task, &info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && task->in_call) {
        task->in_call = false;
        sb_flushcount_leave(&t->count, &task->process->descriptors, &task->call, info.exit.rval);
    }
    return 0;
}

/* ---- stops -------------------------------------------------------------------------------- */

static bool stops_a_group(int signal_number)
{
    return signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
           signal_number == SIGTTOU;
}

static void at_event(struct tracer *t, pid_t id, int event)
{
    unsigned long message = 0;

    if (event == PTRACE_EVENT_STOP) {
        (void)adopt(t, id);
        return;
    }
    if (ptrace(PTRACE_GETEVENTMSG, id, NULL, &message))
        return;
    if (event == PTRACE_EVENT_EXEC)
        note_exec(t, id);
    else
        (void)adopt(t, (pid_t)message); /* clone, fork or vfork */
}

/* Looks at a stopped task and lets it go on. */
static int at_stop(struct tracer *t, pid_t id, int status)
{
    int signal_number = WSTOPSIG(status);
    int event = status >> 16;
    int rc = 0;

    if (signal_number == SYSCALL_STOP) {
        rc = at_system_call(t, id);
        signal_number = 0;
    } else if (event) {
        at_event(t, id, event);
        if (event == PTRACE_EVENT_STOP && stops_a_group(signal_number)) {
            (void)ptrace(PTRACE_LISTEN, id, NULL, NULL); /* it stays stopped, as it was told to */
            return 0;
        }
        signal_number = 0;
    }
    /* One that was killed meanwhile tells so by waitpid. */
    (void)ptrace(PTRACE_SYSCALL, id, NULL, (void *)(uintptr_t)(unsigned)signal_number);
    return rc;
}

/* Follows everything until the repeat has ended. Returns 0 or an errno. */
static int follow(struct tracer *t, int *statusp)
{
    for (;;) {
        int status = 0;
        pid_t id = waitpid(-1, &status, __WALL);

        if (id < 0 && errno == EINTR)
            continue;
        if (id < 0)
            return errno;
        if (WIFSTOPPED(status)) {
            int rc = at_stop(t, id, status);

            if (rc)
                return rc;
            continue;
        }
        drop_task(t, id);
        if (id == t->child) {
            *statusp = status;
            return 0;
        }
    }
}

/* ---- beginning and end -------------------------------------------------------------------- */

/* The leak sanitizer stops threads by ptrace, too, and a process has one tracer at most. */
static void turn_off_leak_check(void)
{
    const char *old = getenv("ASAN_OPTIONS");
    char *all = sb_format("%s%sdetect_leaks=0", old ? old : "", old ? ":" : "");

    (void)setenv("ASAN_OPTIONS", all, 1);
    free(all);
}

static void become_repeat(int traced_fd)
{
    char byte;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(traced_fd, &byte, 1) != 1)
        _exit(127);
    turn_off_leak_check();
    (void)execl(sb_program_path(), "storebench", "repeat-process", (char *)NULL);
    _exit(127);
}

/* The child waits until it is traced. Returns 0 or an errno. */
static int start(struct tracer *t)
{
    const unsigned long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
                                  PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
    int traced[2], rc = 0;

    if (pipe2(traced, O_CLOEXEC))
        return errno;
    t->child = fork();
    if (t->child == 0) {
        (void)close(traced[1]);
        become_repeat(traced[0]);
    }
    if (t->child < 0)
        rc = errno;
    else if (ptrace(PTRACE_SEIZE, t->child, NULL, (void *)options))
        rc = errno;
    else if (write(traced[1], "t", 1) != 1)
        rc = errno;
    (void)close(traced[0]);
    (void)close(traced[1]);
    if (!rc)
        (void)adopt(t, t->child);
    return rc;
}

static void tell_not_applicable(int number)
{
    json_t *end = json_object();

    (void)sb_error_errno(number, "this system does not let system calls be traced");
    sb_json_text(end, "event", "end");
    sb_json_text(end, "status", "n/a");
    sb_json_text(end, "reason", sb_error_last()->text);
    (void)sb_json_write_line(SB_EVENT_FD, end); /* a runner that is gone does not miss it */
    json_decref(end);
}

static void release(struct tracer *t)
{
    while (t->task_count)
        drop_task(t, t->tasks[t->task_count - 1].id);
    free(t->tasks);
}

/* Ends as the child did, so that the runner sees what it would see without a tracer. */
static int end_like(int status)
{
    const struct rlimit none = {0, 0};

    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    (void)setrlimit(RLIMIT_CORE, &none); /* the child's own core is the one of interest */
    (void)signal(WTERMSIG(status), SIG_DFL);
    (void)raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

int sb_tracer_main(void)
{
    struct tracer t = {.child = -1};
    int status = 0, rc;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    rc = start(&t);
    if (!rc)
        rc = follow(&t, &status);
    if (rc) {
        if (t.child > 0)
            (void)kill(t.child, SIGKILL);
        tell_not_applicable(rc);
    }
    release(&t);
    return rc ? 0 : end_like(status);
}
