#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Drivers that crash, hang, lie and fail: each is recorded as what it is, with a reason that names
# what happened, does no harm to the others of the campaign, and leaves nothing behind.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers
export STOREBENCH_TEST_PIDS="$tmp/pids"

# judged LABEL SCENARIO STATUS REASON: of a cell.
judged()
{
    is "$1: $2 is $3" "$(cell "$1" .status "$2")" "$3"
    number=$((number + 1))
    if cell "$1" .reason "$2" | grep -Eq -- "$4"; then
        echo "ok $number - $1: the reason names it"
    else
        echo "not ok $number - $1: the reason names it"
        printf '# got: %s\n# wanted: %s\n' "$(cell "$1" .reason "$2")" "$4"
    fi
}

drivers=test-good,test-print,test-crash,test-crash:in=get,test-crash:in=close,test-exit
drivers=$drivers,test-exit:in=close,test-hang:in=get,test-hang:in=close,test-wrong,test-flaky
drivers=$drivers,test-torn,test-short,test-stale,test-missing,test-disorder,test-twice,test-fail
drivers=$drivers,test-silent,test-full,test-fork,test-fork-crash,test-na,null
campaign --drivers=$drivers --scenarios=write-rand,read-seq,read-rand,overwrite --repeats=2 \
    --reads=0 --hang-limit=1s
is "the campaign ends with status 1" "$status" 1
ok "the campaign went on to its end" holds '.complete and .ended_by == "done"'
ok "no cell was left out" holds 'all(.cells[]; .repeats | length > 0)'
ok "drivers that behave are ok in all scenarios and repeats" holds '
    [.cells[] | select(.label == "test-good" or .label == "test-print" or .label == "null" or
        .label == "test-fork")] |
    length == 16 and all(.[]; .status == "ok" and (.repeats | length) == 2)'

judged test-crash write-rand crashed "signal 11 .*'write-rand'"
judged test-crash:in=get read-rand crashed "signal 11 .*'read-rand'"
for scenario in write-rand read-seq; do
    is "test-crash:in=get: $scenario, before the crash, is ok" \
        "$(cell test-crash:in=get .status $scenario)" ok
done
judged test-crash:in=get overwrite crashed "signal 11 .*'read-rand'"
judged test-crash:in=close write-rand crashed "signal 11 .*'close'"
judged test-crash:in=close overwrite crashed "signal 11 .*'close'"
judged test-exit write-rand crashed "exit status [0-9]+ in 'write-rand'"
judged test-exit:in=close read-rand crashed "exit status [0-9]+ in 'close'"
judged test-hang:in=get read-rand timeout "no sign of life for 1.* s in 'read-rand'"
judged test-hang:in=close read-rand timeout "no sign of life for 1.* s in 'close'"
judged test-wrong read-rand failed 'wrong data: key [0-9]+ has another value than was put'
judged test-flaky read-rand failed 'wrong data: .*1 wrong value.* right when read again'
judged test-torn read-rand failed 'wrong data: key [0-9]+ has a torn value \(byte 64 of 100\)'
judged test-short read-seq failed 'wrong data: key 100 '
judged test-stale overwrite failed "wrong data: the store's contents are not what was put"
judged test-missing read-seq failed 'missing data: a scan found 999 records of 1000'
judged test-disorder read-seq failed 'disorder: key 99 comes after key 100'
judged test-twice read-seq failed 'wrong data: .*twice'
judged test-fail write-rand failed 'test-fail: put fails by design'
judged test-silent write-rand failed 'test-silent.*without a text'
judged test-full write-rand failed 'test-full: put finds the disk full'
is "test-full: the code is full" "$(cell test-full '.repeats[0].code' write-rand)" full
judged test-fork-crash write-rand crashed "signal 11 .*'write-rand'"
judged test-na write-rand n/a 'test-na: open refuses by design'

is "a store that hung is not tried again" "$(cell test-hang:in=get '.repeats | length' read-rand)" 1
is "a store that refused is not tried again" "$(cell test-na '.repeats | length' write-rand)" 1
is "a store that crashed is tried in every block" \
    "$(cell test-crash '.repeats | length' write-rand)" 2
ok "only what is ok has a summary of its rate" holds '
    all(.cells[]; (.status == "ok") or (.summary.ops_per_s == null) or .label != "test-fail")'

campaign --drivers=test-short,test-missing,test-stale --scenarios=write-rand,read-rand --reads=0
is "again with reads by key: status 1" "$status" 1
judged test-short read-rand failed 'wrong data: key [0-9]+ has a value of 99 bytes, not 100'
judged test-missing read-rand failed 'missing data: key [0-9]+ is not found'
is "a fault that does not show in the chain is no failure" "$(cell test-stale .status read-rand)" ok

campaign --drivers=test-hang --scenarios=read-rand --hang-limit=1s
judged test-hang read-rand timeout "no sign of life for 1.* s in 'load'"
campaign --drivers=test-sleep:ns=20000000 --scenarios=read-rand --load-limit=100ms
judged test-sleep:ns=20000000 read-rand timeout 'timeout: [0-9]+ of 1000 records were loaded'

ok "no process is left, not even those that drivers started" within 10 all_gone pids
ok "no file is left in the directory" is_empty dir

finish
