/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tracer.h -- the process between the runner and the process of a counting repeat.
 *
 * It starts `repeat-process` and stops it, its threads and its children at every system call
 * (ptrace), so that it sees what a library does inside libc, in C++, and on descriptors that flush
 * with every write. What the calls mean is in flushcount.h, how the repeat says when its clock runs
 * in counting.h. The descriptors 0 and SB_EVENT_FD pass through to the repeat untouched.
 *
 * When the system does not let it trace, it runs nothing and writes an "end" event whose status is
 * "n/a", with the reason. It ends as its child ended: with the same exit status or signal.
 */
#ifndef SB_TRACER_H
#define SB_TRACER_H

/* Returns the exit status. */
int sb_tracer_main(void);

#endif
