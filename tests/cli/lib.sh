# SPDX-License-Identifier: GPL-3.0-or-later
#
# lib.sh -- what the tests of the command line share: TAP, a folder of their own that is removed at
# the end, and ways to run the program and to wait for something without waiting for a time.
# A test sources it, makes its checks, and calls `finish` last.
# shellcheck shell=sh

set -u
: "${STOREBENCH:?is the program to test}"
: "${STOREBENCH_TEST_DRIVERS:?is the folder of the modules of tests/drivers}"
unset STOREBENCH_DIR STOREBENCH_DRIVER_PATH STOREBENCH_TEST_PIDS NO_COLOR
export LC_ALL=C

tmp=$(mktemp -d "${TMPDIR:-/tmp}/storebench-cli.XXXXXX") || exit 1
number=0
status=0
cleanup()
{
    cd / && chmod -R u+rwX "$tmp" && rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM
mkdir "$tmp/drivers" "$tmp/dir" && cd "$tmp" || exit 1
: >out
: >err

# The folder $tmp/drivers holds the module of the misbehaving drivers alone.
use_test_drivers()
{
    ln -s "$STOREBENCH_TEST_DRIVERS/storebench-test.so" "$tmp/drivers/"
    export STOREBENCH_DRIVER_PATH="$tmp/drivers"
}

# ---- TAP --------------------------------------------------------------------------------------

pass()
{
    number=$((number + 1))
    echo "ok $number - $1"
}

# fail TEXT: with what the program said last. TAP has no place for it but comments.
fail()
{
    number=$((number + 1))
    echo "not ok $number - $1"
    {
        echo "exit status $status; standard output begins with:"
        head -c 300 "$tmp/out"
        echo
        echo "standard error begins with:"
        head -c 600 "$tmp/err"
    } | sed 's/^/# /'
}

# ok TEXT COMMAND...: the command succeeds.
ok()
{
    ok_text=$1
    shift
    if "$@" >"$tmp/ok.log" 2>&1; then
        pass "$ok_text"
    else
        fail "$ok_text"
        sed 's/^/# /' "$tmp/ok.log"
    fi
}

not()
{
    ! "$@"
}

# is TEXT GOT WANTED
is()
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1"
        printf 'got: %s\nwanted: %s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

skip()
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

finish()
{
    echo "1..$number"
}

# ---- running ----------------------------------------------------------------------------------

# run ARGUMENT...: the program's output goes to the files out and err, its exit status to $status.
run()
{
    timeout -k 5 60 "$STOREBENCH" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    status=$?
}

# small COMMAND ARGUMENT...: COMMAND with the options of a small campaign put before the arguments.
small()
{
    small_command=$1
    shift
    "$small_command" run --dir="$tmp/dir" --out="$tmp/result.json" --repeats=1 --records=1000 \
        --reads=500 --phase-min=0s --seed=7 --quiet "$@"
}

campaign()
{
    small run "$@"
}

# start ARGUMENT...: a campaign in the background; its process is $pid. It is not under timeout,
# which would get the signals in its place.
start()
{
    small launch "$@"
}

launch()
{
    "$STOREBENCH" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null &
    # shellcheck disable=SC2034 # for the tests
    pid=$!
}

# ---- looking at what came out -----------------------------------------------------------------

# said PATTERN: standard error has a line of the program's own with it.
said()
{
    grep -Eq -- "^storebench: .*$1" "$tmp/err"
}

one_line()
{
    [ "$(wc -l <"$tmp/err")" -eq 1 ]
}

# refused STATUS PATTERN TEXT: that exit status, one line on standard error that has the pattern,
# nothing on standard output.
refused()
{
    if [ "$status" -eq "$1" ] && said "$2" && one_line && [ ! -s "$tmp/out" ]; then
        pass "$3"
    else
        fail "$3 (wanted status $1 and one line with: $2)"
    fi
}

# json FILTER [FILE]: what jq says about a result.
json()
{
    jq -r "$1" "${2:-$tmp/result.json}"
}

holds()
{
    jq -e "$1" "${2:-$tmp/result.json}" >"$tmp/jq.log" && not grep -q '^false$' "$tmp/jq.log"
}

# cell LABEL MEMBER [SCENARIO]
cell()
{
    jq -r --arg name "$1" --arg scenario "${3:-}" '[.cells[] | select(.label == $name and
        ($scenario == "" or .scenario == $scenario))][0] | '"$2" "$tmp/result.json"
}

is_empty()
{
    [ -z "$(ls -A "$1")" ]
}

# ---- waiting ----------------------------------------------------------------------------------

# within SECONDS COMMAND...: tries until it succeeds or the time is over.
within()
{
    deadline=$(($(date +%s) + $1))
    shift
    until "$@"; do
        [ "$(date +%s)" -lt "$deadline" ] || return 1
        sleep 0.02
    done
}

lines_at_least()
{
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# A process that nobody waits for stays in the table as a zombie: it is gone all the same.
gone()
{
    [ ! -e "/proc/$1/stat" ] || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null ||
        [ ! -e "/proc/$1/stat" ]
}

# all_gone FILE: of the processes whose numbers the file lists.
all_gone()
{
    [ -s "$1" ] || return 1
    while read -r one; do
        gone "$one" || return 1
    done <"$1"
}
