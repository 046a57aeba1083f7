#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Suites that are wrong: one line that says what and where, status 2, nothing made.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

# suite MEMBER...: writes suite.json, a good suite in which these members stand for its own.
suite()
{
    jq -n --argjson change "{$1}" '{storebench_suite: 1, name: "mine", repeats: 1,
        drivers: ["test-good"], set: {records: 100, phase_min: "0s"},
        chains: [{scenarios: ["write-rand", "read-rand"]}]} + $change |
        with_entries(select(.value != "ABSENT"))' >suite.json
}

# wrong TEXT PATTERN MEMBERS: a suite with these members is refused.
wrong()
{
    suite "$3"
    campaign suite.json
    refused 2 "suite\\.json: .*$2" "$1"
}

suite ''
campaign suite.json
is "the good suite runs" "$status" 0
is "its name is in the result" "$(json .suite.name)" mine
rm result.json
campaign "$tmp/suite.json" --dry-run
is "a suite by its absolute path" "$status" 0
for name in quick smoke standard quick.json; do
    campaign $name --dry-run
    is "the suite '$name' is found by its name" "$status" 0
done

# ---- what is not there ------------------------------------------------------------------------

campaign missing.json
refused 2 "missing.json: No such file" "a missing file"
campaign ./missing/suite.json
refused 2 "missing/suite.json: No such file" "a missing folder"
campaign smoek
refused 2 "smoek" "a misspelt name"
mkdir folder.json
campaign folder.json
refused 2 "folder.json" "a folder in place of a file"
ln -s loop.json loop.json
campaign loop.json
refused 2 "loop.json" "a symbolic link to itself"

# ---- what is not JSON -------------------------------------------------------------------------

# junk TEXT PLACE: suite.json is as it is, and PLACE is in the line.
junk()
{
    campaign suite.json
    refused 2 "suite\\.json:$2: " "$1"
    ok "... short and without control characters" test \
        "$(tr -d '\n' <err | tr -d '\040-\176' | wc -c)" -eq 0 -a "$(wc -c <err)" -lt 600
}
: >suite.json
junk "an empty file" '[0-9]+:[0-9]+'
printf '{\n  "storebench_suite": 1,\n  "name" "mine"\n}\n' >suite.json
junk "a syntax error gives its line and column" '3:[0-9]+'
printf '{"storebench_suite": 1,\n "repeats": 1,\n "repeats": 2}\n' >suite.json
junk "a member twice" '3:[0-9]+'
printf '{"storebench_suite": 1}\n{}\n' >suite.json
junk "two documents in one file" '2:[0-9]+'
printf '{"name": "\033[31m\000x"}' >suite.json
junk "control characters" '[0-9]+:[0-9]+'
printf '{"name": "\377\376"}' >suite.json
junk "what is not UTF-8" '[0-9]+:[0-9]+'
printf '{"repeats": 99999999999999999999999}' >suite.json
junk "a number beyond 64 bits" '[0-9]+:[0-9]+'
head -c 3000 /dev/zero | tr '\0' '[' >suite.json
junk "3000 levels, not closed" '[0-9]+:[0-9]+'
{
    printf '{"name": '
    head -c 3000 /dev/zero | tr '\0' '['
    head -c 3000 /dev/zero | tr '\0' ']'
    printf '}'
} >suite.json
junk "3000 levels, closed" '[0-9]+:[0-9]+'
head -c 10000000 /dev/zero | tr '\0' 'x' >suite.json
junk "10 MB of letters" '[0-9]+:[0-9]+'
head -c 10000000 /dev/zero >suite.json
junk "10 MB of zeros" '[0-9]+:[0-9]+'
for _ in 1 2 3 4 5; do
    head -c 2000000 "$STOREBENCH"
done >suite.json
junk "a program" '[0-9]+:[0-9]+'
echo '[1, 2]' >suite.json
campaign suite.json
refused 2 'suite.json: .*not an object' "an array in place of an object"

# ---- members ----------------------------------------------------------------------------------

wrong "an unknown member names the nearest" "'repaets'.*'repeats'" '"repaets": 3'
wrong "a member like no other" "'xylophone'" '"xylophone": 3'
wrong "another format" "storebench_suite" '"storebench_suite": 2'
wrong "no format" "storebench_suite" '"storebench_suite": "ABSENT"'
wrong "a format of another type" "storebench_suite" '"storebench_suite": "1"'
for value in 0 -1 1.5 '"3"' null '[]' 10001 '"ABSENT"'; do
    wrong "repeats: $value" repeats "\"repeats\": $value"
done
for value in 180 '"soon"' '"-3m"' null '{}'; do
    wrong "time_limit: $value" time_limit "\"time_limit\": $value"
done
for value in 5 null '["a"]' '"a/b"' '"../up"' '""'; do
    wrong "name: $value" "'name'" "\"name\": $value"
done
wrong "description: 5" "'description'" '"description": 5'
for value in '"ABSENT"' '[]' '"lmdb"' '[1]' '[""]' '[["a"]]' null; do
    wrong "drivers: $value" "'drivers'" "\"drivers\": $value"
done
suite '"drivers": ["test-godo"]'
campaign suite.json
refused 2 "'test-godo'.*'test-good'" "an unknown driver names the nearest"

# ---- parameters -------------------------------------------------------------------------------

wrong "an unknown parameter names the nearest" "'recrods'.*'records'" '"set": {"recrods": 5}'
wrong "a parameter like no other" "'xylophone'" '"set": {"xylophone": 5}'
wrong "set: a list" "'set'" '"set": []'
wrong "set: a number" "'set'" '"set": 5'
for value in 0 -5 1.5 '"many"' '[]' '[100, 0]' '{}' null true 2000000000000; do
    wrong "records: $value" records "\"set\": {\"records\": $value}"
done
for value in 5 '"5"' '"5 s"' '"48h"' '[]' true; do
    wrong "phase_limit: $value" phase_limit "\"set\": {\"phase_limit\": $value}"
done
wrong "durability: a number" durability '"set": {"durability": 1}'
wrong "durability: an unknown word" "durability.*'most'" '"set": {"durability": ["none", "most"]}'
wrong "cache: junk" "cache.*'big'" '"set": {"cache": "big"}'

# ---- chains -----------------------------------------------------------------------------------

for value in '"ABSENT"' '[]' '{}' '"write-seq"' null; do
    wrong "chains: $value" "'chains'" "\"chains\": $value"
done
wrong "a chain that is no object" "chain 1" '"chains": [["write-seq"]]'
wrong "an unknown member of a chain" "chain 1: .*'scenarois'.*'scenarios'" \
    '"chains": [{"scenarois": ["write-seq"]}]'
for value in '[]' '"write-seq"' 5 null '[5]' '[null]'; do
    wrong "scenarios: $value" "chain 1: .*scenario" "\"chains\": [{\"scenarios\": $value}]"
done
wrong "no scenarios" "chain 1: 'scenarios'" '"chains": [{}]'
wrong "an unknown scenario names the nearest, the chain is counted" \
    "chain 2: .*'read-rnad'.*'read-rand'" \
    '"chains": [{"scenarios": ["write-seq"]}, {"scenarios": ["read-rnad"]}]'
wrong "a fill in the middle of a chain" "chain 1: 'write-seq'.*first" \
    '"chains": [{"scenarios": ["write-rand", "write-seq"]}]'
eight='"read-rand", "read-seq", "read-rand", "read-seq", "read-rand", "read-seq", "read-rand",
    "read-seq"'
wrong "a chain that is too long" "chain 1: 'scenarios'" \
    "\"chains\": [{\"scenarios\": [$eight, $eight, $eight]}]"
wrong "an unknown parameter of a chain" "chain 1: .*'baths'.*'batch'" \
    '"chains": [{"scenarios": ["write-seq"], "set": {"baths": 5}}]'
wrong "an unknown capability" "chain 1: .*'orderd'" \
    '"chains": [{"scenarios": ["write-seq"], "only": ["orderd"]}]'
wrong "only: a word" "chain 1: 'only'" '"chains": [{"scenarios": ["write-seq"], "only": "ordered"}]'
wrong "only: a number" "chain 1: 'only'" '"chains": [{"scenarios": ["write-seq"], "only": [1]}]'

# ---- rules ------------------------------------------------------------------------------------

wrong "rules: an object" "'rules'" '"rules": {}'
wrong "a rule that is no object" "rule 1" '"rules": [1]'
wrong "a rule without drivers" "rule 1: 'drivers'" '"rules": [{"set": {"records": 5}, "why": "so"}]'
wrong "a rule without reason" "rule 1: 'why'" \
    '"rules": [{"drivers": ["*"], "set": {"records": 5}}]'
wrong "an unknown parameter of a rule" "rule 1: .*'recods'.*'records'" \
    '"rules": [{"drivers": ["*"], "set": {"recods": 5}, "why": "so"}]'
wrong "an unknown member of a rule" "rule 1: .*'driver'.*'drivers'" \
    '"rules": [{"driver": ["*"], "set": {"records": 5}, "why": "so"}]'

# ---- contradictions ---------------------------------------------------------------------------

suite '"set": {"records": 1000000, "key_bytes": 3}'
timeout 60 "$STOREBENCH" run suite.json --dir=dir --out=result.json --quiet >out 2>err
status=$?
refused 2 "key_bytes" "keys too short for the suite's records"
suite '"chains": [{"scenarios": ["write-rand"], "only": ["persistent"]}]'
campaign suite.json
is "a chain that no driver can do: status 3" "$status" 3
ok "... and a line that says so" said "nothing can run"
suite '"rules": [{"drivers": ["test-good"], "set": {"durability": "power"}, "why": "so"}]'
campaign suite.json
is "a rule that no mode of the driver keeps: status 3" "$status" 3

ok "nothing was made" test ! -e result.json -a ! -e result.json.partial
ok "nothing is left in the directory" is_empty dir

# ---- merged -----------------------------------------------------------------------------------

suite '"set": {"records": [100, 100, 200]}, "chains": [{"scenarios": ["write-rand"]},
    {"scenarios": ["write-rand", "read-rand"]}]'
timeout 60 "$STOREBENCH" run suite.json suite.json --dir=dir --dry-run >out 2>err
status=$?
is "the same chain, twice over: status 0" "$status" 0
is "... is planned once for each value" "$(grep -c '^test-good ' out)" 2

finish
