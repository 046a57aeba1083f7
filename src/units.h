/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * units.h -- quantities as people write and read them.
 *
 * Owns the one place where sizes, counts and durations are parsed from text and formatted for
 * tables. Results in files never pass through the format helpers: they are stored raw, with the
 * unit in the key. Everything here is free of state and may be called by any thread.
 */
#ifndef SB_UNITS_H
#define SB_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* A buffer of this many bytes holds the output of every sb_format_ function. */
#define SB_FORMAT_BYTES 40

/* The parsers return 0, or -1 with *valuep set to 0 when the text is empty or NULL, negative or
 * signed, has white space or anything else around the number, has an unknown unit, or does not fit
 * 64 bits. A number is digits, with an optional point and more digits where there is a unit; there
 * are no exponents, no hexadecimal and no digit separators. */

/* A size: "100", "100B", "4K", "64KiB", "1.5GiB", up to EiB, in either case. K and KiB are both
 * 1024 bytes; "KB" is refused because it means 1000 to half of its readers. A fraction is rounded
 * down to a whole byte. */
int sb_parse_size(const char *text, uint64_t *bytesp);

/* A count: "1000", "10k", "1M", "2.5G", in decimal thousands, millions and thousand millions (only
 * "k" may also be written "K"). A count that is not whole, such as "1.2345k", is refused. */
int sb_parse_count(const char *text, uint64_t *countp);

/* A duration: "500ns", "20us" (or "20µs"), "500ms", "10s", "2m" (or "2min"), "1h", "1d". The unit
 * is required, because a bare number is read as seconds by some and as milliseconds by others. */
int sb_parse_duration(const char *text, uint64_t *duration_nsp);

/* The format helpers write into the caller's buffer of `size` bytes (SB_FORMAT_BYTES is enough, a
 * shorter one cuts the text) and return it, so that a call can stand among printf's arguments.
 * A value that is negative or not a number is written as "n/a". "µ" is two bytes long: columns
 * that hold durations must not be padded by counting bytes. */

/* Three digits: "1.23 M/s", "45.6 k/s", "789 /s". */
const char *sb_format_rate(char *buffer, size_t size, double per_s);

/* "512 B", "123.4 MiB". */
const char *sb_format_bytes(char *buffer, size_t size, double value_bytes);

/* "31.4 ns", "12.3 µs", "340 ms", "1.2 s", and from a minute on "2 min 05 s", "3 h 07 min". */
const char *sb_format_duration(char *buffer, size_t size, double duration_ns);

/* All digits, in groups of three with plain spaces between: "1 000 000". */
const char *sb_format_count(char *buffer, size_t size, uint64_t count);

#endif
