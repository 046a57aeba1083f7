/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driver_report.h -- what a driver tells about one open store (through `struct sb_host`): the level
 * it really keeps, withdrawn capabilities, effective settings, notes and engine counters.
 */
#ifndef SB_DRIVER_REPORT_H
#define SB_DRIVER_REPORT_H

#include "error.h"

struct sb_setting {
    char *name, *value; /* owned by the report */
    enum sb_origin origin;
};

struct sb_counter {
    char *name; /* owned by the report */
    uint64_t value;
};

struct sb_report {
    enum sb_level level_kept; /* at least the level that was asked for */
    uint32_t caps_lacking;
    struct sb_setting *settings;
    size_t setting_count;
    char **notes;
    size_t note_count;
    struct sb_counter *counters;
    size_t counter_count;
    /* Receives the lines of a tool; NULL drops them. */
    void (*print)(const char *line, void *arg);
    void *print_arg;
};

/* The table that drivers get. Its functions stop the program when memory is out. */
extern const struct sb_host sb_host;

/* Frees what a report holds and makes it empty. */
void sb_report_release(struct sb_report *report);

#endif
