/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hand.h -- the frame of the hand-written loops that the suite's figures are compared with.
 *
 * Each program of this folder includes it and writes its loops on one library's own calls: no table
 * of hooks, no brackets, no checks but a sum over one word of each value line. Keys stand ready in
 * one array, the clock is read twice. It shares no code with the harness, so that a mistake in one
 * cannot hide in both. The options come from the cell's effective_options, as NAME=NUMBER
 * arguments:
 *
 *     lmdb DIR RECORDS VALUE_BYTES BATCH mapsize=1073741824 ...
 *
 * prints one line of JSON with three rates in operations per second.
 */
#ifndef HAND_H
#define HAND_H

#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_BYTES = 16, VALUES = 1024, SCAN_NS_MIN = 250 * 1000 * 1000, WARM_FACTOR = 4 };

struct hand {
    const char *dir;
    uint64_t records, batch;
    size_t value_bytes;
    char *write_keys, *read_keys; /* records * KEY_BYTES, each in an order of its own */
    char *values;                 /* VALUES of them, used in turn */
    int option_count;
    char **options;
};

/* What each program supplies. They exit with a message on failure. */
static void hand_open(struct hand *hand);
static void hand_write(const struct hand *hand);
static void hand_settle(void);
static uint64_t hand_scan(const struct hand *hand, uint64_t *sum); /* returns the records seen */
static uint64_t hand_read(const struct hand *hand, uint64_t count);
static void hand_close(void);

static inline const char *hand_key(const char *keys, uint64_t i)
{
    return keys + i * KEY_BYTES;
}

static inline const char *hand_value(const struct hand *hand, uint64_t i)
{
    return hand->values + (i % VALUES) * hand->value_bytes;
}

/* One word of every 64-byte line. */
static inline uint64_t hand_touch(const void *value, size_t bytes)
{
    const char *line = value;
    uint64_t sum = 0, word;

    for (size_t at = 0; at + sizeof(word) <= bytes; at += 64) {
        memcpy(&word, line + at, sizeof(word));
        sum += word;
    }
    return sum;
}

static inline void hand_die(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* The number of option `name`, or `fallback` when it was not given. */
static inline uint64_t hand_option(const struct hand *hand, const char *name, uint64_t fallback)
{
    size_t bytes = strlen(name);

    for (int i = 0; i < hand->option_count; i++)
        if (strncmp(hand->options[i], name, bytes) == 0 && hand->options[i][bytes] == '=')
            return strtoull(hand->options[i] + bytes + 1, NULL, 10);
    return fallback;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* All keys in a random order (Fisher and Yates). */
static char *make_keys(uint64_t records, uint64_t seed)
{
    uint64_t *order = malloc(records * sizeof(*order));
    char *keys = malloc(records * KEY_BYTES + 1);

    if (!order || !keys)
        hand_die("keys", "out of memory");
    for (uint64_t i = 0; i < records; i++) {
        uint64_t other = next_random(&seed) % (i + 1);

        order[i] = order[other];
        order[other] = i;
    }
    for (uint64_t i = 0; i < records; i++)
        (void)snprintf(keys + i * KEY_BYTES, KEY_BYTES + 1, "%016" PRIu64, order[i]);
    free(order);
    return keys;
}

static void make_values(struct hand *hand)
{
    uint64_t state = 88172645463325252u;

    hand->values = malloc(VALUES * hand->value_bytes + 1);
    if (!hand->values)
        hand_die("values", "out of memory");
    for (size_t i = 0; i < VALUES * hand->value_bytes; i++)
        hand->values[i] = (char)next_random(&state);
}

/* Fresh memory is as slow for a hand-written loop as for anybody: both sides run on warm pages. */
static void warm_memory(const struct hand *hand)
{
    size_t bytes =
        (16u << 20) + (size_t)hand->records * (KEY_BYTES + hand->value_bytes) * WARM_FACTOR;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory != MAP_FAILED)
        (void)munmap(memory, bytes);
}

static int flush_file(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    int fd = type == FTW_F ? open(path, O_RDONLY) : -1;

    (void)status;
    (void)walk;
    if (fd >= 0) {
        (void)fdatasync(fd);
        (void)close(fd);
    }
    return 0;
}

static double rate(uint64_t count, uint64_t begin_ns, uint64_t end_ns)
{
    return (double)count / (double)(end_ns - begin_ns) * 1e9;
}

static double timed_scan(const struct hand *hand, uint64_t *sum)
{
    uint64_t seen = 0, begin_ns, end_ns;

    (void)hand_scan(hand, sum);
    warm_memory(hand);
    begin_ns = now_ns();
    do {
        seen += hand_scan(hand, sum);
        end_ns = now_ns();
    } while (end_ns - begin_ns < SCAN_NS_MIN);
    return rate(seen, begin_ns, end_ns);
}

int main(int argc, char **argv)
{
    struct hand hand = {.dir = argc > 1 ? argv[1] : ""};
    double write_rate, scan_rate, read_rate;
    uint64_t begin_ns, end_ns, sum = 0;

    if (argc < 5)
        hand_die(argv[0], "DIR RECORDS VALUE_BYTES BATCH [NAME=NUMBER]...");
    hand.records = strtoull(argv[2], NULL, 10);
    hand.value_bytes = strtoull(argv[3], NULL, 10);
    hand.batch = strtoull(argv[4], NULL, 10);
    hand.options = argv + 5;
    hand.option_count = argc - 5;
    hand.write_keys = make_keys(hand.records, 2463534242u);
    hand.read_keys = make_keys(hand.records, 521288629u);
    make_values(&hand);
    hand_open(&hand);
    warm_memory(&hand);
    begin_ns = now_ns();
    hand_write(&hand);
    end_ns = now_ns();
    write_rate = rate(hand.records, begin_ns, end_ns);
    hand_settle();
    (void)nftw(hand.dir, flush_file, 8, FTW_PHYS);
    scan_rate = timed_scan(&hand, &sum);
    sum += hand_read(&hand, hand.records / 10);
    warm_memory(&hand);
    begin_ns = now_ns();
    sum += hand_read(&hand, hand.records);
    end_ns = now_ns();
    read_rate = rate(hand.records, begin_ns, end_ns);
    hand_close();
    (void)printf("{\"write-rand\": %.0f, \"read-seq\": %.0f, \"read-rand\": %.0f, \"sum\": %" PRIu64
                 "}\n",
                 write_rate, scan_rate, read_rate, sum & 0xffffffff);
    free(hand.write_keys);
    free(hand.read_keys);
    free(hand.values);
    return 0;
}

#endif
