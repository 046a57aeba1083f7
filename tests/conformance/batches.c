/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * batches.c -- commit units and sessions: what is visible when, what an abort undoes, and several
 * sessions at the same time where the driver declares them.
 */
#include "conformance.h"

#include "../../src/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A key that the model has no number for. */
static struct sb_slice extra_key(const struct test *t, struct key_buffer *buffer)
{
    memset(buffer->bytes, '9', t->key_bytes);
    return slice_of(buffer->bytes, t->key_bytes);
}

void group_batches(struct test *t)
{
    uint64_t quarter = scaled(t, 100);
    struct model model = model_new(t, 4 * quarter, true);

    test_begin(t, SB_WRITE); /* an empty unit */
    test_commit(t, SB_WRITE);
    expect_count(t, HERE, 0);
    /* Every size from 1 on: all of a unit is visible after it. */
    for (uint64_t id = 0, size = 1; id < model.count; size++) {
        test_begin(t, SB_WRITE);
        for (uint64_t i = 0; i < size && id < model.count; i++)
            model_put(t, &model, id++);
        test_commit(t, SB_WRITE);
        model_verify_gets(t, HERE, &model);
    }
    /* Puts and deletes of the same records in one unit: the last one counts. */
    test_begin(t, SB_WRITE);
    for (uint64_t id = 0; id < quarter; id++) {
        model_del(t, &model, id);
        if (id % 2)
            model_put(t, &model, id);
        model_put(t, &model, id + quarter);
        if (id % 3 == 0)
            model_del(t, &model, id + quarter);
    }
    test_commit(t, SB_WRITE);
    model_verify(t, HERE, &model);
    test_begin(t, SB_READ); /* an empty one for reading */
    test_commit(t, SB_READ);
    if (test_has(t, SB_CAP_PERSISTENT)) {
        test_reopen(t);
        model_verify(t, HERE, &model);
    }
    model_free(&model);
}

void group_own_writes(struct test *t)
{
    struct model model = model_new(t, 200, true);
    struct key_buffer key;
    struct value_buffer value;

    model_load(t, &model, 0, 100);
    test_begin(t, SB_WRITE);
    for (uint64_t id = 0; id < 200; id++) {
        if (id % 4 == 1) {
            model_del(t, &model, id);
            test_expect_miss(t, HERE, model_key(t, id, &key));
        }
        if (id % 4 == 3)
            continue;
        model_put(t, &model, id);
        test_expect(t, HERE, model_key(t, id, &key),
                    model_value(&model, id, model.versions[id], &value));
    }
    test_expect_miss(t, HERE, extra_key(t, &key));
    test_commit(t, SB_WRITE);
    model_verify(t, HERE, &model);
    model_free(&model);
}

/* ---- abort -------------------------------------------------------------------------------- */

static void abort_unit(struct test *t)
{
    OK(t, sb_store_abort(&t->handle, t->session));
}

/* Overwrites, deletes and inserts a third of the records each. */
static void change_all(struct test *t, struct model *model, uint64_t count)
{
    for (uint64_t id = 0; id < count; id++) {
        if (id % 3 == 1)
            model_del(t, model, id);
        else
            model_put(t, model, id);
    }
}

void group_abort(struct test *t)
{
    struct model model = model_new(t, 450, true), undone;
    unsigned char *large = sb_alloc(1, 100000);
    struct key_buffer key;

    test_begin(t, SB_WRITE); /* in an empty store */
    test_put(t, model_key(t, 0, &key), text("never there"));
    abort_unit(t);
    expect_count(t, HERE, 0);
    model_load(t, &model, 0, 300);
    test_begin(t, SB_WRITE); /* nothing to undo */
    abort_unit(t);
    for (int i = 0; i < 3; i++) {
        undone = model_copy(&model);
        test_begin(t, SB_WRITE);
        change_all(t, &undone, 450);
        test_put(t, extra_key(t, &key), slice_of(large, 100000));
        abort_unit(t);
        model_free(&undone);
        model_verify(t, HERE, &model);
        /* The next unit starts from there. */
        test_begin(t, SB_WRITE);
        model_put(t, &model, (uint64_t)i);
        test_commit(t, SB_WRITE);
        model_verify(t, HERE, &model);
    }
    test_begin(t, SB_WRITE);
    change_all(t, &model, 450);
    test_commit(t, SB_WRITE);
    model_verify(t, HERE, &model);
    test_begin(t, SB_WRITE);
    test_put(t, extra_key(t, &key), text("never there"));
    abort_unit(t);
    test_reopen(t);
    model_verify(t, HERE, &model);
    free(large);
    model_free(&model);
}

/* ---- sessions in turn --------------------------------------------------------------------- */

void group_sessions(struct test *t)
{
    struct model model = model_new(t, scaled(t, 500), true);
    struct sb_session *first = t->session, *second;
    struct sb_slice one = {NULL, 0}, other = {NULL, 0};
    struct key_buffer key;

    model_load(t, &model, 0, model.count);
    OK(t, sb_store_attach(&t->handle, &second));
    OK(t, sb_store_begin(&t->handle, first, SB_READ));
    OK(t, sb_store_begin(&t->handle, second, SB_READ));
    for (uint64_t id = 0; id < model.count; id++) {
        uint64_t far = model.count - 1 - id;

        OK(t, sb_store_get(&t->handle, first, model_key(t, id, &key), &one));
        OK(t, sb_store_get(&t->handle, second, model_key(t, far, &key), &other));
        CHECK(t, model_value_is(&model, id, 1, one),
              "a value changed when another session called get");
        CHECK(t, model_value_is(&model, far, 1, other), "the second session got a wrong value");
        OK(t, sb_store_get(&t->handle, second, model_key(t, id, &key), &other));
        CHECK(t, model_value_is(&model, id, 1, one) && model_value_is(&model, id, 1, other),
              "two sessions that got the same record differ");
    }
    OK(t, sb_store_commit(&t->handle, first, SB_READ));
    OK(t, sb_store_commit(&t->handle, second, SB_READ));
    /* A session that comes and goes does not disturb the others. */
    sb_store_detach(&t->handle, second);
    OK(t, sb_store_attach(&t->handle, &second));
    t->session = second;
    model_verify(t, HERE, &model);
    t->session = first;
    model_verify(t, HERE, &model);
    sb_store_detach(&t->handle, second);
    model_free(&model);
}

/* Cursors of two sessions, step by step. */
static void scan_interleaved(struct test *t, struct sb_session *const sessions[2],
                             const struct model *model)
{
    struct sb_cursor *cursors[2];
    uint64_t found[2] = {0, 0}, sums[2] = {0, 0}, id = 0;
    int rc[2] = {0, 0};

    for (int i = 0; i < 2; i++) {
        OK(t, sb_store_begin(&t->handle, sessions[i], SB_READ));
        OK(t, sb_store_cursor_open(&t->handle, sessions[i], &cursors[i]));
    }
    for (int step = 0; !rc[0] || !rc[1]; step++) {
        int i = step % 3 == 0; /* one goes twice as fast */
        struct sb_slice key = {NULL, 0}, value = {NULL, 0};

        rc[i] = rc[i] ? rc[i] : sb_store_cursor_next(&t->handle, cursors[i], &key, &value);
        if (rc[i])
            continue;
        CHECK(t,
              sb_key_read(key.data, key.size_bytes, &id) && id < model->count &&
                  model_value_is(model, id, model->versions[id], value),
              "a cursor returns a wrong record when two are open");
        found[i]++;
        sums[i] += id;
        CHECK(t, found[i] <= model->count, "a cursor does not end when two are open");
    }
    for (int i = 0; i < 2; i++) {
        RETURNS(t, SB_NOTFOUND, rc[i]);
        CHECK(t, found[i] == model->count && sums[i] == model->count * (model->count - 1) / 2,
              "cursor %d finds %llu records when two are open", i, (unsigned long long)found[i]);
        sb_store_cursor_close(&t->handle, cursors[i]);
        OK(t, sb_store_commit(&t->handle, sessions[i], SB_READ));
    }
}

/* One session writes, another reads, in turn. */
void group_writers(struct test *t)
{
    struct model model = model_new(t, scaled(t, 300), true);
    struct sb_session *sessions[2] = {t->session, NULL};
    struct sb_slice value = {NULL, 0};
    struct key_buffer key;

    OK(t, sb_store_attach(&t->handle, &sessions[1]));
    for (int round = 0; round < 6; round++) {
        t->session = sessions[round % 2];
        test_begin(t, SB_WRITE);
        change_all(t, &model, model.count);
        test_commit(t, SB_WRITE);
        t->session = sessions[!(round % 2)];
        model_verify(t, HERE, &model);
    }
    model_load(t, &model, 0, model.count);
    scan_interleaved(t, sessions, &model);
    /* What a session got stays as it was while another one writes. */
    for (uint64_t id = 0; id < model.count; id += 7) {
        uint32_t version = model.versions[id];

        t->session = sessions[0];
        test_begin(t, SB_READ);
        OK(t, sb_store_get(&t->handle, sessions[0], model_key(t, id, &key), &value));
        t->session = sessions[1];
        test_begin(t, SB_WRITE);
        model_put(t, &model, id);
        test_commit(t, SB_WRITE);
        CHECK(t, model_value_is(&model, id, version, value),
              "a value changed when another session wrote");
        t->session = sessions[0];
        test_commit(t, SB_READ);
    }
    model_verify(t, HERE, &model);
    sb_store_detach(&t->handle, sessions[1]);
    model_free(&model);
}

/* A bracket for reading sees the state at its begin, whatever is committed meanwhile. */
void group_snapshot(struct test *t)
{
    struct model model = model_new(t, 600, true), before;
    struct sb_session *reader = t->session, *writer;
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};
    struct sb_cursor *cursor;
    struct key_buffer buffer;
    uint64_t id = 0, found = 0;

    OK(t, sb_store_attach(&t->handle, &writer));
    model_load(t, &model, 0, 400);
    before = model_copy(&model);
    OK(t, sb_store_begin(&t->handle, reader, SB_READ));
    t->session = writer;
    test_begin(t, SB_WRITE);
    change_all(t, &model, 450);
    test_commit(t, SB_WRITE);
    model_verify(t, HERE, &model); /* for the writer it is there */
    model_load(t, &model, 450, 600);
    for (uint64_t i = 0; i < before.count; i++) {
        int rc = sb_store_get(&t->handle, reader, model_key(t, i, &buffer), &value);

        RETURNS(t, before.versions[i] ? SB_OK : SB_NOTFOUND, rc);
        CHECK(t, rc || model_value_is(&before, i, before.versions[i], value),
              "record %llu changed inside a bracket for reading", (unsigned long long)i);
    }
    OK(t, sb_store_cursor_open(&t->handle, reader, &cursor));
    while (sb_store_cursor_next(&t->handle, cursor, &key, &value) == 0) {
        CHECK(t,
              sb_key_read(key.data, key.size_bytes, &id) && id < before.count &&
                  model_value_is(&before, id, before.versions[id], value),
              "a cursor sees a later commit");
        found++;
    }
    CHECK(t, found == 400, "a cursor sees %llu records, 400 were there at begin",
          (unsigned long long)found);
    sb_store_cursor_close(&t->handle, cursor);
    OK(t, sb_store_commit(&t->handle, reader, SB_READ));
    t->session = reader;
    model_verify(t, HERE, &model); /* the next bracket sees it */
    sb_store_detach(&t->handle, writer);
    model_free(&before);
    model_free(&model);
}

/* ---- sessions in threads ------------------------------------------------------------------ */

enum { THREADS = 3 };

struct worker {
    struct test test; /* with the worker's session */
    struct model model;
    uint64_t first, end; /* records of its own; none for a reader */
    atomic_int *writing; /* workers that still write */
};

/* Reads the shared records until the writers are done, three times at least. */
static void *read_shared(void *arg)
{
    struct worker *w = arg;

    for (int round = 0; round < 3 || atomic_load(w->writing); round++)
        model_verify_gets(&w->test, HERE, &w->model);
    return NULL;
}

static void *write_own(void *arg)
{
    struct worker *w = arg;
    struct test *t = &w->test;

    model_load(t, &w->model, w->first, w->end);
    for (int round = 0; round < 5; round++) {
        for (uint64_t id = w->first; id < w->end;) {
            test_begin(t, SB_WRITE);
            for (int i = 0; i < 20 && id < w->end; i++, id++) {
                if ((id + (uint64_t)round) % 5)
                    model_put(t, &w->model, id);
                else
                    model_del(t, &w->model, id);
            }
            test_commit(t, SB_WRITE);
        }
    }
    (void)atomic_fetch_sub(w->writing, 1);
    return NULL;
}

/* Two sessions read; where writers are allowed, two more of them write records of their own. */
void group_threads(struct test *t)
{
    bool writers = test_has(t, SB_CAP_WRITERS);
    atomic_int writing = writers ? THREADS - 1 : 0;
    uint64_t shared = scaled(t, 600), own = scaled(t, 300);
    struct model model = model_new(t, shared + (THREADS - 1) * own, true);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    model_load(t, &model, 0, shared);
    for (unsigned i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];

        *w = (struct worker){.test = *t, .model = model_copy(&model), .writing = &writing};
        if (i)
            OK(t, sb_store_attach(&t->handle, &w->test.session));
        if (i && writers) {
            w->first = shared + (i - 1) * own;
            w->end = w->first + own;
        } else {
            w->model.count = shared; /* others write what is behind */
        }
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(t,
              pthread_create(&threads[i], NULL, workers[i].end ? write_own : read_shared,
                             &workers[i]) == 0,
              "no thread");
    for (unsigned i = 0; i < THREADS; i++) {
        struct worker *w = &workers[i];

        CHECK(t, pthread_join(threads[i], NULL) == 0, "a thread cannot be joined");
        for (uint64_t id = w->first; id < w->end; id++)
            model.versions[id] = w->model.versions[id];
        if (i)
            sb_store_detach(&t->handle, w->test.session);
        model_free(&w->model);
    }
    model_verify(t, HERE, &model);
    if (test_has(t, SB_CAP_PERSISTENT)) {
        test_reopen(t);
        model_verify(t, HERE, &model);
    }
    model_free(&model);
}
