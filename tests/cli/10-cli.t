#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The command line: what it takes, what it refuses and how, and what goes to which stream.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

# ---- version and help -------------------------------------------------------------------------

run --version
is "--version ends well" "$status" 0
ok "--version tells a version" grep -Eq '^storebench [0-9][^ ]*( [^ ]+)?$' out
ok "--version says nothing else" not test -s err

for word in --help -h help; do
    run $word
    is "$word ends well" "$status" 0
    ok "$word lists the commands" grep -Eq '^  run ' out
done
run
is "no command is bad usage" "$status" 2
ok "no command: the overview is on standard error" grep -q 'Usage: storebench COMMAND' err
ok "no command: nothing on standard output" not test -s out

run help
# shellcheck disable=SC2013 # words
for command in $(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out); do
    run help "$command"
    is "help $command ends well" "$status" 0
    ok "help $command shows its usage" grep -q "^Usage: storebench $command" out
    [ "$command" = help ] && continue
    cp out help.out
    run "$command" --help
    is "$command --help ends well" "$status" 0
    ok "$command --help shows the same" cmp -s out help.out
done
run help run
for option in drivers scenarios dir repeats time-limit seed records value-bytes hang-limit out \
    json dry-run quiet; do
    ok "help run explains --$option" grep -Eq -- "^  --$option\\b" out
done
run help rum
refused 2 "'rum'.*'run'" "help of an unknown command names the nearest"

# ---- what does not exist ----------------------------------------------------------------------

run rnu
refused 2 "'rnu'.*'run'" "an unknown command names the nearest"
run xylophone
refused 2 "'xylophone'.*help" "a command like no other points to help"
run run --drivres=null
refused 2 "'--drivres'.*'--drivers'" "an unknown option names the nearest"
run run --xylophone
refused 2 "'--xylophone'.*help" "an option like no other points to help"
run list --jsno=-
refused 2 "'--jsno'.*'--json'" "an unknown option of list names the nearest"
run probe --dri=.
refused 2 "'--dri'.*'--dir'" "an unknown option of probe names the nearest"
run run --valeu-bytes=7
refused 2 "'--valeu-bytes'.*'--value-bytes'" "an unknown parameter names the nearest"
run run -x
refused 2 "'-x'" "a short option is refused by its name"
run run -xq
refused 2 "'-x" "a cluster of short options is refused by its name"
run run --quiet=yes
refused 2 "'--quiet=yes'" "a value where none belongs is refused"
run run --drivers
refused 2 "'--drivers' needs a value" "a missing value is told"
run run --records
refused 2 "'--records' needs a value" "a missing value of a parameter is told"
campaign --drivers=test-godo
refused 2 "'test-godo'.*'test-good'" "an unknown driver names the nearest"
campaign --drivers='zz*'
refused 2 "zz\\*" "a pattern that matches no driver is told"
campaign --drivers=test-good:tt=1
refused 2 "'tt'.*'at'" "an unknown option of a driver names the nearest"
campaign --drivers=test-good:at
refused 2 "'at'" "an option of a driver without value is told"
campaign --drivers=test-good:at=many
refused 2 "test-good:at takes .*'many'" "a bad value of a driver's option tells the range"
campaign --drivers=test-good:at=0
refused 2 "test-good:at takes .*'0'" "a value out of range of a driver's option tells the range"
campaign --drivers=test-good:in=nowhere
refused 2 "put\\|get\\|close.*'nowhere'" "a bad word of a driver's option tells the words"
campaign --drivers=test-good:cache=lots
refused 2 "'lots'" "a bad size of a driver's cache is told"
campaign --drivers=test-good --scenarios=read-rnad
refused 2 "'read-rnad'.*'read-rand'" "an unknown scenario names the nearest"
campaign --drivers=test-good --scenarios=,
refused 2 "scenarios" "no scenario at all is told"
campaign --drivers=,
refused 2 "driver" "no driver at all is told"
run list extra
refused 2 "'extra'" "an argument where none belongs is refused"
run probe extra
refused 2 "'extra'" "an argument of probe is refused"
campaign no-such-suite
refused 2 "no-such-suite" "a missing suite is told by its name"

# ---- numbers ----------------------------------------------------------------------------------

try()
{
    campaign --drivers=test-good "$1"
    refused 2 "${1%%=*}.*'${1#*=}'|$(echo "${1%%=*}" | tr -d - | sed 's/bytes/.bytes/
        s/limit/.limit/').*'${1#*=}'" "$1 is refused"
}
for value in 0 -1 1.5 '' ten 1e3 0x10 99999999999999999999 2000000000000 18446744073709551617 '5 ' \
    1KiB; do
    try --records="$value"
done
for value in -1 1.5B 1GiB 1ZiB 16EiB 18446744073709551616 big '' 0; do
    try --key-bytes="$value"
done
try --value-bytes=2GiB
try --value-bytes=-5
for value in 0 -1 junk '' 99999999999999999999; do
    try --repeats="$value"
    try --seed="$value"
done
for value in 0 10 0s -5s 5parsecs '' 999999999999d; do
    try --time-limit="$value"
done
try --hang-limit=1ms
try --phase-limit=0s
try --durability=most
try --read=sniff
campaign --drivers=test-good --json=file
refused 2 "--json.*--out=file" "--json=FILE of run points to --out"
campaign --drivers=test-good --key-bytes=2
refused 2 "key_bytes.*2" "keys too short for the records are refused"
campaign --drivers=test-good --records=1000,0
refused 2 "records.*'0'" "a bad number in a list is refused"
campaign --drivers=test-good --records=1T --value-bytes=1GiB
ok "records whose bytes overflow are refused" test "$status" -eq 2
ok "... in one line" one_line
ok "what was refused left no file" test ! -e result.json -a ! -e result.json.partial
ok "what was refused left nothing in the directory" is_empty dir

# ---- list and probe ---------------------------------------------------------------------------

run list
is "list ends well" "$status" 0
ok "list shows the null driver" grep -q '^null - ' out
ok "list shows drivers of STOREBENCH_DRIVER_PATH" grep -q '^test-good - ' out
ok "list shows options" grep -Eq '^  at=N ' out
ok "list has nothing to complain of" not test -s err
run list --json=-
is "list --json=- ends well" "$status" 0
ok "list --json=- has every driver once" holds '
    [.drivers[].name] | length == (unique | length) and index("null") and index("test-good")' out
ok "list --json=- has no rejected module" holds '.rejected == []' out
ok "list --json=- has the options" holds '
    .drivers[] | select(.name == "test-good") | .options[] | select(.name == "in") |
    .type == "enum" and .choices == "put|get|close" and .default == "put"' out
run list --json=drivers.json
is "list --json=FILE ends well" "$status" 0
ok "list --json=FILE writes it" holds '.drivers | length > 1' drivers.json
ok "list --json=FILE prints nothing" not test -s out
run list --json=missing/drivers.json
refused 2 "missing/drivers.json" "list --json=FILE names a file that cannot be written"

run probe --dir=dir --json=-
is "probe --json=- ends well" "$status" 0
ok "probe --json=- is JSON with machine, ceilings, directory" holds '
    .machine.cores_online > 0 and .ceilings.copy_bytes_per_s > 0 and
    .directory.flush_ceilings.append.flushes_per_s > 0' out
ok "probe leaves nothing in the directory" is_empty dir
run probe --dir=missing
refused 2 "missing" "probe of a missing directory is refused"

# ---- runs -------------------------------------------------------------------------------------

campaign --drivers=null,test-good --scenarios=write-rand,read-rand,write-seq --records=10,20 \
    --dry-run
is "--dry-run ends well" "$status" 0
is "--dry-run lists every chain" "$(grep -Ec '^(null|test-good) ' out)" 8
ok "--dry-run shows chains and parameters" grep -Eq \
    '^test-good write-rand,read-rand .*records=20 .*durability_requested=none ' out
ok "--dry-run makes no result" test ! -e result.json -a ! -e result.json.partial
ok "--dry-run makes nothing in the directory" is_empty dir

campaign --drivers=null,test-good --scenarios=write-rand,read-seq,read-rand --repeats=2
is "a good campaign ends with status 0" "$status" 0
is "--quiet leaves one line: where the result is" "$(cat err)" \
    "storebench: result in $tmp/result.json"
ok "the table is on standard output" test -s out
ok "the result is whole" holds '
    .complete and .ended_by == "done" and (.cells | length) == 6 and
    all(.cells[]; .status == "ok" and (.repeats | length) == 2)'
ok "counts are exact" holds 'all(.cells[] | select(.scenario == "write-rand") | .repeats[];
    .ops == 1000) and all(.cells[] | select(.scenario == "read-rand") | .repeats[]; .ops == 500)'
ok "no .partial is left" test ! -e result.json.partial -a ! -e result.json.tmp
ok "nothing is left in the directory" is_empty dir

campaign --drivers=test-good --scenarios=write-rand --json=-
is "--json=- ends well" "$status" 0
ok "--json=- puts JSON alone on standard output" holds '.cells[0].status == "ok"' out
is "--json=- puts one document there" "$(jq -s length out)" 1
ok "... the same as in the file" test "$(jq -S . out | cksum)" = "$(jq -S . result.json | cksum)"

campaign --drivers=test-print:at=3 --scenarios=write-rand,read-rand --json=-
is "a driver that prints does no harm" "$status" 0
is "what a driver prints does not reach standard output" "$(jq -s length out)" 1
ok "it goes to standard error" grep -q 'test-print: put on standard output' err

timeout 60 "$STOREBENCH" run --drivers=test-good --scenarios=write-rand --records=100 --repeats=1 \
    --dir=dir --out=loud.json >out 2>err
ok "without --quiet progress is told, a line each repeat" \
    grep -q '^\[1/1\] test-good: write-rand ' err
ok "progress in a file has no escape sequences" not grep -q "$(printf '\033')" err

# shellcheck disable=SC2097,SC2098 # the directory is for the program alone
STOREBENCH_DIR=$tmp/dir timeout 60 "$STOREBENCH" run --drivers=null --scenarios=write-rand \
    --records=100 --repeats=1 --quiet --seed=3 >out 2>err
status=$?
is "STOREBENCH_DIR and a name for the result of its own: ends well" "$status" 0
named=$(sed -n 's/^storebench: result in //p' err)
ok "the result gets a name with the suite's" test "${named#quick-}" != "$named" -a -s "$named"
is "STOREBENCH_DIR is where stores are made" "$(json '.directories[0].path' "$named")" "$tmp/dir"

# ---- exit statuses ----------------------------------------------------------------------------

campaign --drivers=test-fail --scenarios=write-rand
is "a failed store: status 1" "$status" 1
campaign --drivers=null --scenarios=write-rand --durability=power --out=nothing.json
refused 3 "nothing can run.*power" "nothing can run: status 3 and the reason"
ok "... and no result" test ! -e nothing.json
campaign --drivers=test-na --scenarios=write-rand --out=nothing.json
is "nothing could run: status 3" "$status" 3
ok "... and a line that says so" said "nothing could run"
campaign --drivers=test-na,test-good --scenarios=write-rand
is "a driver that refuses beside one that runs: status 0" "$status" 0

# ---- broken streams ---------------------------------------------------------------------------

# broken ARGUMENT...: the same to a closed and to a full standard output.
broken()
{
    words=$*
    : >out
    timeout 60 "$STOREBENCH" "$@" 2>err >&-
    status=$?
    ok "${words%% --dir*} to a closed standard output: status 2" test $status -eq 2
    ok "... and a line that says so" said "standard output|cannot write -"
    [ -w /dev/full ] || return
    timeout 60 "$STOREBENCH" "$@" 2>err >/dev/full
    status=$?
    ok "${words%% --dir*} to a full standard output: status 2" test $status -eq 2
    ok "... and a line that says so" said "standard output|cannot write -"
}
broken list
broken list --json=-
broken help run
broken --version
rm -f result.json
small broken --drivers=test-good --scenarios=write-rand
ok "... whose result is there all the same" holds '.complete and .cells[0].status == "ok"'
rm -f result.json
small broken --drivers=test-good --scenarios=write-rand --json=-
ok "... whose result is there all the same" holds '.complete and .cells[0].status == "ok"'

timeout 60 "$STOREBENCH" run --drivers=test-good --scenarios=write-rand --records=10 --repeats=1 \
    --dir=dir --out=closed.json <&- >&- 2>&-
ok "with all three streams closed the result is made" holds \
    '.complete and .cells[0].status == "ok"' closed.json
ok "nothing is left in the directory at the end" is_empty dir

finish
