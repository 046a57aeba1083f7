/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * loop.c -- see loop.h.
 */
#include "loop.h"

/* Slots up to the end of the span or of the bracket, whichever comes first. */
static inline size_t stretch(const struct sb_span *span, size_t done)
{
    uint64_t left_in_batch = span->batch - span->in_batch;
    size_t left = span->count - done;

    return left_in_batch < left ? (size_t)left_in_batch : left;
}

static inline int open_bracket(struct sb_span *span, enum sb_txn kind)
{
    return span->in_batch ? 0 : sb_store_begin(span->handle, span->session, kind);
}

static inline int close_bracket(struct sb_span *span, enum sb_txn kind)
{
    span->in_batch = 0;
    span->commits++;
    return sb_store_commit(span->handle, span->session, kind);
}

int sb_span_finish(struct sb_span *span, enum sb_txn kind)
{
    bool open = span->in_batch != 0;

    span->in_batch = 0;
    return open ? sb_store_commit(span->handle, span->session, kind) : 0;
}

int sb_span_put(struct sb_span *span)
{
    const struct sb_ring *ring = span->ring;
    size_t i = 0;
    int rc = 0;

    span->done = 0;
    while (i < span->count) {
        size_t end = i + stretch(span, i);

        rc = open_bracket(span, SB_WRITE);
        if (SB_UNLIKELY(rc))
            return rc;
        span->in_batch += end - i;
        for (; i < end; i++) {
            rc = sb_store_put(span->handle, span->session, sb_ring_key(ring, i),
                              sb_ring_value(ring, i));
            if (SB_UNLIKELY(rc))
                return rc;
        }
        if (span->in_batch == span->batch)
            rc = close_bracket(span, SB_WRITE);
        if (SB_UNLIKELY(rc))
            return rc;
        span->done = i;
    }
    return 0;
}

/* One get and the check of its value. `copy` is a constant where this is inlined. */
static inline __attribute__((always_inline)) int get_one(struct sb_span *span, size_t slot,
                                                         bool copy)
{
    const struct sb_ring *ring = span->ring;
    struct sb_slice value = {NULL, 0};
    const void *bytes;
    int rc = sb_store_get(span->handle, span->session, sb_ring_key(ring, slot), &value);

    if (SB_UNLIKELY(rc)) {
        span->missing += rc == SB_NOTFOUND;
        return rc < 0 ? rc : 0;
    }
    if (SB_UNLIKELY(value.size_bytes != ring->value_bytes)) {
        span->wrong++;
        return 0;
    }
    bytes = value.data;
    if (copy)
        bytes = memcpy(ring->copy, value.data, ring->value_bytes);
    span->wrong += sb_value_touch(bytes, ring->value_bytes, ring->seeds[slot]) != 0;
    return 0;
}

static inline __attribute__((always_inline)) int get_slots(struct sb_span *span, bool copy)
{
    size_t i = 0;
    int rc = 0;

    while (i < span->count) {
        size_t end = i + stretch(span, i);

        rc = open_bracket(span, SB_READ);
        if (SB_UNLIKELY(rc))
            return rc;
        span->in_batch += end - i;
        for (; i < end; i++) {
            rc = get_one(span, i, copy);
            if (SB_UNLIKELY(rc))
                return rc;
        }
        if (span->in_batch == span->batch)
            rc = close_bracket(span, SB_READ);
        if (SB_UNLIKELY(rc))
            return rc;
        span->done = i;
    }
    return 0;
}

int sb_span_get(struct sb_span *span)
{
    span->done = 0;
    span->missing = span->wrong = 0;
    return span->copy ? get_slots(span, true) : get_slots(span, false);
}

/* Keeps what tells a record's identity, and checks its lines against its own first word. */
static inline __attribute__((always_inline)) void
keep_record(struct sb_span *span, size_t slot, struct sb_slice key, struct sb_slice value)
{
    struct sb_ring *ring = span->ring;
    char *kept_key = ring->keys + slot * ring->key_bytes;
    const void *bytes = value.data;
    uint64_t first = 0;

    ring->seeds[slot] = 0;
    if (SB_UNLIKELY(key.size_bytes != ring->key_bytes || value.size_bytes != ring->value_bytes)) {
        span->wrong++;
        memset(kept_key, 0, ring->key_bytes); /* no key: the check after the span sees it */
        return;
    }
    if (ring->key_bytes == 16)
        memcpy(kept_key, key.data, 16); /* a constant size is two moves */
    else
        memcpy(kept_key, key.data, ring->key_bytes);
    if (span->copy && ring->value_bytes)
        bytes = memcpy(ring->copy, value.data, ring->value_bytes);
    if (ring->value_bytes >= sizeof(first))
        first = sb_load64(bytes);
    else if (ring->value_bytes)
        memcpy(&first, bytes, ring->value_bytes);
    ring->seeds[slot] = first;
    span->wrong += sb_value_touch(bytes, ring->value_bytes, first) != 0;
}

int sb_span_scan(struct sb_span *span)
{
    struct sb_slice key = {NULL, 0}, value = {NULL, 0};

    span->done = 0;
    span->wrong = 0;
    for (size_t i = 0; i < span->count; i++) {
        int rc = sb_store_cursor_next(span->handle, span->cursor, &key, &value);

        if (SB_UNLIKELY(rc))
            return rc;
        keep_record(span, i, key, value);
        span->done = i + 1;
    }
    return 0;
}
