#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A user's own keys and pairs: which of them are used, that stores get them whole, that a changed
# file is another cell, and what is refused.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

drivers=null
run list --json=-
for name in memory-tree memory-hash lmdb kc-hash bdb-btree tc-tree; do
    [ "$(jq --arg name $name '[.drivers[].name] | index($name) != null' out)" = false ] ||
        drivers=$drivers,$name
done
reads=write-seq,read-seq,read-rand,scan-keys,read-miss,overwrite,delete

# own ARGUMENT...: a campaign on a user's file; `campaign` would name a number of records.
own()
{
    rm -f "$tmp/result.json"
    run run --dir="$tmp/dir" --out="$tmp/result.json" --repeats=1 --phase-min=0s --seed=7 --quiet \
        --drivers="$drivers" --scenarios="$reads" "$@"
}

# digests: the different ones of stores that keep data.
digests()
{
    json '[.cells[] | select(.driver != "null") | .repeats[].digest] | unique | length'
}

all_ran()
{
    holds '[.cells[] | .status == "ok" or (.status == "n/a" and .driver == "null")] | all'
}

# ---- keys -------------------------------------------------------------------------------------

# 2002 lines: 2000 keys of many lengths, one of them again, one empty line.
seq 1 2000 | awk '{ printf "%s/%0*d\n", $1, $1 % 150, $1 }' | tee keys >all
head -n 1 all >>keys
echo >>keys

own --keys-from=keys
is "keys of many lengths: status 0" "$status" 0
ok "every scenario ran" all_ran
is "lines, empty ones, duplicates, records" \
    "$(json '.own_data | "\(.kind) \(.lines) \(.empty) \(.duplicates) \(.records)"')" \
    "keys 2002 1 1 2000"
is "the shortest and the longest key, and the bytes of all" \
    "$(json '.own_data | "\(.key_bytes_min) \(.key_bytes_max) \(.key_bytes_total)"')" \
    "$(awk '{ n = length($0); t += n; if (NR == 1 || n < a) a = n; if (n > z) z = n }
        END { print a, z, t }' all)"
ok "the parameters of cells say so" holds '.own_data as $o | [.cells[].parameters |
    .records == 2000 and .key_bytes == $o.key_bytes_max
    and .key_bytes_mean == $o.key_bytes_total / 2000 and .value_bytes == 100] | all'
is "one digest" "$(digests)" 1
ok "the table tells of the file" grep -q '^data: .*keys of keys; left out: 1 duplicates, 1 empty' \
    out
ok "no folder is left" is_empty dir
cp result.json first.json

shuf --random-source=all keys >shuffled
own --keys-from=shuffled
is "another order of the lines: the same cells" "$(json '[.cells[].id] | sort')" \
    "$(json '[.cells[].id] | sort' first.json)"
is "... the same contents" "$(json '[.cells[].repeats[].digest] | unique')" \
    "$(json '[.cells[].repeats[].digest] | unique' first.json)"
sed '7s/^/x/' keys >changed
own --keys-from=changed
is "one key changed: no cell is the same" \
    "$( (json '.cells[].id' && json '.cells[].id' first.json) | sort | uniq -d | wc -l)" 0

{
    printf 'a\nb\0c\0\0a\nb\0'
    head -c 100000 /dev/zero | tr '\0' k
} >nul
own --drivers=memory-tree -0 --keys-from=nul --scenarios=write-rand,read-seq,read-rand
is "keys that end in a NUL, and one without its end: status 0" "$status" 0
is "... newlines are part of them" \
    "$(json '.own_data | "\(.lines) \(.empty) \(.duplicates) \(.records) \(.key_bytes_max)"')" \
    "5 1 1 3 100000"
printf 'a\0b\nc\n' >with-nul
own --drivers=memory-tree --keys-from=with-nul --scenarios=write-rand,read-seq
is "a NUL inside a line is part of the key" \
    "$(json '.own_data | "\(.records) \(.key_bytes_max)"')" "2 3"
head -c 1048576 /dev/zero | tr '\0' k >long
own --drivers=memory-tree --keys-from=long --scenarios=write-rand,read-seq,read-miss
is "a key of 1 MiB: status 0" "$status" 0
is "... it is whole" "$(json '.own_data.key_bytes_max')" 1048576

# ---- pairs ------------------------------------------------------------------------------------

seq 1 1500 | awk '{ printf "key%d\tvalue of %0*d\n", $1, $1 % 200, $1 }' >pairs
printf 'key7\tis there already\nempty\t\nwith\tone\ttab\n\n' >>pairs
own --pairs-from=pairs
is "pairs: status 0" "$status" 0
ok "every scenario ran" all_ran
is "lines, empty ones, duplicates, records" \
    "$(json '.own_data | "\(.kind) \(.lines) \(.empty) \(.duplicates) \(.records)"')" \
    "pairs 1504 1 1 1502"
is "the bytes of all values: the first of two counts, a second tab is data" \
    "$(json '.own_data.value_bytes_total')" \
    "$(awk -F '\t' '!seen[$1]++ { t += length($0) - length($1) - ($0 != "") } END { print t }' \
        pairs)"
is "one digest" "$(digests)" 1
cp result.json tsv.json
jq -R -c 'select(. != "") | split("\t") | {key: .[0], value: (.[1:] | join("\t"))}' pairs |
    jq -c 'if .key == "key9" then {key_base64: (.key | @base64), value_base64: (.value | @base64)}
        else . end' >pairs.jsonl
own --pairs-from=pairs.jsonl
is "the same as JSON Lines, some in base64: the same contents" \
    "$(json '[.cells[].repeats[].digest] | unique')" \
    "$(json '[.cells[].repeats[].digest] | unique' tsv.json)"
is "... the same cells" "$(json '[.cells[].id]')" "$(json '[.cells[].id]' tsv.json)"

# ---- what is refused --------------------------------------------------------------------------

# bad PATTERN TEXT ARGUMENT...
bad()
{
    bad_pattern=$1 bad_text=$2
    shift 2
    own "$@"
    refused 2 "$bad_pattern" "$bad_text"
}

: >empty
printf '\n\n' >blank
printf 'a\t1\nb 2\n' >no-tab
printf '{"key":"a","value":"1"}\n{"key":"b"}\n' >no-value.jsonl
printf '{"key":"a","value":"1"}\n{"key":"b",\n' >cut.jsonl
printf '{"key":"a","value_base64":"A==="}\n' >base64.jsonl
bad 'missing.*No such file' "a file that is not there" --keys-from=missing
bad 'dir.*not a regular file' "a folder" --keys-from=dir
bad 'empty has no key' "an empty file" --keys-from=empty
bad 'blank has no key' "a file of empty lines" --keys-from=blank
bad 'no-tab:2: .*no tab' "a line without a tab" --pairs-from=no-tab
bad 'no-value.jsonl:2: ' "an object without a value" --pairs-from=no-value.jsonl
bad 'cut.jsonl:2: ' "a line that is no JSON" --pairs-from=cut.jsonl
bad 'base64.jsonl:1: ' "bad base64" --pairs-from=base64.jsonl
bad 'records' "a number of records beside the file's" --keys-from=keys --records=5
bad 'key_bytes' "a size of keys beside the file's" --keys-from=keys --key-bytes=20
bad 'value_bytes' "a size of values beside the file's" --pairs-from=pairs --value-bytes=20
bad 'one file' "two files" --keys-from=keys --pairs-from=pairs
bad 'null' "--null without a file" --null
ok "no folder is left" is_empty dir

finish
