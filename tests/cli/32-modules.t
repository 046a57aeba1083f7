#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Modules that break the contract: each is refused with one line, the others are loaded.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

for module in abi size empty symbol tables; do
    ln -s "$STOREBENCH_TEST_DRIVERS/storebench-bad-$module.so" drivers/
done
use_test_drivers
head -c 3000 "$STOREBENCH_TEST_DRIVERS/storebench-test.so" >drivers/storebench-cut.so
echo 'no module' >drivers/storebench-text.so
: >drivers/storebench-nothing.so
mkdir drivers/storebench-folder.so
ln -s missing drivers/storebench-dangling.so
echo 'not looked at' >drivers/other.so
echo 'not looked at' >drivers/storebench-preload-any.so

run list
is "list ends well" "$status" 0
ok "every line of standard error names a module" not grep -Evq \
    "^storebench: $tmp/drivers/storebench-[a-z-]*\\.so: [^ ]" err

# refuses MODULE PATTERN [COUNT]: with one line.
refuses()
{
    is "storebench-$1.so is refused: $2" \
        "$(grep -Ec "^storebench: $tmp/drivers/storebench-$1\\.so: .*$2" err)" "${3:-1}"
}
refuses bad-abi 'driver ABI 2, this program has 1'
refuses bad-size 'struct sb_driver has [0-9]+ bytes'
refuses bad-empty 'no driver'
refuses bad-symbol "no symbol 'storebench_module'"
for module in cut text nothing folder dangling; do
    refuses $module ''
done
refuses bad-tables "driver '\\(null\\)' has a name"
refuses bad-tables "driver '' has a name"
refuses bad-tables "driver 'Bad_Name' has a name"
refuses bad-tables "driver 'bad-put' lacks .*put"
refuses bad-tables "driver 'bad-cursor' lacks .*cursor_close"
refuses bad-tables "driver 'bad-order' .*cursor_seek"
refuses bad-tables "driver 'bad-txn' .*begin"
refuses bad-tables "driver 'bad-abort' .*abort"
refuses bad-tables "driver 'bad-commit' .*commit"
refuses bad-tables "driver 'bad-append' .*append"
refuses bad-tables "driver 'bad-append-hook' .*append"
refuses bad-tables "driver 'bad-summary' .*summary"
refuses bad-tables "driver 'bad-level' .*level"
refuses bad-tables "driver 'bad-memory' .*not persistent"
refuses bad-tables "driver 'bad-outside' .*outside"
refuses bad-tables "driver 'bad-twice' .*two options"
refuses bad-tables "driver 'bad-reserved' .*'cache'"
refuses bad-tables "driver 'bad-wordless' .*choices"
refuses bad-tables "driver 'good-neighbour' is already offered"
is "nothing else is told" "$(wc -l <err)" 28

is "the good driver of a bad module is there, once" "$(grep -c '^good-neighbour - ' out)" 1
ok "the good module beside the bad ones is there" grep -q '^test-good - ' out
ok "the drivers of the build are there" grep -q '^null - ' out
ok "no bad driver is there" not grep -Eiq '^bad' out

run list --json=-
is "list --json=- ends well" "$status" 0
ok "list --json=- has the refused ones with their reasons" holds '
    (.rejected | length) == 28 and all(.rejected[]; (.module | length > 0) and
        (.reason | length > 0)) and ([.drivers[].name] | index("good-neighbour") != null)' out

campaign --drivers=test-good --scenarios=write-rand --json=-
is "a campaign beside bad modules ends well" "$status" 0
is "its document is alone on standard output" "$(jq -s length out)" 1
campaign --drivers=bad-put --scenarios=write-rand
is "a refused driver cannot be run" "$status" 2
ok "... and the program says that it does not exist" said "no driver 'bad-put'"

export STOREBENCH_DRIVER_PATH="$tmp/missing::$tmp/drivers:"
run list
is "folders of the search path need not exist" "$status" 0
ok "... and the others are searched" grep -q '^test-good - ' out

finish
