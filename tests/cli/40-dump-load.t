#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# dump, load and tool on stores of the user's: every driver that keeps files gives back what was
# put, in a form that any other takes; what is wrong is told in one line; nothing is removed.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
ln -s "$STOREBENCH_TEST_DRIVERS/storebench-skeleton.so" drivers/
export STOREBENCH_DRIVER_PATH="$tmp/drivers"

"$STOREBENCH" list --json=- >list.json
# drivers FILTER: the names of the drivers whose entry passes it.
drivers()
{
    jq -r ".drivers[] | select($1) | .name" list.json
}
persistent=$(drivers '.capabilities | index("persistent")')
volatile=$(drivers '.capabilities | index("persistent") | not')
recovering=$(drivers '.durability | index("process")')

# has DRIVER CAPABILITY
has()
{
    jq -e --arg name "$1" --arg cap "$2" \
        '.drivers[] | select(.name == $name) | .capabilities | index($cap)' list.json >jq.log
}

# digest FILE: the count and the digest in what dump or load said.
digest()
{
    sed -n 's/.*\( [0-9]* records, digest [0-9a-f]\{32\}\)$/\1/p' "$1"
}

# sum DIR: of all that is in it, names and bytes.
sum()
{
    (cd "$1" && find . -type f -exec cksum {} + | sort | cksum)
}

ends_cleanly()
{
    [ "$status" -eq "$1" ] && [ ! -s err ] || return 1
}

in_order()
{
    grep 'of Ünicode' "$1" | sort -c
}

# Many plain keys, in descending order, and awkward ones, in the form in which dump writes them.
seq 999 -1 100 | sed 's/.*/{"key": "key & of Ünicode, \/", "value": "value & \\"quoted\\""}/' >in
cat >>in <<'END'
{"key": "a\u0000b", "value": "NUL in the key"}
{"key": "line\nline\ttab\\", "value": "\u0000\u0001\u001F\u0000"}
{"key": "\u0000", "value": "x"}
{"key_base64": "/w==", "value": "the key is no UTF-8"}
{"key_base64": "w7w8/wA=", "value_base64": "gIGC/w=="}
{"key": "empty value", "value": ""}
{"key": "𝄞", "value_base64": "7aCA"}
END
{
    printf '{"key": "1 MiB", "value": "'
    head -c 1048576 /dev/zero | tr '\0' v
    printf '"}\n{"key": "1 MiB of bytes", "value_base64": "'
    head -c 1048578 /dev/zero | tr '\0' '\377' | base64 -w0
    printf '"}\n'
} >>in
sort in >sorted
more=$(head -c 400 /dev/zero | tr '\0' v)
seq 100000 100999 | sed "s/.*/{\"key\": \"&\", \"value\": \"& $more\"}/" >many
sort many >many.sorted

# ---- there and back ---------------------------------------------------------------------------

previous=in
wanted=
for driver in $persistent; do
    run load "$driver" "store-$driver" "$previous" --batch=100
    got=$(digest out)
    ok "$driver: load ends cleanly" ends_cleanly 0
    ok "$driver: load tells how many" grep -q '^909 records loaded; the store has 909 ' out
    is "$driver: the same records have the same digest" "$got" "${wanted:=$got}"
    run dump "$driver" "store-$driver" --out="$driver.out"
    is "$driver: dump ends well" "$status $(wc -c <out)" "0 0"
    is "$driver: the digest of the dump is that of the load" "$(digest err)" "$wanted"
    sort "$driver.out" >"$driver.sorted"
    ok "$driver: the dump has what was put" cmp -s sorted "$driver.sorted"
    ok "$driver: no .partial is left" not test -e "$driver.out.partial"
    if has "$driver" ordered; then
        ok "$driver: the dump is in the order of the store" \
            in_order "$driver.out"
    fi
    previous=$driver.out # the next store is filled from this one
done

for driver in $persistent; do
    store=store-$driver
    printf '%s\n' '{"key": "empty value", "value": "no more"}' '' '{"key": "new", "value": ""}' |
        "$STOREBENCH" load "$driver" "$store" --replace >out 2>err
    status=$?
    ok "$driver: --replace ends cleanly" ends_cleanly 0
    ok "$driver: --replace tells how many" grep -q '^2 records loaded; the store has 910 ' out
    run dump "$driver" "$store"
    is "$driver: --replace has changed one and added one" \
        "$(grep -c -e '"empty value", "value": "no more"}$' -e '"new", "value": ""}$' out)" 2
done

: >empty
for driver in $persistent; do
    run load "$driver" "empty-$driver" empty
    is "$driver: no records make an empty store" "$status $(digest out)" \
        "0  0 records, digest 00000000000000000000000000000000"
    run dump "$driver" "empty-$driver"
    is "$driver: its dump is empty" "$status $(wc -c <out)" "0 0"
done

# ---- tools ------------------------------------------------------------------------------------

for driver in $persistent; do
    store=store-$driver
    for verb in verify stat salvage; do
        before=$(sum "$store")
        if [ $verb = salvage ]; then
            run tool "$driver" salvage "$store" --out="saved-$driver"
        else
            run tool "$driver" $verb "$store"
        fi
        if [ "$status" -eq 2 ]; then
            refused 2 "$driver has no tool '$verb'; it has '" "$driver: has no $verb and says what"
            continue
        fi
        ok "$driver: $verb ends cleanly" ends_cleanly 0
        ok "$driver: $verb says something" test -s out
        [ $verb = salvage ] || continue
        is "$driver: salvage --out leaves the store as it was" "$(sum "$store")" "$before"
        run dump "$driver" "$store"
        wanted=$(digest err)
        run dump "$driver" "saved-$driver"
        is "$driver: the salvaged copy is the same" "$(digest err)" "$wanted"
    done
done

# damage STORE: the largest file gets two pages of ones in its middle.
damage()
{
    # shellcheck disable=SC2012 # names of ours
    file=$1/$(ls -S "$1" | head -n 1)
    head -c 8192 /dev/zero | tr '\0' '\377' | dd of="$file" bs=4096 conv=notrunc \
        seek=$(($(wc -c <"$file") / 8192)) 2>dd.log
}

# told_damage WHAT: status 1, and the last line on standard error is ours and names the store.
told_damage()
{
    if [ "$status" -eq 1 ] && one_line && said "/$store: "; then
        pass "$1"
    else
        fail "$1"
    fi
}

# What a library still holds when it gives up is its own affair.
asan_options=${ASAN_OPTIONS:-}
export ASAN_OPTIONS="$asan_options:detect_leaks=0"
for driver in bdb-btree bdb-hash gdbm; do
    echo "$persistent" | grep -qx $driver || continue
    store=damaged-$driver
    run load $driver "$store" many
    damage "$store"
    run tool $driver verify "$store"
    told_damage "$driver: verify finds damage"
    run dump $driver "$store" --out=damaged
    told_damage "$driver: dump of a damaged store fails"
    ok "$driver: and leaves no file that looks complete" not test -e damaged
    rm -f damaged damaged.partial
done
export ASAN_OPTIONS="$asan_options"
store="store-files"
touch "$store/no&key"
run tool files verify "$store"
told_damage "files: verify finds a file that is no record"

run tool files verfy store-files
refused 2 "'verfy'.*'verify'" "a misspelt tool names the nearest"
run tool files xylophone store-files
refused 2 "'xylophone'.*verify, stat and salvage" "a tool like no other: the tools are named"
run tool files stat
refused 2 "help tool" "tool without a directory"
run tool files stat store-files --out=new
refused 2 "salvage" "--out is for salvage"
run tool skeleton salvage store-skeleton --out=store-skeleton/copy
refused 2 "in the store" "a store is not copied into itself"

# ---- directories ------------------------------------------------------------------------------

mkdir foreign
echo mine >foreign/file
before=$(sum foreign)
for driver in $persistent; do
    highest=$(jq -r --arg name "$driver" '.drivers[] | select(.name == $name) | .durability[-1]' \
        list.json)
    run dump "$driver" foreign --durability="$highest"
    refused 1 "/foreign: " "$driver: dump of a directory without a store"
    run dump "$driver" foreign --recover
    refused 1 "/foreign: " "$driver: dump --recover of a directory without a store"
    run load "$driver" foreign in
    refused 2 "foreign is not an empty directory.*--replace" "$driver: load into a full directory"
    run load "$driver" foreign in --replace
    refused 1 "/foreign: .*nothing was loaded" "$driver: load --replace without a store"
    run tool "$driver" stat foreign
    refused 1 "/foreign: " "$driver: stat without a store"
done
is "the directory is as it was" "$(sum foreign)" "$before"
mkdir hollow
for command in 'dump files hollow' 'tool files stat hollow' 'load files hollow in --replace'; do
    # shellcheck disable=SC2086 # words
    run $command
    refused 2 "hollow: an empty directory" "$command: no store"
done
ok "nothing came into the empty directory" is_empty hollow
run load files hollow in
is "load takes an empty directory" "$status" 0
run dump files missing
refused 2 "missing: No such file" "dump of a directory that is not there"
run load files missing/store in
refused 2 "missing/store: No such file" "load makes one directory, not two"
run load files in in
refused 2 "in is not an empty directory" "load into a file"

for driver in $volatile; do
    run load "$driver" new in
    refused 2 "$driver keeps .*memory only" "load $driver: there is nothing to keep"
done
run dump memory-tree foreign
refused 2 "memory only" "dump memory-tree"
run tool memory-tree stat foreign
refused 2 "memory only" "tool memory-tree"
ok "no directory was made" not test -e new

# ---- options ----------------------------------------------------------------------------------

for command in dump load tool; do
    run $command
    refused 2 "$command needs DRIVER.*help $command" "$command alone"
    run $command flies stat foreign
    refused 2 "'flies'.*'files'|unexpected" "$command: an unknown driver names the nearest"
done
run dump files:ioo=mmap foreign
refused 2 "'ioo'.*'io'" "an unknown option of a driver names the nearest"
run dump files foreign --recver
refused 2 "'--recver'.*'--recover'" "an unknown option of dump names the nearest"
run load files new in --batch=0
refused 2 "--batch.*'0'" "--batch takes 1 or more"
run load files new in --durability=strong
refused 2 "none\|process\|power.*'strong'" "--durability names the levels"
run load files new in more
refused 2 "'more'" "load takes one file"
run load files new missing
refused 2 "missing: No such file" "load of a file that is not there"
run load files new foreign
refused 2 "foreign: Is a directory" "load of a directory"
ok "no directory was made" not test -e new

head -n 3 in >one
run load files:layout=hashed:write=rename hashed one --durability=power
is "load with options of the driver and a level" "$status" 0
run tool files stat hashed
ok "they hold for the store" grep -q '^layout: hashed$' out

if [ -e "$STOREBENCH_DRIVERS/storebench-tokyocabinet.so" ]; then
    run load tc-hash:yield=off quiet in
    ok "load with a library that must be preloaded" ends_cleanly 0
    run dump tc-hash:yield=off quiet
    is "dump, too" "$status $(digest err)" "0  $(digest err | cut -c2-)"
fi

# ---- wrong lines ------------------------------------------------------------------------------

# wrong LINE PATTERN TEXT: as the third line of a file, and as the first one.
wrong()
{
    rm -rf bad
    printf '{"key": "a", "value": "1"}\n\n%s\n{"key": "z", "value": "2"}\n' "$1" >bad.jsonl
    run load files bad bad.jsonl --batch=1000
    refused 2 "bad.jsonl:3: the line $2; records committed to bad: 1$" "$3"
    run dump files bad
    is "$3: what was before it is there" "$(cat out)" '{"key": "a", "value": "1"}'
    rm -rf bad
    printf '%s\n' "$1" | "$STOREBENCH" load files bad - >out 2>err
    status=$?
    refused 2 "standard input:1: the line $2; nothing was loaded" "$3: first of standard input"
    ok "$3: no store was made" not test -e bad
}

wrong '{"key": "b", "value": ' 'is not JSON \(byte [0-9]+\)' "a line that is cut"
wrong 'key	value' 'is not JSON.*' "a line of another format"
wrong '["key", "value"]' 'is not \{"key": ..., "value": ...\}' "an array"
wrong '{"key": "b"}' 'has no "value"' "no value"
wrong '{"value": "b"}' 'has no "key"' "no key"
wrong '{"key": "b", "value": null}' 'has a "value" that is not a string' "a value of another type"
wrong '{"key": "b", "key": "c", "value": ""}' 'is not JSON.*' "a key twice"
wrong '{"key": "b", "key_base64": "", "value": ""}' 'has both "key" and "key_base64"' "both"
wrong '{"key": "b", "value_base64": "a"}' 'has a "value_base64" that is not base64' "bad base64"
wrong '{"key": "b", "value": "", "ttl": 1}' 'has a member "ttl" besides key and value' "more"
long=$(head -c 200 /dev/zero | tr '\0' k)
printf '{"key": "a", "value": ""}\n{"key": "%s", "value": ""}' "$long" >bad.jsonl
run load files long bad.jsonl
refused 2 "bad.jsonl:2: files takes keys of at most [0-9]+ bytes, not 200" "a key beyond the limits"

# ---- a store that fails ------------------------------------------------------------------------

if echo "$persistent" | grep -qx lmdb; then
    run load lmdb:mapsize=1MiB full in --batch=100
    refused 1 "in:908: mdb_put: .*; records committed to full: 900$" "a store that is full"
    run dump lmdb full
    is "the batch that failed is undone" "$status $(digest err | cut -d, -f1)" "0  900 records"
fi

# ---- output that fails ------------------------------------------------------------------------

run load skeleton many-store many
is "many records" "$status" 0
run dump skeleton many-store --out=/dev/full
refused 2 "/dev/full: it is not a regular file" "--out does not replace a device"
echo old >target
touch target.partial
run dump skeleton many-store --out=target
refused 2 "target.partial exists" "--out does not touch a partial file of another"
is "and not the file" "$(cat target)" old
rm target.partial
run dump skeleton many-store --out=target
is "--out replaces a file" "$(wc -l <target)" 1000
run dump skeleton many-store --out=missing/target
refused 2 "missing/target.partial: No such file" "--out in a directory that is not there"

# unwritten TEXT: status 1 and one line.
unwritten()
{
    if [ "$status" -eq 1 ] && one_line && said 'cannot write to standard output'; then
        pass "$1"
    else
        fail "$1"
    fi
}

for command in 'dump skeleton many-store' 'tool skeleton stat many-store' \
    'load skeleton new many'; do
    # shellcheck disable=SC2086 # words
    "$STOREBENCH" $command >/dev/full 2>err
    status=$?
    unwritten "$command to a full disk"
    rm -rf new
    # shellcheck disable=SC2086 # words
    "$STOREBENCH" $command >&- 2>err
    status=$?
    unwritten "$command to a closed stream"
    rm -rf new
done
{
    "$STOREBENCH" dump skeleton many-store 2>err
    echo $? >status
} | head -n 1 >line
status=$(cat status)
unwritten "dump to a pipe that was closed"

# ---- interruptions ----------------------------------------------------------------------------

# feed SIGNAL DRIVER [OPTION...]: a load that has read most of the file `many` and waits for more
# gets the signal. A pipe holds 64 KiB, so what was written and is not in it has been read.
feed()
{
    signal=$1
    driver=$2
    shift 2
    rm -rf fed fifo
    mkfifo fifo
    exec 3<>fifo
    "$STOREBENCH" load "$driver" fed fifo --batch=50 "$@" >out 2>err </dev/null 3>&- &
    pid=$!
    timeout 50 cat many >&3
    kill -s "$signal" $pid
    { wait $pid; } 2>killed
    status=$?
    exec 3>&-
}

# subset FILE: its lines are of the file `many`, 500 at least.
subset()
{
    sort "$1" >subset.sorted
    [ "$(comm -23 subset.sorted many.sorted | wc -l)" -eq 0 ] && lines_at_least "$1" 500
}

for driver in $persistent; do
    feed INT "$driver"
    committed=$(sed -n 's/^storebench: interrupted; records committed to fed: //p' err)
    is "$driver: an interrupted load tells what it has committed" \
        "$status $(one_line && [ -n "$committed" ] && echo told)" "130 told"
    run dump "$driver" fed --out=fed.out
    is "$driver: the store was closed properly and has that" \
        "$status $(wc -l <fed.out)" "0 $committed"
    ok "$driver: nothing else is in it" subset fed.out
done
for driver in $recovering; do
    feed KILL "$driver" --durability=process
    is "$driver: a killed load" "$status" 137
    run dump "$driver" fed --recover --out=fed.out
    is "$driver: dump --recover ends well" "$status" 0
    ok "$driver: what was committed is there and nothing else" subset fed.out
done

# A dump that waits for its reader.
rm -f fifo
mkfifo fifo
exec 3<>fifo
"$STOREBENCH" dump skeleton many-store >fifo 2>err </dev/null 3>&- &
pid=$!
IFS= read -r _ <&3
kill -s INT $pid
wait $pid
is "an interrupted dump says that it is not complete" \
    "$? $(grep -c '^storebench: interrupted; the dump is not complete' err)" "130 1"
exec 3>&-

finish
