#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The documents say what the program has: every option, parameter, scenario, warning, status,
# driver, hook, suite and source file is in the document that should name it, and nothing else is.
# Each check is shown to fail on a copy of the document from which one line was taken.
# shellcheck disable=SC2013,SC2016 # names have no spaces; the documents have backquotes

if [ "${STOREBENCH_BUILD:-main}" != main ]; then
    echo "1..0 # SKIP runs in the main build"
    exit 0
fi
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
src=$STOREBENCH_SRCDIR
manual=$src/docs/storebench.1

# ---- what documents say -----------------------------------------------------------------------

# words FILE HEAD: the words in code type in the first column of the tables whose head begins so.
words()
{
    awk -v head="| $2 |" '
        index($0, head) == 1 { inside = 1; next }
        !/^\|/ { inside = 0 }
        inside { split($0, cells, "|"); print cells[2] }' "$1" |
        grep -o '`[^`]*`' | tr -d '`' | sort
}

# columns FILE HEAD COLUMN...: these columns of the same tables, without code type.
columns()
{
    columns_file=$1
    columns_head=$2
    shift 2
    awk -v head="| $columns_head |" -v wanted="$*" '
        index($0, head) == 1 { inside = 1; next }
        !/^\|/ || /^\|[- |]*$/ { inside = inside && /^\|/; next }
        inside {
            count = split($0, cells, " *[|] *")
            line = ""
            for (i = 1; i <= split(wanted, numbers, " "); i++)
                line = line (i > 1 ? " " : "") cells[numbers[i] + 1]
            print line
        }' "$columns_file" | tr -d '`' | sort
}

# manual_part FILE HEADING: lines of a section or subsection, with plain minus signs.
manual_part()
{
    awk -v heading="$2" '
        /^\.S[SH] / { inside = substr($0, 5) == heading; next }
        inside' "$1" | sed 's/\\-/-/g'
}

# manual_heads FILE HEADING: what its .TP lines head, without macros.
manual_heads()
{
    manual_part "$1" "$2" |
        awk 'head { sub(/^\.[A-Z]+ /, ""); print; head = 0 } /^\.TP/ { head = 1 }'
}

# same LEFT RIGHT: files with the same lines, and some.
same()
{
    [ -s "$1" ] && diff "$1" "$2"
}

# line_gone FILE PATTERN: the copy `without`: without the first line that has the pattern.
line_gone()
{
    awk -v pattern="$2" '!gone && $0 ~ pattern { gone = 1; next } { print }' "$1" >without
    ! cmp -s "$1" without
}

# promise TEXT CHECK FILE PATTERN: the check holds for the file, and not without that line.
promise()
{
    ok "$1" "$2" "$3"
    if line_gone "$3" "$4"; then
        ok "... and the check fails without one" not "$2" without
    else
        fail "... no line of ${3#"$src"/} has $4"
    fi
}

# ---- what the program has ---------------------------------------------------------------------

run help
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out | sort >commands
while read -r command; do
    run help "$command"
    cp out "help.$command"
    {
        sed -nE 's/^  (-., )?(--[a-z-]+).*/\2/p' out
        grep '^Usage:' out | grep -oE -- '\[--[a-z-]+' | tr -d '['
    } | sed "s/^/$command /"
done <commands | sort -u >options
sed -nE '/^Parameters/,/^Output/s/^  --([a-z-]+)=.* \[([^]]*)\]$/\1 \2/p' help.run |
    sort >parameters
sed -n '/^Scenarios:/,$s/^  \([a-z-]*\) .*/\1/p' help.run | sort >scenarios
run list --json=-
mv out drivers.json
: >out

# ---- the manual page --------------------------------------------------------------------------

manual_commands()
{
    sed -n 's/^\.SS storebench //p' "$1" | sort >found
    same commands found
}
promise "the manual page has every command" manual_commands "$manual" '^\.SS storebench probe'

manual_options()
{
    while read -r command; do
        manual_heads "$1" "storebench $command" | grep -oE -- '^"?-.*' | grep -oE -- '--[a-z-]+' |
            sed "s/^/$command /"
    done <commands | sort -u >found
    same options found
}
promise "the manual page has every option, and no other" manual_options "$manual" \
    '^\.BI .*resume='

# The text of a parameter ends with its default in brackets.
manual_defaults()
{
    manual_part "$1" "storebench run" | awk '
        head { match($0, /--[a-z-]+/); name = substr($0, RSTART + 2, RLENGTH - 2); head = 0; next }
        /^\.TP/ { head = 1 }
        name && match($0, /\[[^]]*\]\.$/) { print name, substr($0, RSTART + 1, RLENGTH - 3) }' |
        sort >found
    same parameters found
}
promise "the manual page has the defaults of all parameters" manual_defaults "$manual" '\[1M\]\.$'

manual_scenarios()
{
    manual_heads "$1" SCENARIOS | sort >found
    same scenarios found
}
promise "the manual page has every scenario" manual_scenarios "$manual" '^\.B scan'

sed -n '/^enum sb_exit/,/^};/s/.*= \([0-9]*\).*/\1/p' "$src/src/command.h" | sort >statuses
manual_statuses()
{
    manual_heads "$1" "EXIT STATUS" | grep -o '[0-9][0-9]*' | sort >found
    same statuses found
}
promise "the manual page has every exit status" manual_statuses "$manual" '^\.B 3$'

cat "$src"/src/*.c | grep -o 'getenv("[A-Z_]*")' | sed 's/.*"\(.*\)".*/\1/' |
    grep -vx -e ASAN_OPTIONS -e LD_PRELOAD | sort -u >variables # those are passed on
manual_variables()
{
    manual_heads "$1" ENVIRONMENT | sort >found
    same variables found
}
promise "the manual page has every environment variable" manual_variables "$manual" \
    '^\.B STOREBENCH_DIR$'

# ---- workloads --------------------------------------------------------------------------------

workload_parameters()
{
    columns "$1" parameter 1 3 | tr _ - | sort >found
    same parameters found
}
promise "workloads/README.md has every parameter with its default" workload_parameters \
    "$src/workloads/README.md" '^[|] `turnovers`'

workload_scenarios()
{
    words "$1" scenario >found
    same scenarios found
}
promise "workloads/README.md has every scenario" workload_scenarios "$src/workloads/README.md" \
    '^[|] `open-killed`'

awk '/names\[\] = \{/ { inside = 1 } inside { print } /\}/ { inside = 0 }' "$src/src/suite.c" |
    grep -o '"[a-z_]*"' | tr -d '"' | sort -u >members
workload_members()
{
    {
        words "$1" member
        words "$1" "member of a chain"
        words "$1" "member of a rule"
    } | sort -u >found
    same members found
}
promise "workloads/README.md has every member of a suite" workload_members \
    "$src/workloads/README.md" '^[|] `time_limit`'

for suite in "$src"/workloads/*.json; do
    jq -r '"\(.name) \(.repeats) \(.time_limit)"' "$suite"
done | sort >suites
workload_suites()
{
    columns "$1" "suite | blocks" 1 2 3 >found
    same suites found
}
promise "workloads/README.md has every suite with its blocks and time" workload_suites \
    "$src/workloads/README.md" '^[|] `standard` [|] 10'

# The example is a suite.
awk '/^```json/ { inside = 1; next } /^```/ { inside = 0 } inside' "$src/workloads/README.md" \
    >example.json
if run run example.json --dir=dir --drivers=null --dry-run && [ "$status" -eq 0 ]; then
    pass "the example of workloads/README.md is a good suite"
else
    fail "the example of workloads/README.md is a good suite"
fi

# ---- methodology ------------------------------------------------------------------------------

{
    cat "$src"/src/*.c | grep -o 'sb_json_append_text(warnings, "[a-z-]*"' | sed 's/.*"\(.*\)"/\1/'
    sed -n '/^static const char \*explain_warning/,/^}/p' "$src/src/table_sheet.c" |
        grep -o '{"[a-z-]*"' | tr -d '{"'
} | sort -u >warnings
methodology_warnings()
{
    words "$1" warning >found
    same warnings found
}
promise "docs/methodology.md has every warning" methodology_warnings "$src/docs/methodology.md" \
    '^[|] `cold-memory`'

jq -r '.. | .enum? // empty | select(index("crashed")) | .[]' \
    "$src/results/schema/result-1.json" | sort -u >cell_statuses
methodology_statuses()
{
    words "$1" status >found
    same cell_statuses found
}
promise "docs/methodology.md has every status" methodology_statuses "$src/docs/methodology.md" \
    '^[|] `not-run`'

jq -r '.. | .enum? // empty | select(index("power")) | .[]' \
    "$src/results/schema/result-1.json" | sort -u >levels
methodology_levels()
{
    words "$1" level >found
    same levels found
}
promise "docs/methodology.md has every level" methodology_levels "$src/docs/methodology.md" \
    '^[|] `process`'

# ---- drivers ----------------------------------------------------------------------------------

drivers_readme=$src/drivers/README.md
all_built=yes
for name in $(sed -n 's/^SB_DRIVER(\[\([a-z0-9-]*\)\].*/\1/p' "$src/configure.ac"); do
    case " ${STOREBENCH_MODULES:-} " in
    *" $name "*) ;;
    *) all_built=no ;;
    esac
done

# covers HAVE FOUND: of a build that lacks drivers nobody can tell what is too much.
covers()
{
    if [ $all_built = yes ]; then
        same "$1" "$2"
    else
        [ -s "$1" ] && comm -23 "$1" "$2" >over && ! grep . over
    fi
}

jq -r '.drivers[] | [.name] + .durability | join(" ")' drivers.json | sort >driver_levels
driver_levels()
{
    awk -F ' *[|] *' '
        /^\| driver \| none \| process \| power \|/ { inside = 1; next }
        !/^\|/ { inside = 0 }
        inside && !/^\|-/ {
            line = $2
            for (i = 0; i < 3; i++)
                if ($(3 + i) != "—")
                    line = line " " (i == 0 ? "none" : i == 1 ? "process" : "power")
            print line
        }' "$1" | tr -d '`' | sort >found
    covers driver_levels found
}
promise "drivers/README.md has every driver with its levels" driver_levels "$drivers_readme" \
    '^[|] `null` [|] keeps'

jq -r '.drivers[] | "\(.name) \(.capabilities | index("ordered") != null)"' drivers.json |
    sort >driver_orders
driver_orders()
{
    columns "$1" "driver | keys up to" 1 4 |
        sed -E 's/ ordered$/ true/; t; s/^([^ ]*) .*/\1 false/' | sort >found
    covers driver_orders found
}
promise "drivers/README.md has every driver with its limits and order" driver_orders \
    "$drivers_readme" '^[|] `null` [|] no limit'

jq -r '.drivers[].name' drivers.json | sort >driver_names
driver_knobs()
{
    words "$1" "driver | cache" >found
    covers driver_names found
}
promise "drivers/README.md says where cache and size go for every driver" driver_knobs \
    "$drivers_readme" '^[|] `lmdb` [|] none'

# The options of the drivers of one section, each with the section's number, and back.
jq -r '.drivers[] | .name as $name | .options[]? | "\($name) \(.name)"' drivers.json |
    sort >driver_options
driver_options()
{
    awk '/^### Options of / {
        section++
        for (i = 4; i <= NF; i++)
            if ($i != "and") {
                sub(",", "", $i)
                print $i, section
            }
        }' "$1" | sort >sections
    join -a 1 driver_options sections | awk '{ print $3, $2 }' | sort -u >wanted
    awk '
        /^### Options of / { section++ }
        /^\| option \|/ { inside = 1; next }
        !/^\|/ { inside = 0 }
        inside && !/^\|-/ { split($0, cells, "`"); print section, cells[2] }' "$1" | sort -u >found
    covers wanted found
}
promise "drivers/README.md has every option of every driver" driver_options "$drivers_readme" \
    '^[|] `mapsize`'
promise "... in the section of its driver" driver_options "$drivers_readme" \
    '^### Options of files'

sed -n '/^struct sb_driver {/,/^};/s/.*(\*\([a-z_]*\))(.*/\1/p' "$src/drivers/driver.h" |
    sort >hooks
driver_hooks()
{
    words "$1" hook >found
    same hooks found
}
promise "drivers/README.md has every hook" driver_hooks "$drivers_readme" '^[|] `settle`'

grep -o '{SB_CAP_[A-Z_]*, "[a-z-]*"}' "$src/src/caps.c" | tr -d '{}",' | sort >caps
driver_caps()
{
    columns "$1" word 2 1 >found
    same caps found
}
promise "drivers/README.md has every capability" driver_caps "$drivers_readme" '^[|] `zero-copy`'

# ---- architecture -----------------------------------------------------------------------------

for file in "$src"/src/*.[ch]; do
    basename "${file%.?}"
done | sort -u >sources
architecture_files()
{
    words "$1" file >found
    same sources found
}
promise "docs/architecture.md has every source file" architecture_files \
    "$src/docs/architecture.md" '^[|] `settle`'

grep -o 'strcmp(argv\[1\], "[a-z-]*-process")' "$src/src/main.c" | sed 's/.*"\(.*\)".*/\1/' |
    sort >processes
architecture_processes()
{
    words "$1" process >found
    same processes found
}
promise "docs/architecture.md has every process" architecture_processes \
    "$src/docs/architecture.md" '^[|] `writer-process`'

# ---- links ------------------------------------------------------------------------------------

# anchors FILE: of its headings, as they are made on the web.
anchors()
{
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# Prints the links of a document of the folder that lead nowhere.
dead_links()
{
    dead_folder=$2
    awk '/^```/ { code = !code } !code' "$1" | grep -o '\]([^)]*)' | sed 's/^](//; s/)$//' |
        while IFS= read -r link; do
            case $link in
            *://* | mailto:*) continue ;;
            '#'*) target=$1 ;;
            *) target=$dead_folder/${link%%#*} ;;
            esac
            if [ ! -e "$target" ]; then
                echo "$link"
            elif [ "${link#*#}" != "$link" ] && ! anchors "$target" | grep -qx -- "${link#*#}"; then
                echo "$link"
            fi
        done
}

# Of a clone the tracked documents; of a released tarball all.
documents()
{
    git -C "$src" ls-files -z '*.md' 2>/dev/null | tr '\0' '\n' | grep . ||
        (cd "$src" && find . -name '*.md' ! -path './obj/*')
}
documents >documents.list
ok "there are documents" grep -q 'README.md' documents.list
while IFS= read -r file; do
    is "$file: every link leads somewhere" \
        "$(dead_links "$src/$file" "$(dirname "$src/$file")")" ""
done <documents.list
printf '# A b\n[1](nowhere.md) [2](#a-b) [3](#a-c) [4](README.md#no-such) [5](README.md)\n' \
    >links.md
is "dead links are seen" "$(dead_links links.md "$src" | tr '\n' ' ')" \
    "nowhere.md #a-c README.md#no-such "

# ---- what is installed ------------------------------------------------------------------------

if command -v groff >/dev/null; then
    groff -man -ww -z -Tutf8 "$manual" >groff.log 2>&1
    is "the manual page renders without a warning" "$(cat groff.log)" ""
    printf '.TH X 1\n.SH NAME\nx \\- y\n.BAD macro\n' >bad.1
    ok "... and a bad one does not" sh -c 'groff -man -ww -z -Tutf8 bad.1 2>&1 | grep -q BAD'
else
    skip "the manual page renders without a warning" "groff is not installed"
fi

completion=$src/scripts/storebench.bash-completion
if command -v bash >/dev/null; then
    ok "bash takes the completion" bash -n "$completion"
    cat >complete.bash <<'END'
. "$1"
compopt() { :; }
COMP_LINE=$3
COMP_POINT=${#COMP_LINE}
COMP_WORDS=("$2")
_storebench
printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
END
    # completes TEXT LINE WANTED
    completes()
    {
        is "completion: $1" "$(bash complete.bash "$completion" "$STOREBENCH" "storebench $2")" "$3"
    }
    completes "a command" "rep" "report "
    completes "all commands" "help " "$(tr '\n' ' ' <commands)"
    completes "an option" "run --time" "--time-limit= "
    completes "an option without value" "run --qui" "--quiet "
    completes "a driver" "run --drivers=nul" "null "
    completes "a driver after another" "run --drivers=files,nul" "files,null "
    completes "a driver's option" "run --drivers=files:lay" "layout= "
    completes "its words" "run --drivers=files:layout=" "flat hashed "
    completes "a word of a parameter" "run --durability=po" "power "
    completes "a scenario in a list" "run --scenarios=write-rand,read-m" "write-rand,read-miss "
    completes "a driver as an argument" "tool files:wri" "write= "
    completes "nothing where there is nothing" "run --drivers=no-such" " "
else
    skip "completion" "bash is not installed"
fi

finish
