/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * bulk.c -- many records: load, scan, seek, append, churn and random operations against the model;
 * then what a store tells about itself.
 */
#include "conformance.h"

#include "../../src/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_persistent(const struct test *t)
{
    return test_has(t, SB_CAP_PERSISTENT);
}

void group_load(struct test *t)
{
    struct model model = model_new(t, scaled(t, LOAD_RECORDS), false);
    struct key_buffer key;

    model_load(t, &model, 0, model.count);
    model_verify(t, HERE, &model);
    test_begin(t, SB_READ);
    for (uint64_t id = model.count; id < 2 * model.count; id++)
        test_expect_miss(t, HERE, model_key(t, id, &key));
    test_commit(t, SB_READ);
    if (is_persistent(t)) {
        test_reopen(t);
        model_verify(t, HERE, &model);
        test_reopen(t); /* without a change in between */
        model_verify_scan(t, HERE, &model);
    }
    model_free(&model);
}

/* ---- seek --------------------------------------------------------------------------------- */

struct seeker {
    struct test *t;
    struct sb_cursor *cursor;
    const struct model *model; /* holds the even numbers */
};

static void expect_at(struct seeker *s, uint64_t id, struct sb_slice key, struct sb_slice value)
{
    struct key_buffer expected;
    struct test *t = s->t;

    CHECK(t, same(key, model_key(t, id, &expected)),
          "the cursor is at '%.*s' and should be at %llu", (int)key.size_bytes,
          (const char *)key.data, (unsigned long long)id);
    CHECK(t, model_value_is(s->model, id, 1, value), "a wrong value of record %llu",
          (unsigned long long)id);
}

/* Seeks `target` and expects record `id`, then its followers, or nothing from `count` on. */
static void seek_to(struct seeker *s, struct sb_slice target, uint64_t id)
{
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};
    struct test *t = s->t;

    if (!test_fits(t, target.size_bytes, 0))
        return;
    if (id >= s->model->count) {
        RETURNS(t, SB_NOTFOUND, sb_store_cursor_seek(&t->handle, s->cursor, target, &key, &value));
        return;
    }
    OK(t, sb_store_cursor_seek(&t->handle, s->cursor, target, &key, &value));
    expect_at(s, id, key, value);
    for (uint64_t next = id + 2; next <= id + 6; next += 2) {
        if (next >= s->model->count) {
            RETURNS(t, SB_NOTFOUND, sb_store_cursor_next(&t->handle, s->cursor, &key, &value));
            return;
        }
        OK(t, sb_store_cursor_next(&t->handle, s->cursor, &key, &value));
        expect_at(s, next, key, value);
    }
}

static void seek_numbers(struct seeker *s)
{
    struct test *t = s->t;
    struct key_buffer key;
    uint64_t random = t->seed;

    for (int i = 0; i < 500; i++) {
        uint64_t id = random_below(&random, s->model->count);

        seek_to(s, model_key(t, id, &key), (id + 1) / 2 * 2);
    }
    seek_to(s, model_key(t, 0, &key), 0);
    seek_to(s, model_key(t, s->model->count - 2, &key), s->model->count - 2);
    seek_to(s, model_key(t, s->model->count - 1, &key), s->model->count);
}

/* Keys that no number has: shorter, longer, before all and after all. */
static void seek_others(struct seeker *s)
{
    struct test *t = s->t;
    struct key_buffer key;
    struct sb_slice slice = model_key(t, 1230, &key);

    seek_to(s, slice_of("", 0), 0);
    seek_to(s, text("!"), 0);
    seek_to(s, text("~"), s->model->count);
    seek_to(s, slice_of("\xff\xff", 2), s->model->count);
    seek_to(s, slice_of(slice.data, slice.size_bytes - 1), 1230); /* a prefix of 1230..1239 */
    key.bytes[t->key_bytes] = '\0';
    seek_to(s, slice_of(slice.data, slice.size_bytes + 1), 1232); /* just after 1230 */
    key.bytes[t->key_bytes - 1] = (char)0xff;                     /* after 1239, bytes unsigned */
    seek_to(s, slice_of(slice.data, slice.size_bytes), 1240);
}

void group_seek(struct test *t)
{
    struct model model = model_new(t, 3000, true);
    struct seeker s = {.t = t, .model = &model};
    struct sb_slice found = {NULL, 0}, value = {NULL, 0};
    struct key_buffer key;

    for (uint64_t id = 0; id < model.count;) {
        test_begin(t, SB_WRITE);
        for (int i = 0; i < LOAD_BATCH_RECORDS && id < model.count; i++, id += 2)
            model_put(t, &model, id);
        test_commit(t, SB_WRITE);
    }
    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &s.cursor));
    seek_numbers(&s); /* the first call on the cursor is a seek */
    seek_others(&s);
    /* Without the value, and on after it with one. */
    OK(t, sb_store_cursor_seek(&t->handle, s.cursor, model_key(t, 99, &key), &found, NULL));
    CHECK(t, same(found, model_key(t, 100, &key)), "a seek without value is at another key");
    OK(t, sb_store_cursor_next(&t->handle, s.cursor, &found, &value));
    expect_at(&s, 102, found, value);
    sb_store_cursor_close(&t->handle, s.cursor);
    /* A seek from within a scan, and after its end. */
    OK(t, sb_store_cursor_open(&t->handle, t->session, &s.cursor));
    OK(t, sb_store_cursor_next(&t->handle, s.cursor, &found, &value));
    expect_at(&s, 0, found, value);
    seek_to(&s, model_key(t, 2001, &key), 2002);
    while (sb_store_cursor_next(&t->handle, s.cursor, &found, &value) == 0)
        continue;
    seek_to(&s, model_key(t, 11, &key), 12);
    sb_store_cursor_close(&t->handle, s.cursor);
    test_commit(t, SB_READ);
    model_free(&model);
}

/* ---- append ------------------------------------------------------------------------------- */

static void append_range(struct test *t, struct model *model, uint64_t first, uint64_t end)
{
    struct key_buffer key;
    struct value_buffer value;

    for (uint64_t id = first; id < end;) {
        test_begin(t, SB_WRITE);
        for (int i = 0; i < LOAD_BATCH_RECORDS && id < end; i++, id++) {
            model->versions[id] = 1;
            OK(t, sb_store_append(&t->handle, t->session, model_key(t, id, &key),
                                  model_value(model, id, 1, &value)));
        }
        test_commit(t, SB_WRITE);
    }
}

void group_append(struct test *t)
{
    struct model model = model_new(t, 4000, true);

    append_range(t, &model, 1000, 3000);
    model_verify(t, HERE, &model);
    /* Ordinary puts in front of, between and behind what was appended. */
    model_load(t, &model, 500, 1500);
    model_load(t, &model, 2900, 3100);
    model_verify(t, HERE, &model);
    append_range(t, &model, 3100, 4000);
    model_verify(t, HERE, &model);
    if (is_persistent(t)) {
        test_reopen(t);
        model_verify(t, HERE, &model);
    }
    model_free(&model);
}

/* ---- churn -------------------------------------------------------------------------------- */

/* Loads the records, then overwrites a third of them and deletes another. */
static void churn(struct test *t, struct model *model)
{
    struct sb_permutation order;
    uint64_t third = model->count / 3;

    model_load(t, model, 0, model->count);
    sb_permutation_init(&order, model->count, t->seed + 2);
    for (uint64_t i = 0; i < 2 * third;) {
        test_begin(t, SB_WRITE);
        for (int n = 0; n < LOAD_BATCH_RECORDS && i < 2 * third; n++, i++) {
            if (i % 2)
                model_put(t, model, sb_permutation_at(&order, i));
            else
                model_del(t, model, sb_permutation_at(&order, i));
        }
        test_commit(t, SB_WRITE);
    }
}

/* The digest of what a cursor finds. */
static struct sb_digest scan_digest(struct test *t)
{
    struct sb_digest digest = {0, 0, 0};
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};
    struct sb_cursor *cursor;

    test_begin(t, SB_READ);
    OK(t, sb_store_cursor_open(&t->handle, t->session, &cursor));
    while (sb_store_cursor_next(&t->handle, cursor, &key, &value) == 0)
        sb_digest_add(&digest, key.data, key.size_bytes, value.data, value.size_bytes);
    sb_store_cursor_close(&t->handle, cursor);
    test_commit(t, SB_READ);
    return digest;
}

/* The same operations on the reference store must end in the same digest. */
static void compare_with_reference(struct test *t, uint64_t count, struct sb_digest digest)
{
    const struct sb_registry_entry *entry = sb_registry_find(t->registry, "memory-tree");
    struct test reference = *t;
    struct sb_spec spec;
    struct sb_digest other;
    struct model model;

    if (!entry || entry->driver == t->driver)
        return;
    OK(t, sb_spec_parse(&spec, t->registry, "memory-tree"));
    reference.driver = entry->driver;
    reference.args.options = spec.options;
    reference.args.level = SB_LEVEL_NONE;
    test_make_dir(t, "reference", reference.store_dir);
    reference.args.dir = reference.store_dir;
    test_open(&reference, SB_CREATE);
    model = model_new(&reference, count, true);
    churn(&reference, &model);
    other = scan_digest(&reference);
    test_close(&reference);
    sb_spec_release(&spec);
    model_free(&model);
    CHECK(t,
          digest.records == other.records && digest.low == other.low && digest.high == other.high,
          "the digest differs from that of memory-tree after the same operations");
}

void group_churn(struct test *t)
{
    struct model model = model_new(t, scaled(t, 3000), true);

    churn(t, &model);
    model_verify(t, HERE, &model);
    compare_with_reference(t, model.count, scan_digest(t));
    if (is_persistent(t)) {
        test_reopen(t);
        model_verify(t, HERE, &model);
        model_load(t, &model, 0, model.count); /* everything is there again */
        test_reopen(t);
        model_verify(t, HERE, &model);
    }
    model_free(&model);
}

/* ---- random operations -------------------------------------------------------------------- */

static void random_batch(struct test *t, struct model *model, uint64_t *random)
{
    struct model before = model_copy(model);
    uint64_t operations = random_below(random, 20);
    bool undo = test_has(t, SB_CAP_TXN) && random_below(random, 8) == 0;

    test_begin(t, SB_WRITE);
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t id = random_below(random, model->count);

        if (random_below(random, 3))
            model_put(t, model, id);
        else
            model_del(t, model, id);
    }
    if (undo) {
        OK(t, sb_store_abort(&t->handle, t->session));
        model_free(model);
        *model = before;
        return;
    }
    test_commit(t, SB_WRITE);
    model_free(&before);
}

void group_random(struct test *t)
{
    struct model model = model_new(t, 150, true);
    uint64_t random = t->seed + 3;
    int rounds = is_long() ? 40 : 4, batches = (int)scaled(t, 50);

    for (int round = 0; round < rounds; round++) {
        for (int batch = 0; batch < batches; batch++)
            random_batch(t, &model, &random);
        model_verify(t, HERE, &model);
        if (is_persistent(t) && round % 2 == 0)
            test_reopen(t);
    }
    model_verify(t, HERE, &model);
    model_free(&model);
}

/* ---- sync, settle, counters, report ------------------------------------------------------- */

static void check_counters(struct test *t)
{
    const struct sb_report *report = &t->handle.report;
    size_t before = report->counter_count;

    OK(t, sb_store_counters(&t->handle));
    for (size_t i = before; i < report->counter_count; i++) {
        CHECK(t, report->counters[i].name[0], "a counter has no name");
        for (size_t j = before; j < i; j++)
            CHECK(t, strcmp(report->counters[i].name, report->counters[j].name) != 0,
                  "two counters are named '%s'", report->counters[i].name);
    }
}

void group_upkeep(struct test *t)
{
    uint64_t tenth = scaled(t, 100);
    struct model model = model_new(t, 10 * tenth, true);

    OK(t, sb_store_sync(&t->handle)); /* of an empty store */
    OK(t, sb_store_settle(&t->handle));
    check_counters(t);
    model_load(t, &model, 0, 6 * tenth);
    OK(t, sb_store_sync(&t->handle));
    OK(t, sb_store_sync(&t->handle));
    check_counters(t);
    model_verify(t, HERE, &model);
    model_load(t, &model, 4 * tenth, 10 * tenth);
    OK(t, sb_store_settle(&t->handle));
    OK(t, sb_store_settle(&t->handle));
    model_verify(t, HERE, &model);
    check_counters(t);
    if (is_persistent(t)) {
        test_reopen(t);
        OK(t, sb_store_settle(&t->handle));
        check_counters(t);
        model_verify(t, HERE, &model);
    }
    model_free(&model);
}

static void check_settings(struct test *t)
{
    const struct sb_report *report = &t->handle.report;

    for (size_t i = 0; i < report->setting_count; i++) {
        const struct sb_setting *setting = &report->settings[i];

        CHECK(t, setting->name[0] && setting->value[0], "setting %zu: '%s' = '%s'", i,
              setting->name, setting->value);
        CHECK(t, setting->origin == SB_READ_BACK || setting->origin == SB_REQUESTED,
              "setting '%s' has the origin %d", setting->name, (int)setting->origin);
        for (size_t j = 0; j < i; j++)
            CHECK(t, strcmp(setting->name, report->settings[j].name) != 0,
                  "two settings are named '%s'", setting->name);
    }
    for (size_t i = 0; i < report->note_count; i++)
        CHECK(t, report->notes[i][0] && !strchr(report->notes[i], '\n'),
              "a note is empty or has several lines: '%s'", report->notes[i]);
}

/* Levels that are not declared are refused with a text. */
static void check_undeclared_levels(struct test *t)
{
    struct sb_store_handle handle;
    struct sb_open args = t->args;

    args.mode = SB_CREATE;
    for (int level = 0; level < SB_LEVEL_COUNT; level++) {
        if (t->driver->levels & SB_LEVEL_BIT(level))
            continue;
        args.level = (enum sb_level)level;
        sb_error_clear();
        RETURNS(t, SB_ERR_UNSUPPORTED, sb_store_open(&handle, t->driver, &args));
        CHECK(t, sb_error_last()->text[0], "a level was refused without a text");
        OK(t, sb_store_close(&handle));
        sb_report_release(&handle.report);
    }
}

void group_report(struct test *t)
{
    const struct sb_report *report = &t->handle.report;
    const char *version = t->driver->version();

    CHECK(t, version && version[0], "the version is empty");
    CHECK(t, report->level_kept >= t->args.level && report->level_kept < SB_LEVEL_COUNT,
          "level %d was asked for, %d is kept", (int)t->args.level, (int)report->level_kept);
    CHECK(t, test_has(t, SB_CAP_PERSISTENT) || report->level_kept == SB_LEVEL_NONE,
          "a level is kept without persistence");
    CHECK(t, !(report->caps_lacking & ~t->driver->caps), "0x%x is withdrawn and never declared",
          (unsigned)(report->caps_lacking & ~t->driver->caps));
    check_settings(t);
    check_undeclared_levels(t);
}

/* ---- tools -------------------------------------------------------------------------------- */

static void count_line(const char *line, void *arg)
{
    size_t *lines = arg;

    *lines += line[0] && !strchr(line, '\n');
}

static int run_tool(struct test *t, const char *verb, size_t *linesp)
{
    struct sb_report report = {.print = count_line, .print_arg = linesp};
    struct sb_open args = t->args;
    int rc;

    args.mode = SB_REOPEN;
    *linesp = 0;
    sb_error_clear();
    rc = sb_store_tool(t->driver, &args, verb, &report);
    sb_report_release(&report);
    return rc;
}

void group_tools(struct test *t)
{
    static const char *const verbs[] = {"stat", "verify", "salvage"};
    struct model model = model_new(t, scaled(t, 1000), true);
    size_t lines;

    model_load(t, &model, 0, model.count);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        int rc;

        test_close(t);
        rc = run_tool(t, verbs[i], &lines);
        if (rc == SB_ERR_UNSUPPORTED)
            CHECK(t, sb_error_last()->text[0], "'%s' is refused without a text", verbs[i]);
        else
            RETURNS(t, 0, rc);
        CHECK(t, rc || lines || !strcmp(verbs[i], "salvage"), "'%s' prints nothing", verbs[i]);
        test_open(t, SB_REOPEN);
        model_verify(t, HERE, &model);
    }
    test_close(t);
    RETURNS(t, SB_ERR_UNSUPPORTED, run_tool(t, "nonsense", &lines));
    CHECK(t, sb_error_last()->text[0], "a tool was refused without a text");
    test_open(t, SB_REOPEN);
    model_verify(t, HERE, &model);
    model_free(&model);
}
