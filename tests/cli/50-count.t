#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The counting repeat: flushes, system calls and bytes of drivers whose calls are known, cells that
# cannot be counted, and no process left behind.

# shellcheck disable=SC2016 # jq has variables of its own
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

# built DRIVER
built()
{
    run list
    grep -q "^$1 " out
}

# counted LABEL LEVEL SCENARIO FILTER: of the cell's figures.
counted()
{
    jq -c --arg name "$1" --arg level "$2" --arg scenario "$3" '[.cells[] | select(.label == $name
        and .durability_requested == $level and .scenario == $scenario)][0].counted | '"$4" \
        result.json
}

# The kinds of flushes that there were.
kinds='.flushes_by_kind | with_entries(select(.value > 0))'

# A system may forbid tracing; then the figures are n/a, and the rest of this cannot be tested.
drivers=null
! built memory-tree || drivers=$drivers,memory-tree
campaign --drivers=$drivers --scenarios=write-rand,read-rand,read-seq --reads=0 --count
is "a campaign that counts ends well" "$status" 0
if [ "$(counted null none write-rand .status)" != '"ok"' ]; then
    is "where nothing can be traced, that is told" "$(counted null none write-rand .status)" '"n/a"'
    skip "counting" "$(counted null none write-rand .reason)"
    finish
    exit 0
fi
is "the null driver makes no system call in a write" \
    "$(counted null none write-rand '[.ops, .flushes, .system_calls]')" '[1000,0,0]'
is "nor in a read" "$(counted null none read-rand '[.flushes, .system_calls]')" '[0,0]'
is "reads have no figures by commit" "$(counted null none read-rand .per_commit)" null
if built memory-tree; then
    is "a tree in memory: no system call in a read" \
        "$(counted memory-tree none read-rand .system_calls)" 0
    is "nor in a scan" "$(counted memory-tree none read-seq .system_calls)" 0
    ok "and hardly any in a write" sh -c \
        "echo '$(counted memory-tree none write-rand .per_op.system_calls)' | jq -e '. < 0.2'"
fi

# ---- commits ----------------------------------------------------------------------------------

drivers=files
! built lmdb || drivers=$drivers,lmdb,lmdb:writemap=on
! built kc-hash || drivers=$drivers,kc-hash
! built bdb-btree || drivers=$drivers,bdb-btree,bdb-btree:log_dsync=on
campaign --drivers=$drivers --scenarios=commit --durability=process,power --batch=1,4 \
    --records=100 --commits=20 --count
is "counting commits ends well" "$status" 0
# at LABEL LEVEL BATCH FILTER: of the figures of these commits.
at()
{
    jq -c --arg name "$1" --arg level "$2" --argjson batch "$3" '[.cells[] | select(.label == $name
        and .durability_requested == $level and .parameters.batch == $batch)][0].counted | '"$4" \
        result.json
}
# Not on a file system in memory, nor where /proc/self/io is hidden.
dirtied()
{
    case $(stat -f -c %T dir) in tmpfs | ramfs) return 0 ;; esac
    [ "$(at lmdb:writemap=on power 1 'has("dirtied_bytes")')" = true ] || return 0
    holds '.cells[] | select(.label == "lmdb:writemap=on" and .durability_requested == "power" and
        .parameters.batch == 1).counted | .dirtied_bytes >= 20 * 4096 and
        .per_commit.dirtied_bytes == .dirtied_bytes / 20'
}
is "plain files at power: a commit flushes its file and its directory" \
    "$(at files power 1 "$kinds")" '{"fsync":20,"fdatasync":20}'
is "the same by commit and by operation" \
    "$(at files power 1 '[.per_commit.flushes, .per_op.flushes]')" '[2,2]'
is "one operation, six system calls" "$(at files power 1 .per_op.system_calls)" 6
is "each of them by its name" "$(at files power 1 '.system_calls_by_name | keys')" \
    '["close","fdatasync","fsync","openat","renameat","write"]'
is "the bytes of the values" "$(at files power 1 '[.bytes_written, .bytes_read]')" '[2000,0]'
is "a commit of four flushes four files" "$(at files power 4 '.flushes_by_kind.fdatasync')" 80
ok "and no more directories than files" test "$(at files power 4 .flushes_by_kind.fsync)" -le 80
is "plain files at process: no flush" "$(at files process 1 .flushes)" 0
ok "and fewer calls than at power" test \
    "$(at files process 1 .system_calls)" -lt "$(at files power 1 .system_calls)"
if built lmdb; then
    is "lmdb at power: a flush and a write through O_DSYNC" "$(at lmdb power 1 "$kinds")" \
        '{"fdatasync":20,"sync_write":20}'
    is "lmdb at process: no flush" "$(at lmdb process 1 .flushes)" 0
    is "lmdb with a writable map: two calls of msync, and no other call" \
        "$(at lmdb:writemap=on power 1 "[($kinds), .system_calls, .bytes_written]")" \
        '[{"msync":40},40,0]'
    ok "the ranges of msync are told" holds '.cells[] | select(.label == "lmdb:writemap=on" and
        .durability_requested == "power" and .parameters.batch == 1).counted
        | .msync_bytes >= 40 * 4096 and .per_commit.msync_bytes == .msync_bytes / 20'
    ok "and the pages that stores made dirty, which no call tells of" dirtied
else
    skip "lmdb" "it is not built"
fi
if ! built kc-hash; then
    skip "a library in C++" "kc-hash is not built"
else
    is "a library in C++ at power: its flushes" "$(at kc-hash power 1 "$kinds")" \
        '{"fsync":80,"msync":20}'
    is "and none at process" "$(at kc-hash process 1 .flushes)" 0
fi
if ! built bdb-btree; then
    skip "a log that flushes with every write" "bdb-btree is not built"
else
    is "a log that flushes with every write" "$(at bdb-btree:log_dsync=on power 1 "$kinds")" \
        '{"sync_write":20}'
    is "or by a call" "$(at bdb-btree power 1 "$kinds")" '{"fdatasync":20}'
fi

# ---- the other scenarios ----------------------------------------------------------------------

campaign --drivers=files --scenarios=write-rand,read-rand,delete,open,open-killed \
    --durability=process --records=300 --batch=7 --opens=2 --count
is "each scenario of a chain is counted by itself" \
    "$(json '[.cells[].counted.status] | unique[]')" ok
is "whole commits are counted" "$(counted files process write-rand '[.records, .ops, .commits]')" \
    '[294,294,42]'
ok "the timed repeat has all records" holds '.cells[0].repeats[0].ops == 300'
is "what was read is told" "$(counted files process read-rand '[.ops, .bytes_read]')" '[500,50000]'
is "reading writes nothing" "$(counted files process read-rand .bytes_written)" 0
is "a delete is one call" "$(counted files process delete '.system_calls_by_name | keys')" \
    '["unlinkat"]'
ok "opening a store makes system calls" test "$(counted files process open .system_calls)" -gt 5
ok "a process that is killed for a scenario is not counted" test \
    "$(counted files process open-killed .system_calls)" -lt 5000
ok "the ratios are those of the counts" holds 'all(.cells[].counted;
    .per_op.system_calls == .system_calls / .ops and .per_op.bytes_read == .bytes_read / .ops and
    (.commits == 0 or .per_commit.flushes == .flushes / .commits))'

# ---- amplification ----------------------------------------------------------------------------

campaign --drivers=files,null --scenarios=write-rand,read-rand,delete --records=500
ok "no cell is counted unless it is asked for" holds 'all(.cells[]; has("counted") | not)'
ok "space is what is allocated for each byte that is alive" holds '
    [.cells[] | select(.label == "files") | .repeats[0] | .derived.space_amplification
        / (.files.allocated_bytes / (.live_records * 116)) - 1 | fabs] | length == 3
        and max < 1e-9'
is "deletes leave half of the records" "$(cell files '.repeats[0].live_records' delete)" 250
if [ "$(cell files '.repeats[0].usage | has("write_bytes")' write-rand)" = true ]; then
    ok "writing is what was made dirty, settling included" holds '.cells[] | select(.label ==
        "files" and .scenario == "write-rand") | .repeats[0] | .derived.write_amplification ==
        (.usage.write_bytes + .settle_write_bytes) / (.ops * 116)'
    ok "reading is what came from the device" holds '.cells[] | select(.label == "files" and
        .scenario == "read-rand") | .repeats[0] | .derived.read_amplification ==
        .usage.read_bytes / (.ops * 116)'
fi
ok "a store in memory has none of them" holds 'all(.cells[] | select(.label == "null") |
    .repeats[].derived; has("space_amplification") or has("write_amplification") | not)'

# ---- suites -----------------------------------------------------------------------------------

suite()
{
    printf '{"storebench_suite": 1, "name": "s", "repeats": 1, "count": %s, "drivers": ["null"],
        "chains": [{"scenarios": ["write-rand"]}]}\n' "$1" >suite.json
}
suite true
campaign suite.json
is "a suite asks for it" "$(counted null none write-rand .status)" '"ok"'
suite '"yes"'
campaign suite.json
refused 2 "'count' is neither true nor false" "a suite where 'count' is a word"

# ---- what goes wrong --------------------------------------------------------------------------

use_test_drivers
export STOREBENCH_TEST_PIDS="$tmp/pids"
drivers=test-good,test-print,test-crash:in=get,test-exit,test-fail,test-fork,test-na,test-flush
campaign --drivers="$drivers,test-flush:by=thread,test-flush:by=child,test-flush:by=spawn" \
    --scenarios=write-rand,read-rand --records=120 --batch=40 --count
is "crashes and failures are those of the timed repeats" "$status" 1
is "a driver that behaves is counted" "$(counted test-good none read-rand .status)" '"ok"'
is "one that prints, too" "$(counted test-print none read-rand .status)" '"ok"'
is "what ran before a crash is counted" \
    "$(counted test-crash:in=get none write-rand .status)" '"ok"'
is "the crash is told" "$(counted test-crash:in=get none read-rand .status)" '"crashed"'
ok "with its signal" sh -c "echo '$(counted test-crash:in=get none read-rand .reason)' |
    grep -q 'signal 11'"
is "so is an exit" "$(counted test-exit none write-rand .status)" '"crashed"'
is "and a failure" "$(counted test-fail none write-rand .status)" '"failed"'
is "a driver that starts a process is counted" "$(counted test-fork none write-rand .status)" '"ok"'
is "what does not apply is not tried" "$(counted test-na none write-rand .)" null
ok "no process is left" within 30 all_gone pids
unset STOREBENCH_TEST_PIDS

# ---- threads, children, programs --------------------------------------------------------------

for by in '' :by=thread :by=child; do
    is "a driver that flushes by known calls: test-flush$by" \
        "$(counted "test-flush$by" none write-rand "[($kinds), .bytes_written]")" \
        '[{"fdatasync":120,"sync_write":120},1200]'
done
is "there is no other call" \
    "$(counted test-flush none write-rand '[.system_calls, .system_calls_by_name]')" \
    '[240,{"write":120,"fdatasync":120}]'
# Starting shells takes its time: of as many as there was time for.
is "a descriptor that flushes does so in a program that inherits it" \
    "$(counted test-flush:by=spawn none write-rand "[(.flushes_by_kind.sync_write == .ops),
        .flushes == .ops, .bytes_written == 10 * .ops, .ops > 0]")" '[true,true,true,true]'
is "flushes by commit and by operation" \
    "$(counted test-flush:by=child none write-rand '[.per_commit.flushes, .per_op.flushes]')" \
    '[80,2]'

# ---- ends before its time ---------------------------------------------------------------------

# child_of PID WORD: the number of its child with that word on its command line, if there is one.
child_of()
{
    for one in /proc/[0-9]*; do
        grep -q "^PPid:[[:space:]]*$1\$" "$one/status" 2>/dev/null &&
            grep -qz "^$2\$" "$one/cmdline" 2>/dev/null && echo "${one#/proc/}" && return
    done
}

# The numbers of the process that counts for the campaign $pid, and of the repeat that it traces, go
# to the file counting.
find_counting()
{
    tracer=$(child_of "$pid" count-process)
    [ "$tracer" ] || return 1
    traced=$(child_of "$tracer" repeat-process)
    [ "$traced" ] && printf '%s\n' "$tracer" "$traced" >counting
}

start --drivers=test-sleep:ns=10000000 --scenarios=write-rand --records=200 --count
ok "a counting repeat runs" within 30 find_counting
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok "it dies with the campaign" within 30 all_gone counting
rm -rf dir result.json.partial && mkdir dir

start --drivers=test-sleep:ns=10000000 --scenarios=write-rand --records=200 --count
ok "another one runs" within 30 find_counting
kill -INT "$pid"
wait "$pid"
status=$?
is "Ctrl-C ends the campaign" "$status" 130
ok "the timed repeat is kept" holds '.cells[0].repeats[0].status == "ok"'
ok "no process is left" within 30 all_gone counting
ok "no file is left" is_empty dir
unset STOREBENCH_DRIVER_PATH

# ---- a system that forbids it -----------------------------------------------------------------

cat >forbid.py <<'END'
"""Runs a command whose ptrace is refused, as some containers do, by a filter of system calls."""
import ctypes, os, platform, struct, sys

number = {"x86_64": 101, "aarch64": 117}.get(platform.machine())
if number is None:
    sys.exit(77)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
prctl = ctypes.CDLL(None).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, program, 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
END
if python3 forbid.py /bin/true 2>/dev/null; then
    # The leak sanitizer stops threads by ptrace, which it may not, either.
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
        timeout -k 5 60 python3 forbid.py "$STOREBENCH" run --dir=dir --out=forbidden.json \
        --repeats=1 --records=100 --quiet --drivers=null --scenarios=write-rand --count \
        >out 2>err
    status=$?
    is "a campaign that may not trace ends well" "$status" 0
    is "its figures are n/a, not zeros" \
        "$(jq -c '.cells[0].counted | [.status, has("flushes")]' forbidden.json)" '["n/a",false]'
    ok "with the reason" sh -c "jq -e '.cells[0].counted.reason
        | test(\"not let system calls be traced: Operation not permitted\")' forbidden.json"
    ok "the timed repeat is not touched by it" holds '.cells[0].status == "ok"' forbidden.json
else
    skip "a system that forbids tracing" "no python3, or no filter of system calls"
fi

finish
