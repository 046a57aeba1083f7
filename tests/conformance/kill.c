/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * kill.c -- level `process`: a process that commits is killed at a random moment, and every commit
 * that it acknowledged must be there afterwards.
 *
 * What commit number n does is a function of n and the seed, so that the pipe carries numbers only:
 * the writer sends n after commit n returned. At most one further commit can have been under way.
 * Each of its records may have the old or the new state, nothing else; with SB_CAP_TXN all of them
 * have the same one. Later rounds go on with the store that was recovered.
 */
#include "conformance.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_RECORDS = 300, COMMIT_RECORDS_MAX = 30 };

struct stream {
    struct test *t;
    struct model model; /* the version of a record is the number of the commit that put it */
    uint64_t random;
    uint64_t acknowledged; /* number of the last commit that the writer reported */
};

struct commit {
    uint64_t ids[COMMIT_RECORDS_MAX]; /* all different */
    bool deletes[COMMIT_RECORDS_MAX];
    unsigned count;
};

static void make_commit(const struct stream *s, uint64_t number, struct commit *commit)
{
    uint64_t random = s->t->seed + number * SB_GOLDEN;
    struct sb_permutation order;

    sb_permutation_init(&order, s->model.count, random_next(&random));
    commit->count = 1 + (unsigned)random_below(&random, COMMIT_RECORDS_MAX);
    for (unsigned i = 0; i < commit->count; i++) {
        commit->ids[i] = sb_permutation_at(&order, i);
        commit->deletes[i] = random_below(&random, 5) == 0;
    }
}

/* The version that a record has after the commit. */
static uint32_t version_after(const struct commit *commit, unsigned i, uint64_t number)
{
    return commit->deletes[i] ? 0 : (uint32_t)number;
}

/* ---- the writer, which never returns ------------------------------------------------------ */

static void run_commit(const struct stream *s, uint64_t number)
{
    struct test *t = s->t;
    struct commit commit;
    struct key_buffer key;
    struct value_buffer value;

    make_commit(s, number, &commit);
    test_begin(t, SB_WRITE);
    for (unsigned i = 0; i < commit.count; i++) {
        struct sb_slice k = model_key(t, commit.ids[i], &key);
        int rc;

        if (!commit.deletes[i]) {
            test_put(t, k, model_value(&s->model, commit.ids[i], (uint32_t)number, &value));
            continue;
        }
        rc = sb_store_del(&t->handle, t->session, k);
        if (rc != SB_NOTFOUND)
            RETURNS(t, SB_OK, rc);
    }
    test_commit(t, SB_WRITE);
}

static void __attribute__((noreturn))
write_until_killed(struct stream *s, int acks, enum sb_mode mode)
{
    struct test *t = s->t;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    test_open(t, mode);
    for (uint64_t number = s->acknowledged + 1;; number++) {
        run_commit(s, number);
        CHECK(t, write(acks, &number, sizeof(number)) == sizeof(number), "write to the pipe: %s",
              strerror(errno));
    }
}

/* ---- the killer --------------------------------------------------------------------------- */

/* Takes the numbers until `target` (or the end of the pipe); each must follow the last. */
static void read_acks(struct stream *s, int acks, uint64_t target)
{
    struct test *t = s->t;
    uint64_t number;
    ssize_t got;

    while (s->acknowledged < target && (got = read(acks, &number, sizeof(number))) != 0) {
        CHECK(t, got == sizeof(number), "read from the pipe: %s", strerror(errno));
        CHECK(t, number == s->acknowledged + 1, "acknowledgement %llu after %llu",
              (unsigned long long)number, (unsigned long long)s->acknowledged);
        s->acknowledged = number;
    }
}

static void kill_in_round(struct stream *s, enum sb_mode mode)
{
    struct test *t = s->t;
    struct timespec pause = {0, (long)random_below(&s->random, 2000000)};
    uint64_t target = s->acknowledged + 1 + random_below(&s->random, 60);
    int fds[2], status;
    pid_t writer;

    CHECK(t, pipe(fds) == 0, "pipe: %s", strerror(errno));
    writer = fork();
    CHECK(t, writer >= 0, "fork: %s", strerror(errno));
    if (writer == 0) {
        (void)close(fds[0]);
        write_until_killed(s, fds[1], mode);
    }
    (void)close(fds[1]);
    read_acks(s, fds[0], target);
    /* A random moment of a commit, not always the one after an acknowledgement. */
    (void)nanosleep(&pause, NULL);
    (void)kill(writer, SIGKILL);
    CHECK(t, waitpid(writer, &status, 0) == writer, "waitpid: %s", strerror(errno));
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
        CHECK(t, t->outcome->message[0], "the writer ended by itself (wait status 0x%x)",
              (unsigned)status);
        _exit(EXIT_FAILURE); /* the writer has left its message */
    }
    read_acks(s, fds[0], UINT64_MAX);
    (void)close(fds[0]);
}

/* ---- afterwards --------------------------------------------------------------------------- */

/* True for the state after the commit under way, false for the one before it. */
static bool is_new_state(struct stream *s, uint64_t id, uint32_t old, uint32_t new)
{
    struct test *t = s->t;
    struct sb_slice value = {NULL, 0};
    struct key_buffer key;
    int rc = sb_store_get(&t->handle, t->session, model_key(t, id, &key), &value);

    if (rc == SB_NOTFOUND) {
        CHECK(t, !old || !new, "record %llu is lost: acknowledged %u, under way %u",
              (unsigned long long)id, old, new);
        return old != 0;
    }
    OK(t, rc);
    if (new &&model_value_is(&s->model, id, new, value))
        return true;
    CHECK(t, old, "record %llu was deleted and is there again, or is torn", (unsigned long long)id);
    CHECK(t, model_value_is(&s->model, id, old, value),
          "record %llu is neither its version %u nor %u: stale or torn (%zu bytes)",
          (unsigned long long)id, old, new, value.size_bytes);
    return false;
}

/* Finds out how far the commit under way got, and makes that the model's state. */
static void resolve_under_way(struct stream *s)
{
    struct test *t = s->t;
    uint64_t number = s->acknowledged + 1;
    unsigned changed = 0, done = 0;
    struct commit commit;

    make_commit(s, number, &commit);
    test_begin(t, SB_READ);
    for (unsigned i = 0; i < commit.count; i++) {
        uint32_t *version = &s->model.versions[commit.ids[i]];
        uint32_t new = version_after(&commit, i, number);

        if (*version == new)
            continue; /* a delete of what was not there */
        changed++;
        if (!is_new_state(s, commit.ids[i], *version, new))
            continue;
        done++;
        *version = new;
    }
    test_commit(t, SB_READ);
    CHECK(t, !test_has(t, SB_CAP_TXN) || done == 0 || done == changed,
          "a commit under way is there in part: %u of %u records", done, changed);
}

static void apply_acknowledged(struct stream *s, uint64_t first)
{
    struct commit commit;

    for (uint64_t number = first; number <= s->acknowledged; number++) {
        make_commit(s, number, &commit);
        for (unsigned i = 0; i < commit.count; i++)
            s->model.versions[commit.ids[i]] = version_after(&commit, i, number);
    }
}

static int rounds_of(const struct test *t)
{
    if (is_long())
        return 30;
    return t->args.level == SB_LEVEL_PROCESS ? 3 : 1;
}

void group_kill(struct test *t)
{
    enum sb_mode after_kill = test_has(t, SB_CAP_RECOVERY) ? SB_RECOVER : SB_REOPEN;
    struct stream s = {.t = t, .model = model_new(t, KILL_RECORDS, true), .random = t->seed};
    int rounds = rounds_of(t);

    if (t->handle.report.level_kept < SB_LEVEL_PROCESS)
        _exit(EXIT_NOT_APPLICABLE); /* nothing is promised */
    test_close(t);
    test_make_dir(t, "killed", t->store_dir);
    for (int round = 0; round < rounds; round++) {
        uint64_t first = s.acknowledged + 1;

        kill_in_round(&s, round ? SB_REOPEN : SB_CREATE);
        apply_acknowledged(&s, first);
        test_open(t, after_kill);
        resolve_under_way(&s);
        model_verify(t, HERE, &s.model);
        test_close(t);
        /* The number of the commit under way was used, whether it got through or not. */
        s.acknowledged++;
    }
    test_open(t, SB_REOPEN);
    model_verify(t, HERE, &s.model);
    model_free(&s.model);
}
