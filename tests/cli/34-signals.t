#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Campaigns that are interrupted, killed or out of time: what is finished is kept, nothing runs on,
# nothing of ours is left that the next run would not remove.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers
export STOREBENCH_TEST_PIDS="$tmp/pids"

# begin FILE [OPTION...]: a campaign whose result goes to FILE, up to its third repeat of 20, each
# of a fifth of a second. With more repeats the harness would begin with longer measurements.
begin()
{
    file=$1
    shift
    rm -f pids
    start --drivers=test-sleep:ns=500000 --scenarios=write-rand,read-rand --records=200 \
        --reads=200 --repeats=20 --out="$file" "$@"
    within 30 lines_at_least pids 3 || fail "the campaign begins"
}

# after TEXT: nothing of the campaign is left, neither running nor as files.
after()
{
    ok "$1: no process is left" within 10 all_gone pids
    ok "$1: nothing is left in the directory" is_empty dir
    ok "$1: no .partial is left" not test -e "$file.partial"
}

kept='.complete == false and .ended_by == "signal" and ([.cells[].repeats[]] | length) >= 2 and
    all(.cells[].repeats[]; .status == "ok" and .ops >= 200)'

# ---- signals ----------------------------------------------------------------------------------

for signal in 2:INT 15:TERM 1:HUP; do
    begin "${signal#*:}.json"
    kill -s "${signal#*:}" "$pid"
    wait "$pid"
    status=$?
    is "SIG${signal#*:}: the status is 128 and its number" $status $((128 + ${signal%:*}))
    ok "SIG${signal#*:}: the result is whole and has the finished repeats" holds "$kept" "$file"
    ok "SIG${signal#*:}: its name is told" said "result in $file"
    ok "SIG${signal#*:}: the table is printed" test -s out
    after "SIG${signal#*:}"
done

begin json.json --json=-
kill -s TERM "$pid"
wait "$pid"
status=$?
is "--json=- and a signal: the status" $status 143
ok "--json=- and a signal: one document, which is the result" test \
    "$(jq -S . out | cksum)" = "$(jq -S . json.json | cksum)"
after "--json=- and a signal"

# A store that does not react is no obstacle.
file=hang.json
rm -f pids
start --drivers=test-hang:at=1 --scenarios=write-rand --out=$file
ok "a store that hangs: begins" within 30 lines_at_least pids 1
kill -s INT "$pid"
wait "$pid"
status=$?
is "a store that hangs: the status" $status 130
ok "a store that hangs: the result has no repeat of it" holds '
    .complete == false and .cells[0].status == "not-run" and .cells[0].repeats == []' $file
after "a store that hangs"

# Processes that a store has started go with it.
rm -f pids
start --drivers=test-fork,test-sleep:ns=1000000 --scenarios=write-rand --repeats=10 --out=$file
ok "a store that forks: begins" within 30 lines_at_least pids 4
kill -s TERM "$pid"
wait "$pid"
status=$?
is "a store that forks: the status" $status 143
after "a store that forks"

# Before the first repeat, while the machine is measured.
rm -f pids
file=early.json
start --drivers=test-good --scenarios=write-rand --repeats=20 --out=$file
ok "an early signal: begins" within 30 test -s $file.partial
kill -s TERM "$pid"
wait "$pid"
status=$?
is "an early signal: the status" $status 143
ok "an early signal: the result is whole" holds '.complete == false and .ended_by == "signal"' $file
ok "an early signal: nothing is left in the directory" is_empty dir

# Who is started by nohup goes on when the terminal goes away.
(
    trap '' HUP
    file=nohup.json
    rm -f pids
    start --drivers=test-sleep:ns=500000 --scenarios=write-rand --records=200 --repeats=20 \
        --out=$file
    within 30 lines_at_least pids 1
    kill -s HUP "$pid"
    within 30 lines_at_least pids 3 && echo "went on" >nohup.said
    kill -s TERM "$pid"
    wait "$pid"
)
is "an ignored SIGHUP stays ignored" "$(cat nohup.said)" "went on"
is "... and SIGTERM ends the campaign" "$(json .ended_by nohup.json)" signal

# ---- killed -----------------------------------------------------------------------------------

echo '{"old": true}' >killed.json
begin killed.json
kill -s KILL "$pid"
wait "$pid" 2>wait.log
ok "kill -9: no process is left" within 10 all_gone pids
is "kill -9: the old result of that name is untouched" "$(cat killed.json)" '{"old": true}'
ok "kill -9: each line of .partial is JSON" holds . killed.json.partial
is "kill -9: the first line is the campaign" \
    "$(head -n 1 killed.json.partial | jq -r .line)" campaign
ok "kill -9: the finished repeats are there" test "$(jq -c 'select(.line == "repeat" and
    .repeat.status == "ok")' killed.json.partial | wc -l)" -ge 2
is "kill -9: one folder is left" "$(find dir -mindepth 1 -maxdepth 1 -name 'storebench-run-*' |
    wc -l)" 1
cp killed.json.partial kept.partial

campaign --drivers=test-good --scenarios=write-rand --out=killed.json
refused 2 "killed.json.partial exists" "the next run does not write over what the killed one left"
ok "... and it is untouched" cmp -s kept.partial killed.json.partial
campaign --drivers=test-good --scenarios=write-rand --out=next.json
is "the next run ends well" "$status" 0
ok "it removed the dead folder" is_empty dir
ok "... and says so" said "removed $tmp/dir/storebench-run-.*killed"

# A folder whose run goes on is not touched.
begin first.json --reads=2000
first=$pid
folder=$(ls dir)
campaign --drivers=test-good --scenarios=write-rand --out=second.json
is "a second campaign in the same directory ends well" "$status" 0
is "the first one still has its folder" "$(ls dir)" "$folder"
campaign --drivers=test-good --scenarios=write-rand --out=first.json
refused 2 "first.json.partial exists" "a second campaign with the same result is refused"
file=first.json
kill -s TERM "$first"
wait "$first"
ok "the first one was not disturbed" holds "$kept" first.json
after "two campaigns"

# ---- out of time ------------------------------------------------------------------------------

rm -f pids
campaign --drivers=test-sleep:ns=500000 --scenarios=write-rand --records=500 --repeats=20 \
    --time-limit=2s
is "--time-limit: the status is that of what was measured" "$status" 0
ok "--time-limit: the result says what ended it" holds '
    .complete == false and .ended_by == "time-limit" and .time_limit_ns == 2000000000'
ok "--time-limit: some repeats were run, whole ones" holds '
    .cells[0].repeats | length > 0 and length < 20 and all(.[]; .ops == 500 and .status == "ok")'
file=result.json
after "--time-limit"

finish
