/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * repeat.h -- the life of one repeat: a process of its own that opens one store, runs one chain on
 * it and tells its parent what it saw.
 *
 * It reads a job (job.h) from standard input and writes events, JSON Lines, to the descriptor
 * SB_EVENT_FD:
 *   {"event":"facts", ...}     once the store is open: version, settings, notes, level kept
 *   {"event":"progress", ...}  a sign of life, at most every SB_PHASE_GAP_NS
 *   {"event":"scenario", ...}  a finished scenario with all its figures
 *   {"event":"end", ...}       the steps of the whole chain, the digest, or what went wrong
 * A repeat without an "end" has crashed.
 */
#ifndef SB_REPEAT_H
#define SB_REPEAT_H

enum { SB_EVENT_FD = 3 };

/* Returns the exit status: 0 when "end" was written. */
int sb_repeat_main(void);

#endif
