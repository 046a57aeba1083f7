#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The clock: a store whose gets and puts take a known time at least must be shown with that time and
# with exact counts. Lower bounds are hard; a busy machine can only make things slower.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

# timed SCENARIO OPS NS: the scenario has exactly OPS operations of at least NS and not 50 times NS.
timed()
{
    is "$1 is ok" "$(cell "$label" .status "$1")" ok
    is "$1: the count is exact" "$(cell "$label" '.repeats[0].ops' "$1")" "$2"
    ok "$1: an operation takes $3 ns at least" holds "
        .cells[] | select(.scenario == \"$1\") | .repeats[0] | .elapsed_ns >= $3 * .ops"
    ok "$1: and is not shown as many times as long" holds "
        .cells[] | select(.scenario == \"$1\") | .repeats[0] | .elapsed_ns < 50 * $3 * .ops"
    ok "$1: the rate is the count over the time" holds "
        .cells[] | select(.scenario == \"$1\") | .repeats[0] |
        (.derived.ops_per_s * .elapsed_ns / 1e9 / .ops - 1 | fabs) < 1e-6"
    ok "$1: sleeping is no CPU time" holds "
        .cells[] | select(.scenario == \"$1\") | .repeats[0] | .clocked_cpu_ns < .elapsed_ns"
}

label=test-sleep:ns=1000000
campaign --drivers=$label --scenarios=write-rand,read-rand --records=50 --reads=50
is "gets and puts of 1 ms: status 0" "$status" 0
timed write-rand 50 1000000
timed read-rand 50 1000000

label=test-sleep:ns=100000
campaign --drivers=$label --scenarios=write-seq,read-rand --records=300 --reads=1000
is "gets and puts of 0.1 ms: status 0" "$status" 0
timed write-seq 300 100000
timed read-rand 1000 100000

# A phase that is cut by its limit has fewer operations, and says so; its rate is not changed.
label=test-sleep:ns=2000000
campaign --drivers=$label --scenarios=write-rand,read-rand --records=100 --reads=100000 \
    --phase-limit=300ms
is "a phase that is cut is ok" "$(cell $label .status read-rand)" ok
ok "it says that it was cut" holds '
    .cells[] | select(.scenario == "read-rand") | .repeats[0] | .cut and .ops < 100000 and .ops > 0
    and .elapsed_ns >= 300000000 and .elapsed_ns >= 2000000 * .ops'

# A phase that is too short starts over until it has lasted long enough.
campaign --drivers=test-sleep:ns=100000 --scenarios=read-rand --records=100 --reads=10 \
    --phase-min=100ms
ok "a phase of a least length is that long" holds '
    .cells[0].repeats[0] | .ops > 10 and .elapsed_ns >= 100000000 and
    .elapsed_ns >= 100000 * .ops and (.cut | not)'

# When opening the cursor alone uses up the time, the scan still reads something.
campaign --drivers=test-sleep:ns=10000000 --scenarios=read-seq --records=10 --reads=0 \
    --phase-min=30ms
is "scans whose cursor opens slowly are ok" "$(cell test-sleep:ns=10000000 .status read-seq)" ok
ok "their time has the opening in it" holds '
    .cells[0].repeats[0] | .elapsed_ns >= 1000000 * .ops and .ops % 10 == 0'

finish
