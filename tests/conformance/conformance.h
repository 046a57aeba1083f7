/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * conformance.h -- what the files of the conformance suite share: the test at hand, its checks, and
 * a model of what the store must hold.
 *
 * A test is one group of checks on one driver, at one level, in a process of its own: a check that
 * fails ends that process, so a group need not clean up before it.
 */
#ifndef SB_CONFORMANCE_H
#define SB_CONFORMANCE_H

#include "../../src/data.h"
#include "../../src/digest.h"
#include "../../src/permutation.h"
#include "../../src/spec.h"
#include "../../src/store.h"

enum {
    MESSAGE_BYTES_MAX = 2048,
    PATH_BYTES_MAX = 4096,
    BATCH_RECORDS_MAX = 512, /* no bracket of the suite holds more puts */
    LOAD_RECORDS = 5000,
    LOAD_BATCH_RECORDS = 100,
    LOAD_VALUE_BYTES = 100,
};

/* Lies in memory that the process of the test shares with its parent. */
struct outcome {
    bool opened;  /* the store was open at least once */
    bool refused; /* SB_ERR_UNSUPPORTED at open */
    char message[MESSAGE_BYTES_MAX];
};

struct test {
    const struct sb_registry *registry;
    const struct sb_driver *driver;
    const char *dir; /* an empty directory of the test's own */
    char store_dir[PATH_BYTES_MAX];
    uint64_t seed;
    size_t key_bytes;    /* of keys made from numbers */
    struct sb_open args; /* for the store in store_dir */
    struct sb_store_handle handle;
    struct sb_session *session; /* the one that the helpers use; the first one after open */
    struct outcome *outcome;
};

/* ---- checks ------------------------------------------------------------------------------- */

enum { EXIT_NOT_APPLICABLE = 77 };

/* Ends the test as failed; the message names file and line. */
void test_fail(struct test *t, const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* The result of a call that must return `expected`. */
void test_result(struct test *t, const char *place, int expected, int rc);

/* The result of a call that must fail, with an error text; clear the error before it. */
void test_refused(struct test *t, const char *place, int rc);

#define TEXT_OF2(x) #x
#define TEXT_OF(x) TEXT_OF2(x)
#define PLACE(call) __FILE__ ":" TEXT_OF(__LINE__) ": " call

#define FAIL(t, ...) test_fail(t, __FILE__, __LINE__, __VA_ARGS__)
#define CHECK(t, condition, ...)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL(t, __VA_ARGS__);                                                                  \
    } while (0)
#define RETURNS(t, expected, call) test_result(t, PLACE(#call), expected, call)
#define OK(t, call) RETURNS(t, SB_OK, call)
#define REFUSED(t, call) (sb_error_clear(), test_refused(t, PLACE(#call), call))

/* The place of a caller's line, for helpers that check on its behalf. */
#define HERE PLACE("")

/* ---- the store ---------------------------------------------------------------------------- */

void test_open(struct test *t, enum sb_mode mode);
void test_close(struct test *t);
void test_reopen(struct test *t); /* closes first */

/* Another empty directory below t->dir. */
void test_make_dir(struct test *t, const char *name, char path[PATH_BYTES_MAX]);

static inline bool test_has(const struct test *t, uint32_t caps)
{
    return (t->handle.caps & caps) == caps;
}

/* Whether the driver's limits allow a record of these sizes. */
bool test_fits(const struct test *t, size_t key_bytes, size_t value_bytes);

struct sb_slice slice_of(const void *data, size_t size_bytes);
struct sb_slice text(const char *string);
bool same(struct sb_slice a, struct sb_slice b);
int slice_compare(struct sb_slice a, struct sb_slice b);

/* Brackets and operations that must succeed; each operation belongs inside a bracket. */
void test_begin(struct test *t, enum sb_txn kind);
void test_commit(struct test *t, enum sb_txn kind);
void test_put(struct test *t, struct sb_slice key, struct sb_slice value);
void test_del(struct test *t, struct sb_slice key);

/* The value of a key must be this one, or there must be none. */
void test_expect(struct test *t, const char *place, struct sb_slice key, struct sb_slice value);
void test_expect_miss(struct test *t, const char *place, struct sb_slice key);

/* The same in a bracket of their own. */
void put_one(struct test *t, struct sb_slice key, struct sb_slice value);
void del_one(struct test *t, struct sb_slice key);
void expect_one(struct test *t, const char *place, struct sb_slice key, struct sb_slice value);
void expect_one_miss(struct test *t, const char *place, struct sb_slice key);

/* A scan must find this many records. */
void expect_count(struct test *t, const char *place, uint64_t records);

/* ---- the model ---------------------------------------------------------------------------- */

/* Records by number. The value of a record is a function of its number and version. */
struct model {
    uint64_t count;     /* numbers are 0..count-1 */
    uint64_t seed;      /* of the values */
    bool varied;        /* sizes vary; else LOAD_VALUE_BYTES */
    uint32_t *versions; /* 0: there is no such record */
};

enum { MODEL_VALUE_BYTES_MAX = 5000 };

/* A key or a value in a buffer of the caller. */
struct key_buffer {
    char bytes[SB_KEY_BYTES_MAX];
};
struct value_buffer {
    unsigned char bytes[MODEL_VALUE_BYTES_MAX];
};

struct model model_new(struct test *t, uint64_t count, bool varied);
struct model model_copy(const struct model *model);
void model_free(struct model *model);

size_t model_value_bytes(const struct model *model, uint64_t id, uint32_t version);
struct sb_slice model_key(const struct test *t, uint64_t id, struct key_buffer *buffer);
struct sb_slice model_value(const struct model *model, uint64_t id, uint32_t version,
                            struct value_buffer *buffer);
/* Whether `value` is the one of that version, to the last byte. */
bool model_value_is(const struct model *model, uint64_t id, uint32_t version,
                    struct sb_slice value);

/* Operations on store and model alike, inside a bracket. `put` writes the next version. */
void model_put(struct test *t, struct model *model, uint64_t id);
void model_del(struct test *t, struct model *model, uint64_t id);

/* Puts the records first..end-1 in a random order, LOAD_BATCH_RECORDS in a bracket. */
void model_load(struct test *t, struct model *model, uint64_t first, uint64_t end);

struct sb_digest model_digest(const struct test *t, const struct model *model);

/* The store holds exactly what the model says: each record by `get` in a random order, and each
 * once by a cursor, in byte order if the store is ordered. */
void model_verify(struct test *t, const char *place, const struct model *model);
void model_verify_gets(struct test *t, const char *place, const struct model *model);
void model_verify_scan(struct test *t, const char *place, const struct model *model);

/* ---- random numbers ----------------------------------------------------------------------- */

/* SplitMix64; `state` starts as the seed. */
static inline uint64_t random_next(uint64_t *state)
{
    *state += SB_GOLDEN;
    return sb_mix64(*state);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

/* True in `long` runs, which take more rounds. */
bool is_long(void);

/* A number of records or rounds: fewer where each commit costs more, except in long runs. */
uint64_t scaled(const struct test *t, uint64_t count);

/* ---- the groups --------------------------------------------------------------------------- */

/* basic.c */
void group_open(struct test *t);
void group_overwrite(struct test *t);
void group_delete(struct test *t);
void group_empty(struct test *t);
void group_binary(struct test *t);
void group_limits(struct test *t);
void group_sizes(struct test *t);
void group_slices(struct test *t);
void group_two_stores(struct test *t);
void group_discards(struct test *t);

/* bulk.c */
void group_load(struct test *t);
void group_seek(struct test *t);
void group_append(struct test *t);
void group_churn(struct test *t);
void group_random(struct test *t);
void group_upkeep(struct test *t);
void group_report(struct test *t);
void group_tools(struct test *t);

/* batches.c */
void group_batches(struct test *t);
void group_own_writes(struct test *t);
void group_abort(struct test *t);
void group_sessions(struct test *t);
void group_writers(struct test *t);
void group_snapshot(struct test *t);
void group_threads(struct test *t);

/* kill.c */
void group_kill(struct test *t);

#endif
