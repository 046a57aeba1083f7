#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The result file: it is what results/schema says, its summaries follow from its repeats, and it has
# one cell a line.

# shellcheck disable=SC2016 # jq has variables of its own
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
schema=$STOREBENCH_SRCDIR/results/schema/result-1.json

# One driver of each kind, as far as this build has them: null, and plain files, need no library.
run list
ok "list ends well" test "$status" -eq 0
drivers=null,files
for driver in memory-tree lmdb; do
    ! grep -q "^$driver " out || drivers=$drivers,$driver
done

campaign_with()
{
    run run --drivers="$drivers" --dir="$tmp/dir" --commits=10 --phase-min=1ms --seed=7 --quiet "$@"
}

campaign_with --scenarios=write-rand,read-seq,read-rand,commit --records=1000 --repeats=2 --count \
    --out="$tmp/result.json"
is "a small campaign ends well" "$status" 0
cp out table
campaign_with --scenarios='*' --latency=on --records=200 --repeats=1 --out="$tmp/all.json"
is "a campaign of all scenarios, with latencies, ends well" "$status" 0

# ---- the schema -------------------------------------------------------------------------------

# validate FILE...: silent when all files are what the schema says.
cat >validate.py <<'END'
import json, sys
from jsonschema import validators

schema = json.load(open(sys.argv[1]))
validator = validators.validator_for(schema)
validator.check_schema(schema)
errors = [(name, e) for name in sys.argv[2:]
          for e in validator(schema).iter_errors(json.load(open(name)))]
for name, e in errors[:10]:
    print("%s: at %s: %s" % (name, "/".join(map(str, e.absolute_path)), e.message[:300]))
sys.exit(1 if errors else 0)
END
validate()
{
    python3 validate.py "$schema" "$@"
}

# bends FILTER TEXT: a result that jq has changed so is refused.
bends()
{
    jq "$1" result.json >bent.json
    ok "refused: $2" not validate bent.json
}

if python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null; then
    ok "the result is what the schema says" validate result.json
    ok "so is that with all scenarios and latencies" validate all.json
    bends '.extra = 1' "a member that the schema does not know"
    bends '.cells[0].repeats[0].extra = 1' "the same in a repeat"
    bends 'del(.seed)' "a document without its seed"
    bends 'del(.cells[0].hashes)' "a cell without its hashes"
    bends '(.cells[] | select(.status == "ok") | .repeats[0]) |= del(.elapsed_ns)' \
        "a repeat that is ok without its time"
    bends '.cells[0].durability_requested = "some"' "an unknown level"
    bends '.cells[0].parameters.records = "1000"' "a number in quotes"
    bends '.schema = "storebench-result-2"' "another schema"
    bends '.cells[0].counted = {"status": "ok"}' "what was counted without its figures"
    bends '.cells[0].counted = {"status": "n/a"}' "what was not counted without a reason"
    bends '.cells[0].counted.extra = 1' "another member in what was counted"
    bends 'del(.machine)' "a complete result without its machine"
elif [ "${CI:-}${STOREBENCH_REQUIRE:-}" ]; then
    fail "python3-jsonschema is missing; on Debian: apt-get install python3-jsonschema"
else
    skip "the result is what the schema says" "python3-jsonschema is missing"
fi

ok "everything in the schema has a description" jq -e '
    [paths(type == "object" and has("type") and (has("description") | not)) as $p
        | select(($p | index("if")) == null and ($p | index("then")) == null
            and ($p | index("anyOf")) == null
            and $p[-1] != "items") | $p] == []' "$schema"

# Every parameter of the program is in the schema, and the other way round; means are only there for
# keys that come from a file (45-own-data.t).
is "the schema has the parameters of the program" \
    "$(jq -r '."$defs".parameters.properties | keys[] | select(endswith("_mean") | not)' \
        "$schema")" \
    "$(json '.cells[0].parameters | keys[]')"

# ---- derived figures --------------------------------------------------------------------------

ok "some cells have figures" holds '[.cells[] | select(.status == "ok")] | length > 5'
ok "each rate is that of its counts" holds '[.cells[].repeats[] | select(.status == "ok")
    | (.ops / .elapsed_ns * 1e9) as $rate | .derived.ops_per_s / $rate - 1 | fabs] | max < 1e-9'
ok "a settled rate has the time of settling in it" holds '[.cells[].repeats[]
    | select(.derived.settled_ops_per_s)
    | (.ops / (.elapsed_ns + .settle_ns) * 1e9) as $rate
    | .derived.settled_ops_per_s / $rate - 1 | fabs] | length > 0 and max < 1e-9'

# median of an array, and what a summary of these values says
medians='def median: sort | if length % 2 == 1 then .[(length - 1) / 2]
    else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def close($x): if . == 0 then $x == 0 else ($x / . - 1 | fabs) < 1e-9 end;
def agrees($values): ($values | length) as $n | if . == null then $n == 0 else .count == $n
    and (.median | close($values | median)) and (.min | close($values | min))
    and (.max | close($values | max)) and .low == .min and .high == .max
    and .coverage == (if $n == 2 then 0.5 else 0 end) end;
def values(f): [.repeats[] | select(.status == "ok") | f | numbers];'
while read -r figure path; do
    ok "the summaries of $figure follow from the repeats" holds "$medians
        [.cells[] | values($path) as \$values | .summary.$figure | agrees(\$values)] | all"
done <<'END'
ops_per_s .derived.ops_per_s
commits_per_s .derived.commits_per_s
settled_ops_per_s .derived.settled_ops_per_s
ops_per_cpu_s .derived.ops_per_cpu_s
peak_rss_bytes .memory.peak_rss_bytes
file_allocated_bytes .files.allocated_bytes
file_apparent_bytes .files.apparent_bytes
write_bytes .usage.write_bytes
write_amplification .derived.write_amplification
read_amplification .derived.read_amplification
space_amplification .derived.space_amplification
END

ok "every cell that ran was counted, or says why not" holds 'all(.cells[] | select(.status == "ok");
    .counted | .status == "ok" or (.status == "n/a" and (.reason | length > 0)))'
ok "at level power, the share of the flush rate is that of the best one" holds '
    ([.directories[].flush_ceilings[] | .append, .overwrite, .mapped | .flushes_per_s] | max)
        as $best
    | [.cells[].summary | select(.share_of_flush_ceiling)
        | .share_of_flush_ceiling / (.commits_per_s.median / $best) - 1 | fabs]
    | length > 0 and max < 1e-9'
ok "every status but ok has a reason" holds '[.cells[] | select(.status != "ok") | .reason
    | type == "string" and length > 0] | all'
ok "the same contents for all that keep data" holds '[.cells[] | select(.driver != "null" and
    (.scenario | startswith("read"))) | .repeats[].digest] | unique | length == 1'

# ---- the file ---------------------------------------------------------------------------------

is "one cell a line" "$(grep -c '^{"id":' result.json)" "$(json '.cells | length')"
ok "every such line is a cell" sh -c "grep '^{\"id\":' result.json | sed 's/,\$//' |
    jq -e -s 'all(.[]; has(\"repeats\"))'"
ok "nothing is left beside it" not test -e result.json.partial
ok "the table has the cells' drivers" sh -c "for d in $(echo "$drivers" | tr , ' '); do
    grep -q \"^\$d \" table || exit 1; done"
ok "the table has no control characters when it is piped" not grep -q '[[:cntrl:]]' table

finish
