#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The digest of a store's contents: the same for every driver and every run with the same seed and
# count, another one for anything else.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

drivers=test-good
run list --json=-
for name in memory-tree memory-hash files; do
    if [ "$(jq --arg name $name '[.drivers[].name] | index($name) != null' out)" = true ]; then
        drivers=$drivers,$name
    fi
done
ok "there are drivers to compare" test "$drivers" != test-good

# digests FILE FILTER: the different ones of the cells that the filter selects, one a line.
digests()
{
    jq -r "[.cells[] | select($2) | .repeats[].digest] | unique | .[]" "$1"
}

campaign --drivers=$drivers --scenarios=write-rand,write-seq --records=300 --repeats=2 --out=a.json
is "the first run: status 0" "$status" 0
is "all drivers, orders and repeats: one digest" "$(digests a.json true | wc -l)" 1
ok "it is there" grep -Eq '^[0-9a-f]{16,}' <<END
$(digests a.json true)
END
campaign --drivers=$drivers --scenarios=write-rand --records=300 --out=b.json
is "another run has the same" "$(digests b.json true)" "$(digests a.json true)"
campaign --drivers=$drivers --scenarios=write-rand --records=300 --seed=8 --out=c.json
is "another seed: one digest as well" "$(digests c.json true | wc -l)" 1
ok "... another one" test "$(digests c.json true)" != "$(digests a.json true)"

campaign --drivers=test-good --scenarios=write-rand --records=300,301 --value-bytes=100,99,0 \
    --key-bytes=16,8 --out=d.json
is "other counts and sizes: status 0" "$status" 0
is "each has a digest of its own" "$(digests d.json true | wc -l)" 12
is "the first one is as before" "$(digests d.json '.parameters.records == 300 and
    .parameters.value_bytes == 100 and .parameters.key_bytes == 16')" "$(digests a.json true)"

# What was overwritten is part of the contents.
campaign --drivers=$drivers --scenarios=commit --durability=none --batch=10 --commits=5 \
    --records=300 --out=e.json
is "commits: status 0" "$status" 0
is "commits: one digest for all drivers" "$(digests e.json true | wc -l)" 1
ok "... another one than before the commits" test "$(digests e.json true)" != \
    "$(digests a.json true)"

finish
