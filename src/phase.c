/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * phase.c -- see phase.h. The scenarios differ in what they prepare, which span they run and how
 * they check it: struct kind. A scan has a loop of its own, since the store decides where it ends.
 */
#include "phase.h"

#include "check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* A span should be long against the clock's cost and short against a limit of time. */
enum {
    SPAN_SLOTS_START = 64,
    LATENCY_SLOTS_MAX = 256,
    SPAN_NS_LONG = 50 * 1000 * 1000,
    SPAN_NS_SHORT = 10 * 1000 * 1000,
    WARMUP_PART = 10,                  /* a warm-up is a tenth of the planned operations ... */
    WARMUP_NS_MAX = 250 * 1000 * 1000, /* ... or this long, whichever is less */
    /* A store that is much faster than its preparation does not reach phase_min on the clock: then
     * this many times phase_min of wall time will do. */
    WALL_TIMES_MIN = 4,
};

/* Where a churn stands: see next_churn. */
struct churn {
    uint64_t position, lag;
    unsigned step;
};

struct run {
    struct sb_phase *phase;
    struct sb_span span;
    struct sb_stopwatch watch;
    uint64_t done, planned;
    uint64_t min_ns, limit_ns; /* on the clocked time */
    uint64_t missing, wrong;
    uint64_t gap_ns; /* when `gap` was called last */
    size_t slots;    /* of the next span */
    size_t slots_max;
    bool per_commit; /* it is commits that are measured */
    bool cut;
    bool recorded;               /* goes into the recorder: not for loads and warm-ups */
    struct sb_permutation order; /* of random reads; a new one each time round */
    uint64_t order_turn;
    uint64_t load_from; /* loads: where in the order they begin */
    struct churn churn;
};

struct kind {
    void (*prepare)(struct run *run, size_t slot, uint64_t index);
    int (*span)(struct sb_span *span);
    enum sb_txn txn;
    int (*explain)(struct sb_span *span); /* what is wrong with a span that counted something */
};

bool sb_phase_timed_out(void)
{
    return sb_error_last()->code == SB_ERR_FAILED && sb_error_last()->native_code == ETIMEDOUT;
}

/* ---- preparing ---------------------------------------------------------------------------- */

static void prepare_seq(struct run *run, size_t slot, uint64_t index)
{
    sb_ring_set_write(run->phase->ring, slot, run->phase->data, index, 0);
}

static void prepare_rand(struct run *run, size_t slot, uint64_t index)
{
    struct sb_dataset *data = run->phase->data;

    sb_ring_set_write(run->phase->ring, slot, data, sb_permutation_at(&data->fill_order, index), 0);
}

static void prepare_overwrite(struct run *run, size_t slot, uint64_t index)
{
    struct sb_dataset *data = run->phase->data;
    uint64_t id;

    (void)index; /* the data set counts on through warm-up and phase */
    id = sb_permutation_at(&data->overwrite_order, data->overwrites % data->records);
    sb_ring_set_write(run->phase->ring, slot, data, id, 1 + data->overwrites / data->records);
    data->overwrites++;
}

/* Seeds of the orders of random reads are far from those of dataset.c. */
static void start_order(struct run *run, uint64_t turn)
{
    const struct sb_dataset *data = run->phase->data;

    sb_permutation_init(&run->order, sb_dataset_live(data), sb_mix64(data->seed + 1000 + turn));
    run->order_turn = turn;
}

/* The live key for read number `index`; every live key once, then again in another order. */
static uint64_t random_live(struct run *run, uint64_t index)
{
    const struct sb_dataset *data = run->phase->data;
    uint64_t turn = index / run->order.count;

    if (turn != run->order_turn)
        start_order(run, turn);
    return sb_dataset_live_at(data, sb_permutation_at(&run->order, index % run->order.count));
}

static void prepare_get(struct run *run, size_t slot, uint64_t index)
{
    sb_ring_set_read(run->phase->ring, slot, run->phase->data, random_live(run, index));
}

static void prepare_miss(struct run *run, size_t slot, uint64_t index)
{
    sb_ring_set_miss(run->phase->ring, slot, run->phase->data, random_live(run, index));
}

static void prepare_delete(struct run *run, size_t slot, uint64_t index)
{
    struct sb_dataset *data = run->phase->data;

    (void)index;
    sb_ring_set_delete(run->phase->ring, slot, data,
                       sb_permutation_at(&data->delete_order, data->deletes++));
}

/* The next operation of a turnover. Over the positions of the overwrite order, an even one is
 * overwritten and an odd one deleted; a deleted key is put again `lag` positions later, so that its
 * space is free for a while. At the end every key is there with its next version. False at the end.
 */
static bool next_churn(struct churn *churn, uint64_t records, enum sb_op *opp, uint64_t *positionp)
{
    for (; churn->position < records + churn->lag; churn->position++, churn->step = 0) {
        uint64_t behind = churn->position - churn->lag;

        if (churn->step == 0) {
            churn->step = 1;
            if (churn->position < records) {
                *opp = churn->position % 2 ? SB_OP_DELETE : SB_OP_PUT;
                *positionp = churn->position;
                return true;
            }
        }
        if (churn->step == 1) {
            churn->step = 2;
            if (churn->position >= churn->lag && behind < records && behind % 2) {
                *opp = SB_OP_PUT;
                *positionp = behind;
                return true;
            }
        }
    }
    return false;
}

static void prepare_churn(struct run *run, size_t slot, uint64_t index)
{
    struct sb_dataset *data = run->phase->data;
    uint64_t position = 0, id;
    enum sb_op op = SB_OP_PUT;

    (void)index;
    if (!next_churn(&run->churn, data->records, &op, &position)) {
        data->overwrites += data->records; /* a turnover is complete; the next begins */
        run->churn.position = run->churn.step = 0;
        (void)next_churn(&run->churn, data->records, &op, &position);
    }
    id = sb_permutation_at(&data->overwrite_order, position);
    if (op == SB_OP_DELETE)
        sb_ring_set_delete(run->phase->ring, slot, data, id);
    else
        sb_ring_set_write(run->phase->ring, slot, data, id, 1 + data->overwrites / data->records);
}

/* Nothing can be asked again of a key that was deleted: the count is all there is to tell. */
static int explain_delete(struct sb_span *span)
{
    return sb_error_set(SB_ERR_CORRUPT, 0,
                        "missing data: %" PRIu64
                        " keys of a span were gone before they were deleted",
                        span->missing);
}

static int explain_nothing(struct sb_span *span)
{
    return sb_error_set(SB_ERR_CORRUPT, 0, "wrong data: %" PRIu64 " missing, %" PRIu64 " wrong",
                        span->missing, span->wrong);
}

static const struct kind kind_seq = {prepare_seq, sb_span_put, SB_WRITE, explain_nothing};
static const struct kind kind_rand = {prepare_rand, sb_span_put, SB_WRITE, explain_nothing};
static const struct kind kind_append = {prepare_seq, sb_span_append, SB_WRITE, explain_nothing};
static const struct kind kind_overwrite = {prepare_overwrite, sb_span_put, SB_WRITE,
                                           explain_nothing};
static const struct kind kind_churn = {prepare_churn, sb_span_mixed, SB_WRITE, explain_delete};
static const struct kind kind_delete = {prepare_delete, sb_span_delete, SB_WRITE, explain_delete};
static const struct kind kind_get = {prepare_get, sb_span_get, SB_READ, sb_check_explain};
static const struct kind kind_miss = {prepare_miss, sb_span_miss, SB_READ, sb_check_explain_miss};

/* ---- running ------------------------------------------------------------------------------ */

static void run_init(struct run *run, struct sb_phase *phase, uint64_t batch, uint64_t planned)
{
    *run = (struct run){
        .phase = phase,
        .span = {.handle = phase->handle,
                 .session = phase->handle->session,
                 .ring = phase->ring,
                 .batch = batch,
                 .copy = phase->params->read == SB_READ_COPY},
        .planned = planned,
        .limit_ns = phase->params->phase_limit_ns,
        .slots = SPAN_SLOTS_START,
        .slots_max = phase->ring->slots,
    };
    if (run->slots > phase->ring->slots)
        run->slots = phase->ring->slots;
}

/* Makes the next span longer or shorter, so that a slow store still meets its limits. */
static void adapt(struct run *run, uint64_t span_ns)
{
    if (span_ns > SPAN_NS_LONG && run->slots > 1)
        run->slots /= 2;
    else if (span_ns < SPAN_NS_SHORT && run->slots * 2 <= run->slots_max)
        run->slots *= 2;
}

static void start_span(struct run *run)
{
    if (run->recorded)
        sb_recorder_span_begin(run->phase->recorder, run->done);
    sb_stopwatch_start(&run->watch);
}

static void stop_span(struct run *run)
{
    uint64_t span_ns = sb_stopwatch_stop(&run->watch);

    adapt(run, span_ns);
    if (run->recorded)
        sb_recorder_span_end(run->phase->recorder, run->span.done, span_ns, run->watch.elapsed_ns);
}

static void in_gap(struct run *run)
{
    uint64_t now_ns;

    if (!run->phase->gap)
        return;
    now_ns = sb_now_ns();
    if (now_ns - run->gap_ns < SB_PHASE_GAP_NS)
        return;
    run->gap_ns = now_ns;
    run->phase->gap(run->phase->gap_arg, run->done, run->planned);
}

/* Judges what a span counted. A driver that keeps nothing is compared but not judged. */
static int judge(struct run *run, const struct kind *kind)
{
    run->missing += run->span.missing;
    run->wrong += run->span.wrong;
    if (run->phase->handle->caps & SB_CAP_DISCARDS)
        return 0;
    if (!run->span.missing && !run->span.wrong)
        return 0;
    return kind->explain(&run->span);
}

static bool long_enough(const struct run *run)
{
    return run->watch.elapsed_ns >= run->min_ns ||
           sb_now_ns() - run->watch.begin_ns >= WALL_TIMES_MIN * run->min_ns;
}

static size_t next_count(const struct run *run, enum sb_txn txn)
{
    uint64_t left = run->planned > run->done ? run->planned - run->done : run->slots;

    if (txn == SB_READ && run->min_ns > run->watch.elapsed_ns)
        return run->slots; /* goes on past the planned count until the time is up */
    return left < run->slots ? (size_t)left : run->slots;
}

static bool over(struct run *run)
{
    if (run->done >= run->planned && long_enough(run))
        return true;
    if (run->per_commit && run->span.in_batch)
        return false; /* a commit that was begun is measured to its end */
    run->cut = run->watch.elapsed_ns >= run->limit_ns && run->done < run->planned;
    return run->watch.elapsed_ns >= run->limit_ns;
}

static int run_ops(struct run *run, const struct kind *kind)
{
    int rc = 0;

    sb_stopwatch_reset(&run->watch);
    while (!over(run)) {
        run->span.count = next_count(run, kind->txn);
        for (size_t slot = 0; slot < run->span.count; slot++)
            kind->prepare(run, slot, run->done + slot);
        start_span(run);
        rc = kind->span(&run->span);
        stop_span(run);
        run->done += run->span.done;
        if (rc)
            return rc;
        rc = judge(run, kind);
        if (rc)
            return rc;
        in_gap(run);
    }
    sb_stopwatch_start(&run->watch);
    rc = sb_span_finish(&run->span, kind->txn);
    (void)sb_stopwatch_stop(&run->watch);
    return rc;
}

/* ---- scanning ----------------------------------------------------------------------------- */

static int open_scan(struct run *run)
{
    struct sb_span *span = &run->span;
    int rc;

    sb_stopwatch_start(&run->watch);
    rc = sb_store_begin(span->handle, span->session, SB_READ);
    if (!rc)
        rc = sb_store_cursor_open(span->handle, span->session, &span->cursor);
    (void)sb_stopwatch_stop(&run->watch);
    return rc;
}

static int close_scan(struct run *run)
{
    struct sb_span *span = &run->span;
    int rc;

    sb_stopwatch_start(&run->watch);
    sb_store_cursor_close(span->handle, span->cursor);
    span->cursor = NULL;
    rc = sb_store_commit(span->handle, span->session, SB_READ);
    (void)sb_stopwatch_stop(&run->watch);
    return rc;
}

/* Reads up to the end of the store, or until the phase is over; one span at least, since the time
 * may have been used up by opening the cursor. */
static int scan_once(struct run *run, struct sb_scan_check *check)
{
    bool judged = !(run->phase->handle->caps & SB_CAP_DISCARDS);
    int rc = 0;

    do {
        run->span.count = run->slots;
        start_span(run);
        rc = sb_span_scan(&run->span);
        stop_span(run);
        run->done += run->span.done;
        run->wrong += run->span.wrong;
        if (rc < 0)
            return rc;
        if (judged && sb_check_scan(check, &run->span, run->phase->data))
            return SB_ERR_CORRUPT;
        in_gap(run);
    } while (!rc && !over(run));
    if (judged && (rc == SB_NOTFOUND || check->records == sb_dataset_live(run->phase->data)))
        return sb_check_scan_end(check, run->phase->data);
    return 0;
}

static int run_scan(struct run *run)
{
    int rc = 0;

    sb_stopwatch_reset(&run->watch);
    while (!rc && !over(run)) {
        struct sb_scan_check check = {.ordered = (run->phase->handle->caps & SB_CAP_ORDERED) != 0};
        uint64_t before = run->done;
        int close_rc;

        rc = open_scan(run);
        if (rc)
            return rc;
        rc = scan_once(run, &check);
        close_rc = close_scan(run);
        rc = rc ? rc : close_rc;
        if (!rc && run->done == before)
            return sb_error_set(SB_ERR_CORRUPT, 0, "a scan found no record");
    }
    return rc;
}

/* ---- scenarios ---------------------------------------------------------------------------- */

static void take_result(const struct run *run, struct sb_phase_result *result)
{
    sb_counting_mark(SB_COUNTING_END); /* what may follow is off the record */
    result->ops = run->done;
    result->commits = run->span.commits;
    result->cut = run->cut;
    result->watch = run->watch;
    result->unclocked_ns = sb_stopwatch_unclocked_ns(&run->watch);
    result->missing = run->missing;
    result->wrong = run->wrong;
}

static uint64_t warmup_ops(uint64_t planned)
{
    return planned / WARMUP_PART;
}

/* A run of the same kind whose figures are thrown away. */
static int warm_up(const struct run *run, const struct kind *kind, struct sb_phase_result *result)
{
    struct run warm = *run;
    int rc;

    warm.planned = warmup_ops(run->planned);
    warm.min_ns = 0;
    warm.limit_ns = WARMUP_NS_MAX;
    start_order(&warm, 1u << 20); /* an order that the phase itself does not use */
    warm.order_turn = 0;
    rc = kind ? run_ops(&warm, kind) : run_scan(&warm);
    result->warmup_ops = warm.done;
    result->warmup_ns = warm.watch.elapsed_ns;
    return rc;
}

static void get_ready(struct run *run)
{
    bool latency = run->phase->params->latency;

    run->gap_ns = sb_now_ns();
    run->recorded = true;
    run->span.recorder = latency ? run->phase->recorder : NULL;
    /* What the process did meanwhile is known by the span: a short one tells more. */
    if (latency && run->slots_max > LATENCY_SLOTS_MAX)
        run->slots_max = LATENCY_SLOTS_MAX;
    sb_recorder_begin(run->phase->recorder, latency, run->per_commit);
    if (run->phase->ready)
        run->phase->ready(run->phase->gap_arg);
}

/* Gets of a kind, or, without one, a scan. */
static int run_reads(struct sb_phase *phase, const struct kind *kind, bool keys_alone,
                     struct sb_phase_result *result)
{
    const struct sb_params *params = phase->params;
    uint64_t batch = params->read_txn == SB_READ_TXN_OP      ? 1
                     : params->read_txn == SB_READ_TXN_BATCH ? params->batch
                                                             : UINT64_MAX;
    struct run run;
    int rc;

    if (!sb_dataset_live(phase->data))
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no record is left to read");
    run_init(&run, phase, batch, params->reads ? params->reads : sb_dataset_live(phase->data));
    run.span.keys_alone = keys_alone;
    rc = warm_up(&run, kind, result);
    if (rc)
        return rc;
    run.min_ns = params->phase_min_ns;
    start_order(&run, 0);
    get_ready(&run);
    rc = kind ? run_ops(&run, kind) : run_scan(&run);
    sb_recorder_end(phase->recorder);
    take_result(&run, result);
    result->commits = 0;
    return rc;
}

static int run_fill(struct sb_phase *phase, const struct kind *kind, enum sb_load_order order,
                    struct sb_phase_result *result)
{
    struct run run;
    int rc;

    run_init(&run, phase, phase->params->batch, phase->params->records);
    get_ready(&run);
    rc = run_ops(&run, kind);
    sb_recorder_end(phase->recorder);
    take_result(&run, result);
    /* The rest of a phase that was cut goes in unmeasured: what follows wants the whole store. */
    if (!rc && run.cut)
        rc = sb_phase_load(phase, order, run.done);
    return rc;
}

static int run_commits(struct sb_phase *phase, struct sb_phase_result *result)
{
    uint64_t planned;
    struct run run;
    int rc;

    if (__builtin_mul_overflow(phase->params->commits, phase->params->batch, &planned))
        return sb_error_set(SB_ERR_LIMIT, 0, "commits times batch is over 2^64");
    run_init(&run, phase, phase->params->batch, planned);
    run.per_commit = true;
    /* Whole commits, in the warm-up too. */
    run.planned = phase->params->commits / WARMUP_PART * phase->params->batch * WARMUP_PART;
    rc = warm_up(&run, &kind_overwrite, result);
    if (rc)
        return rc;
    run.planned = planned;
    get_ready(&run);
    rc = run_ops(&run, &kind_overwrite);
    sb_recorder_end(phase->recorder);
    take_result(&run, result);
    return rc;
}

/* A pass of `planned` operations over a filled store. */
static int run_changes(struct sb_phase *phase, const struct kind *kind, uint64_t planned,
                       struct sb_phase_result *result)
{
    struct run run;
    int rc;

    run_init(&run, phase, phase->params->batch, planned);
    get_ready(&run);
    rc = run_ops(&run, kind);
    sb_recorder_end(phase->recorder);
    take_result(&run, result);
    return rc;
}

/* A churn that was cut is brought to the end of its turnover off the clock: until then some keys
 * are deleted that the data set counts as there. */
static int run_churn(struct sb_phase *phase, struct sb_phase_result *result)
{
    uint64_t records = phase->data->records;
    uint64_t turnover_ops = records + records / 2;
    struct run run;
    int rc;

    if (phase->data->overwrites %
        records) { /* an overwrite that was cut: every version must agree */
        run_init(&run, phase, phase->params->batch, records - phase->data->overwrites % records);
        run.limit_ns = phase->params->load_limit_ns;
        rc = run_ops(&run, &kind_overwrite);
        if (rc)
            return rc;
    }
    run_init(&run, phase, phase->params->batch, phase->params->turnovers * turnover_ops);
    run.churn.lag = records / 20 * 2; /* a tenth, and even: see next_churn */
    get_ready(&run);
    rc = run_ops(&run, &kind_churn);
    sb_recorder_end(phase->recorder);
    take_result(&run, result);
    if (!rc && run.done % turnover_ops) {
        run.planned = run.done + turnover_ops - run.done % turnover_ops;
        run.limit_ns = phase->params->load_limit_ns;
        rc = run_ops(&run, &kind_churn);
    }
    phase->data->overwrites += records; /* of the last turnover */
    return rc;
}

int sb_phase_run(struct sb_phase *phase, enum sb_scenario scenario, struct sb_phase_result *result)
{
    *result = (struct sb_phase_result){0};
    switch (scenario) {
    case SB_WRITE_SEQ:
        return run_fill(phase, &kind_seq, SB_LOAD_SEQ, result);
    case SB_WRITE_RAND:
        return run_fill(phase, &kind_rand, SB_LOAD_RAND, result);
    case SB_BULK_LOAD:
        return run_fill(phase, &kind_append, SB_LOAD_SEQ, result);
    case SB_READ_SEQ:
        return run_reads(phase, NULL, false, result);
    case SB_SCAN_KEYS:
        return run_reads(phase, NULL, true, result);
    case SB_READ_RAND:
        return run_reads(phase, &kind_get, false, result);
    case SB_READ_MISS:
        return run_reads(phase, &kind_miss, false, result);
    case SB_COMMIT:
        return run_commits(phase, result);
    case SB_OVERWRITE:
        return run_changes(phase, &kind_overwrite, phase->data->records, result);
    case SB_DELETE:
        return run_changes(phase, &kind_delete, phase->data->records / 2, result);
    case SB_CHURN:
        return run_churn(phase, result);
    default:
        return sb_error_set(SB_ERR_UNSUPPORTED, 0, "no such scenario");
    }
}

static void prepare_load_seq(struct run *run, size_t slot, uint64_t index)
{
    prepare_seq(run, slot, run->load_from + index);
}

static void prepare_load_rand(struct run *run, size_t slot, uint64_t index)
{
    prepare_rand(run, slot, run->load_from + index);
}

int sb_phase_load(struct sb_phase *phase, enum sb_load_order order, uint64_t from)
{
    static const struct kind seq = {prepare_load_seq, sb_span_put, SB_WRITE, explain_nothing};
    static const struct kind rand_order = {prepare_load_rand, sb_span_put, SB_WRITE,
                                           explain_nothing};
    char text[32];
    struct run run;
    int rc;

    run_init(&run, phase, phase->params->load_batch, phase->params->records - from);
    run.load_from = from;
    run.limit_ns = phase->params->load_limit_ns;
    rc = run_ops(&run, order == SB_LOAD_SEQ ? &seq : &rand_order);
    if (rc || !run.cut)
        return rc;
    (void)snprintf(text, sizeof(text), "%" PRIu64 " ms", run.limit_ns / 1000000);
    return sb_error_set(SB_ERR_FAILED, ETIMEDOUT,
                        "timeout: %" PRIu64 " of %" PRIu64 " records were loaded in %s", run.done,
                        run.planned, text);
}

int sb_phase_digest(struct sb_phase *phase, struct sb_digest *digest)
{
    struct sb_store_handle *h = phase->handle;
    struct sb_slice key, value;
    struct sb_cursor *cursor;
    uint64_t gap_at = 0;
    int close_rc, rc;

    *digest = (struct sb_digest){0};
    rc = sb_store_begin(h, h->session, SB_READ);
    if (rc)
        return rc;
    rc = sb_store_cursor_open(h, h->session, &cursor);
    while (!rc) {
        rc = sb_store_cursor_next(h, cursor, &key, &value);
        if (!rc)
            sb_digest_add(digest, key.data, key.size_bytes, value.data, value.size_bytes);
        if (phase->gap && digest->records >= gap_at) { /* a sign of life for the watchdog */
            phase->gap(phase->gap_arg, digest->records, phase->data->records);
            gap_at = digest->records + (1 << 16);
        }
    }
    if (cursor)
        sb_store_cursor_close(h, cursor);
    close_rc = sb_store_commit(h, h->session, SB_READ);
    return rc < 0 ? rc : close_rc;
}
