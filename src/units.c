/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.c -- quantities as people write and read them; see units.h.
 *
 * Parsing is exact integer arithmetic: a size typed by a user must not depend on how a double
 * rounds. Formatting is for eyes only and works on doubles.
 */
#include "units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parsing ------------------------------------------------------------------------------ */

struct unit {
    const char *name;
    uint64_t scale; /* at most 2^60, so that ten times the scale still fits 64 bits */
};

/* A table of units ends with an entry whose name is NULL. */
struct grammar {
    const struct unit *units;
    bool ignore_case;
    bool whole_only; /* refuse what is not a whole number after scaling, instead of rounding down */
};

static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"K", UINT64_C(1) << 10},
    {"KiB", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"MiB", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"GiB", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"TiB", UINT64_C(1) << 40},
    {"P", UINT64_C(1) << 50},
    {"PiB", UINT64_C(1) << 50},
    {"E", UINT64_C(1) << 60},
    {"EiB", UINT64_C(1) << 60},
    {NULL, 0},
};

static const struct unit count_units[] = {
    {"", 1},
    {"k", UINT64_C(1000)},
    {"K", UINT64_C(1000)},
    {"M", UINT64_C(1000000)},
    {"G", UINT64_C(1000000000)},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"ns", 1},
    {"us", UINT64_C(1000)},
    {"µs", UINT64_C(1000)},
    {"ms", UINT64_C(1000000)},
    {"s", UINT64_C(1000000000)},
    {"m", UINT64_C(60000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {"d", UINT64_C(86400000000000)},
    {NULL, 0},
};

/* The scale of a unit's name, or 0 when the name is not in the table. */
static uint64_t find_scale(const struct grammar *grammar, const char *name)
{
    for (const struct unit *unit = grammar->units; unit->name; unit++) {
        int order = grammar->ignore_case ? strcasecmp(unit->name, name) : strcmp(unit->name, name);
        if (order == 0)
            return unit->scale;
    }
    return 0;
}

/* scale * 0.DIGITS, rounded down. Working from the last digit to the first needs no more than ten
 * times the scale, however many digits there are, and nested rounding down loses nothing. */
static uint64_t scale_fraction(const char *digits, size_t count, uint64_t scale, bool *exactp)
{
    uint64_t value = 0;
    *exactp = true;
    for (size_t i = count; i > 0; i--) {
        uint64_t tenfold = (uint64_t)(digits[i - 1] - '0') * scale + value;
        if (tenfold % 10 != 0)
            *exactp = false;
        value = tenfold / 10;
    }
    return value;
}

/* Reads leading digits; returns how many there were, or 0 when there were none or too many. */
static size_t parse_whole(const char *text, uint64_t *wholep)
{
    size_t count = strspn(text, "0123456789");
    uint64_t whole = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, digit, &whole))
            return 0;
    }
    *wholep = whole;
    return count;
}

static int parse_scaled(const struct grammar *grammar, const char *text, uint64_t *valuep)
{
    *valuep = 0;
    uint64_t whole = 0;
    size_t whole_digits = text ? parse_whole(text, &whole) : 0;
    if (whole_digits == 0)
        return -1;
    const char *rest = text + whole_digits;

    const char *digits = rest;
    size_t digit_count = 0;
    if (*rest == '.') {
        digits = rest + 1;
        digit_count = strspn(digits, "0123456789");
        if (digit_count == 0)
            return -1;
        rest = digits + digit_count;
    }

    uint64_t scale = find_scale(grammar, rest);
    if (scale == 0 || (scale == 1 && digit_count > 0))
        return -1;
    bool exact;
    uint64_t fraction = scale_fraction(digits, digit_count, scale, &exact);
    if (grammar->whole_only && !exact)
        return -1;
    uint64_t value;
    if (__builtin_mul_overflow(whole, scale, &value) ||
        __builtin_add_overflow(value, fraction, &value))
        return -1;
    *valuep = value;
    return 0;
}

int sb_parse_size(const char *text, uint64_t *bytesp)
{
    static const struct grammar grammar = {size_units, true, false};
    return parse_scaled(&grammar, text, bytesp);
}

int sb_parse_count(const char *text, uint64_t *countp)
{
    static const struct grammar grammar = {count_units, false, true};
    return parse_scaled(&grammar, text, countp);
}

int sb_parse_duration(const char *text, uint64_t *duration_nsp)
{
    static const struct grammar grammar = {duration_units, false, true};
    return parse_scaled(&grammar, text, duration_nsp);
}

/* ---- formatting --------------------------------------------------------------------------- */

/* Puts a text into the buffer, cut where the buffer ends. */
static const char *put_text(char *buffer, size_t size, const char *text)
{
    if (size > 0 && snprintf(buffer, size, "%s", text) < 0)
        buffer[0] = '\0';
    return buffer;
}

static const char *put_number(char *buffer, size_t size, double value, int decimals,
                              const char *unit)
{
    if (size > 0 && snprintf(buffer, size, "%.*f %s", decimals, value, unit) < 0)
        buffer[0] = '\0';
    return buffer;
}

/* Divides by `step` until the value, as it will be printed, is below one step; `limit` is the
 * smallest value that would be rounded up to a full step. Returns the index of the unit. */
static size_t scale_down(double *value, double step, double limit, size_t unit_count)
{
    size_t unit = 0;
    while (unit + 1 < unit_count && *value >= limit) {
        *value /= step;
        unit++;
    }
    return unit;
}

const char *sb_format_rate(char *buffer, size_t size, double per_s)
{
    static const char *const units[] = {"/s", "k/s", "M/s", "G/s", "T/s"};
    if (!isfinite(per_s) || per_s < 0 || per_s >= 1e18)
        return put_text(buffer, size, "n/a");
    size_t unit = scale_down(&per_s, 1000, 999.5, sizeof(units) / sizeof(units[0]));
    int decimals = per_s < 9.995 ? 2 : per_s < 99.95 ? 1 : 0;
    return put_number(buffer, size, per_s, decimals, units[unit]);
}

const char *sb_format_bytes(char *buffer, size_t size, double value_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (!isfinite(value_bytes) || value_bytes < 0 || value_bytes >= 1e24)
        return put_text(buffer, size, "n/a");
    size_t unit = scale_down(&value_bytes, 1024, 1023.95, sizeof(units) / sizeof(units[0]));
    return put_number(buffer, size, value_bytes, unit == 0 ? 0 : 1, units[unit]);
}

/* Two units for what is a minute or longer: people wait for it, so seconds alone do not help. */
static const char *format_long_duration(char *buffer, size_t size, double duration_ns)
{
    uint64_t seconds = (uint64_t)(duration_ns / 1e9 + 0.5);
    uint64_t minutes = seconds < 3600 ? seconds / 60 : (seconds + 30) / 60;
    int written;
    if (seconds < 3600)
        written = snprintf(buffer, size, "%llu min %02llu s", (unsigned long long)minutes,
                           (unsigned long long)(seconds % 60));
    else
        written = snprintf(buffer, size, "%llu h %02llu min", (unsigned long long)(minutes / 60),
                           (unsigned long long)(minutes % 60));
    if (written < 0 && size > 0)
        buffer[0] = '\0';
    return buffer;
}

const char *sb_format_duration(char *buffer, size_t size, double duration_ns)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    if (!isfinite(duration_ns) || duration_ns < 0 || duration_ns >= 1e21)
        return put_text(buffer, size, "n/a");
    if (duration_ns >= 59.95e9)
        return format_long_duration(buffer, size, duration_ns);
    if (duration_ns == 0)
        return put_text(buffer, size, "0 ns");
    size_t unit = scale_down(&duration_ns, 1000, 999.5, sizeof(units) / sizeof(units[0]));
    return put_number(buffer, size, duration_ns, duration_ns < 99.95 ? 1 : 0, units[unit]);
}

const char *sb_format_count(char *buffer, size_t size, uint64_t count)
{
    char digits[24];
    char grouped[32];
    int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
    size_t out = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[out++] = ' ';
        grouped[out++] = digits[i];
    }
    grouped[out] = '\0';
    return put_text(buffer, size, grouped);
}
