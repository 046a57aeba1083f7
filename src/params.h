/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * params.h -- the parameters of a chain: one table says how each is named in a suite, on the
 * command line and in a result, with its unit, range, default and help. Everything that reads,
 * writes, compares or documents a parameter walks this table.
 */
#ifndef SB_PARAMS_H
#define SB_PARAMS_H

#include "error.h"

enum sb_read_mode { SB_READ_TOUCH, SB_READ_COPY };
enum sb_read_txn { SB_READ_TXN_OP, SB_READ_TXN_BATCH, SB_READ_TXN_PHASE };
enum sb_load_order { SB_LOAD_SEQ, SB_LOAD_RAND };

/* Every member is a uint64_t, so that the table can reach it by offset. */
struct sb_params {
    uint64_t records;
    uint64_t reads; /* 0: as many as there are records */
    uint64_t commits;
    uint64_t turnovers; /* of churn */
    uint64_t opens;
    uint64_t key_bytes;
    uint64_t value_bytes;
    uint64_t batch;      /* operations in a commit unit */
    uint64_t load_batch; /* the same while a store is filled outside the clock */
    uint64_t durability; /* enum sb_level */
    uint64_t cache_bytes;
    uint64_t map_bytes;
    uint64_t profile;        /* enum sb_profile */
    uint64_t load;           /* enum sb_load_order */
    uint64_t read;           /* enum sb_read_mode */
    uint64_t read_txn;       /* enum sb_read_txn */
    uint64_t latency;        /* 1: stamp every operation */
    uint64_t interval_ns;    /* of the series of rates */
    uint64_t phase_min_ns;   /* read phases go on at least that long */
    uint64_t phase_limit_ns; /* measured phases stop then */
    uint64_t load_limit_ns;  /* a load that takes longer is a timeout; never cut short */
    uint64_t hang_limit_ns;  /* a repeat without a sign of life for that long is killed */
};

enum sb_param_type { SB_PARAM_COUNT, SB_PARAM_SIZE, SB_PARAM_DURATION, SB_PARAM_CHOICE };

struct sb_param {
    const char *name; /* in a suite, "phase_limit"; with '-' for '_' on the command line */
    const char *key;  /* in a result, "phase_limit_ns": the name with its unit */
    enum sb_param_type type;
    size_t offset; /* in struct sb_params */
    uint64_t min, max;
    const char *default_value;
    const char *choices; /* SB_PARAM_CHOICE: words separated by '|', in the order of the enum */
    const char *help;
};

extern const struct sb_param sb_params_table[];
extern const size_t sb_params_count;

void sb_params_defaults(struct sb_params *params);

/* The entry by its name in a suite, or NULL. */
const struct sb_param *sb_param_find(const char *name);

/* Sets one parameter from text; the error says what is accepted. */
int sb_param_set(const struct sb_param *param, struct sb_params *params,
                 const char *text) SB_MUST_CHECK;

/* The same from a number of the parameter's base unit (bytes, nanoseconds). */
int sb_param_set_number(const struct sb_param *param, struct sb_params *params,
                        uint64_t value) SB_MUST_CHECK;

uint64_t sb_param_get(const struct sb_param *param, const struct sb_params *params);

/* The word of a choice; static storage. */
const char *sb_param_word(const struct sb_param *param, uint64_t value);

/* "none", "process", "power"; "default", "equal", "tuned". Static storage. */
const char *sb_level_name(enum sb_level level);
const char *sb_profile_name(enum sb_profile profile);

#endif
