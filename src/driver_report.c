/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driver_report.c -- the host side of the driver contract: see driver_report.h.
 */
#include "driver_report.h"

#include "mem.h"

#include <stdio.h>
#include <stdlib.h>

static SB_PRINTF(3, 4) int host_fail(enum sb_code code, long native_code, const char *format, ...)
{
    char text[SB_ERROR_BYTES_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return sb_error_set(code, native_code, "%s", text);
}

static void host_keeps(struct sb_report *report, enum sb_level level)
{
    if (level > report->level_kept)
        report->level_kept = level;
}

static void host_lacks(struct sb_report *report, uint32_t caps)
{
    report->caps_lacking |= caps;
}

static SB_PRINTF(4, 5) void host_effective(struct sb_report *report, enum sb_origin origin,
                                           const char *name, const char *format, ...)
{
    struct sb_setting *setting;
    va_list args;

    report->settings =
        sb_grow(report->settings, report->setting_count + 1, sizeof(*report->settings));
    setting = &report->settings[report->setting_count++];
    setting->origin = origin;
    setting->name = sb_format("%s", name);
    va_start(args, format);
    setting->value = sb_vformat(format, args);
    va_end(args);
}

static SB_PRINTF(2, 3) void host_note(struct sb_report *report, const char *format, ...)
{
    va_list args;

    report->notes = sb_grow(report->notes, report->note_count + 1, sizeof(*report->notes));
    va_start(args, format);
    report->notes[report->note_count++] = sb_vformat(format, args);
    va_end(args);
}

static void host_counter(struct sb_report *report, const char *name, uint64_t value)
{
    struct sb_counter *counter;

    report->counters =
        sb_grow(report->counters, report->counter_count + 1, sizeof(*report->counters));
    counter = &report->counters[report->counter_count++];
    counter->name = sb_format("%s", name);
    counter->value = value;
}

static SB_PRINTF(2, 3) void host_print(struct sb_report *report, const char *format, ...)
{
    va_list args;
    char *line;

    if (!report->print)
        return;
    va_start(args, format);
    line = sb_vformat(format, args);
    va_end(args);
    report->print(line, report->print_arg);
    free(line);
}

const struct sb_host sb_host = {
    .fail = host_fail,
    .keeps = host_keeps,
    .lacks = host_lacks,
    .effective = host_effective,
    .note = host_note,
    .counter = host_counter,
    .print = host_print,
};

void sb_report_release(struct sb_report *report)
{
    for (size_t i = 0; i < report->setting_count; i++) {
        free(report->settings[i].name);
        free(report->settings[i].value);
    }
    for (size_t i = 0; i < report->note_count; i++)
        free(report->notes[i]);
    for (size_t i = 0; i < report->counter_count; i++)
        free(report->counters[i].name);
    free(report->settings);
    free(report->notes);
    free(report->counters);
    *report = (struct sb_report){0};
}
