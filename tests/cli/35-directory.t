#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Where stores are made and where the result goes: what cannot be used is refused with one line,
# nobody else's files are touched, and nothing that was there is lost.

# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
use_test_drivers

good()
{
    campaign --drivers=test-good --scenarios=write-rand "$@"
}

# ---- directories that cannot be used ----------------------------------------------------------

echo mine >file
good --dir=file
refused 2 "directory file: Not a directory" "--dir that is a file"
good --dir=missing
refused 2 "directory missing: No such file" "--dir that is not there"
good --dir=
refused 2 "directory" "--dir that is empty"
good --dir="$tmp/file/below"
refused 2 "directory $tmp/file/below: Not a directory" "--dir below a file"
good --dir=dir --dir=missing
refused 2 "directory missing" "one of two directories is not there"
STOREBENCH_DIR=missing timeout 60 "$STOREBENCH" run --drivers=test-good --scenarios=write-rand \
    --out=result.json --quiet >out 2>err
status=$?
refused 2 "directory missing" "STOREBENCH_DIR that is not there"
ok "nothing was made" test ! -e result.json -a ! -e result.json.partial

mkdir closed
chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
    good --dir=closed
    refused 2 "directory closed: Permission denied" "--dir that cannot be written"
elif chmod 755 "$tmp" && chmod 777 "$tmp/dir" && setpriv --reuid=65534 --regid=65534 \
    --clear-groups "$STOREBENCH" list >nobody.out 2>nobody.err; then
    setpriv --reuid=65534 --regid=65534 --clear-groups timeout 60 "$STOREBENCH" run --dir=closed \
        --drivers=null --scenarios=write-rand --out=dir/result.json --quiet >out 2>err
    status=$?
    refused 2 "directory closed: Permission denied" "--dir that cannot be written"
    setpriv --reuid=65534 --regid=65534 --clear-groups timeout 60 "$STOREBENCH" run --dir=dir \
        --drivers=null --scenarios=write-rand --out=closed/result.json --quiet >out 2>err
    status=$?
    refused 2 "closed/result.json.partial: Permission denied" "--out that cannot be written"
    ok "... leaves nothing" is_empty dir
else
    skip "--dir that cannot be written" \
        "root can write everywhere, and nobody cannot run this build"
fi

# ---- several, and other kinds -----------------------------------------------------------------

mkdir 'two words' second
ln -s second link
good --dir='two words' --dir=second/../second --dir=link
is "several directories, one of them twice, the other time by a link: status 0" "$status" 0
is "each has its cell" "$(json '[.cells[].directory] | sort | join(" ")')" \
    "$tmp/dir $tmp/second $tmp/two words"
is "each is described" "$(json '[.directories[].path] | unique | join(" ")')" \
    "$tmp/dir $tmp/second $tmp/two words"
ok "nothing is left in them" test -z "$(find dir 'two words' second -mindepth 1)"

if [ -d /dev/shm ] && [ -w /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
    shm=$(mktemp -d /dev/shm/storebench-cli.XXXXXX)
    trap 'rm -rf "$shm"; cleanup' EXIT
    good --dir="$shm"
    is "a directory in memory: status 0" "$status" 0
    is "... is recorded as such" "$(json '.directories[] | select(.path | startswith("/dev/shm")) |
        "\(.memory_backed) \(.filesystem)"')" "true tmpfs"
    ok "... and nothing is left in it" is_empty "$shm"
else
    skip "a directory in memory: status 0" "/dev/shm is no writable tmpfs"
    skip "... is recorded as such" "/dev/shm is no writable tmpfs"
    skip "... and nothing is left in it" "/dev/shm is no writable tmpfs"
fi

# ---- what belongs to others -------------------------------------------------------------------

mkdir -p dir/storebench-run-xyz dir/storebench-run-abc dir/other dir/storebench-run-old
echo mine >dir/storebench-run-xyz/data
echo 'something else; pid 999999999' >dir/storebench-run-abc/storebench.manifest
echo mine >dir/other/storebench.manifest
echo mine >dir/file
echo mine >dir/storebench-run-file
ln -s ../file dir/storebench-run-link
find dir | sort >before
good
is "a campaign among the files of others: status 0" "$status" 0
find dir | sort >now
ok "none of them is gone, and none was added" cmp -s before now
ok "nothing is said about them" one_line
is "their contents are the same" "$(cat dir/storebench-run-xyz/data dir/file file)" "mine
mine
mine"

# A manifest of ours whose process is alive, or that leads out of the folder, removes nothing.
mkdir dir/storebench-run-alive outside
echo "storebench run folder: made and removed by storebench; pid $$" \
    >dir/storebench-run-alive/storebench.manifest
mkdir dir/storebench-run-dead
echo mine >outside/file
ln -s "$tmp/outside" dir/storebench-run-dead/link
sh -c 'echo "storebench run folder: made and removed by storebench; pid $$"' \
    >dir/storebench-run-dead/storebench.manifest
good
is "a campaign beside folders of other runs: status 0" "$status" 0
ok "the folder of a run that is alive stays" test -e dir/storebench-run-alive/storebench.manifest
ok "the folder of a run that is dead goes" test ! -e dir/storebench-run-dead
ok "what a link in it led to stays" test -e outside/file
rm -rf dir
mkdir dir

# ---- the result file --------------------------------------------------------------------------

good --out=missing/result.json
refused 2 "missing/result.json.*No such file" "--out in a folder that is not there"
ok "... nothing was made" test ! -e missing
mkdir folder
good --out=folder
refused 2 "folder: .*not a regular file" "--out that is a directory"
ok "... nothing was made beside it or in it" test ! -e folder.partial -a -z "$(ls -A folder)"
good --out=file/result.json
refused 2 "file/result.json.*Not a directory" "--out below a file"
mkfifo pipe
good --out=pipe
refused 2 "pipe: .*not a regular file" "--out that is a pipe, and so a device"
ok "... which is still there" test -p pipe -a ! -e pipe.partial

rm -f result.json
good
cp result.json first.json
is "a result: status 0" "$status" 0
export STOREBENCH_TEST_PIDS="$tmp/pids"
start --drivers=test-sleep:ns=500000 --scenarios=write-rand --records=200 --repeats=20
within 30 lines_at_least pids 2
ok "while the next run goes on, the old result is there" cmp -s first.json result.json
kill -s KILL "$pid"
wait "$pid" 2>wait.log
ok "after it was killed, too" cmp -s first.json result.json
rm -f result.json.partial
good --seed=8
is "the next run replaces it" "$(json .seed)" 8
ok "... and leaves nothing beside it" test ! -e result.json.tmp -a ! -e result.json.partial

finish
