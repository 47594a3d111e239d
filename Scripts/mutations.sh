#!/bin/sh
# Breaks rules on purpose, one after the other, and looks whether the tests that stand for them turn red. `make mutations` calls this;
# names in Tests/Mutations, or their beginnings, as arguments run those alone: `Scripts/mutations.sh not-local slow-download-untyped`.
#
# A mutation is a patch of Sources that begins with
#   Fault:   the names of the faults in docs/synced-folders.md whose rule it breaks, or none
#   Breaks:  what is wrong then
#   Tests:   which tests must turn red, as suite/function
#   System:  the one system, as uname says it, on which anything is broken then; left out where it is on all
# It counts as red when all these tests fail, by an issue that they record or a crash, and for each fault one among them whose name,
# or whose suite's name, begins with the fault's. What does not build, hangs or runs no test does not count.
#
# Everything happens in a copy of the working tree, .build-mutations, which is kept: a later run builds only what has changed. The first
# one builds everything. One run works there at a time.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
patches="$root/Tests/Mutations"
copy="$root/.build-mutations"
logs="$copy/.build/mutations"

# What a test may take that hangs: its own limit, in minutes, says more than ours, which ends what has none.
export RECOLLECT_TIME_LIMIT=2
limit=
! command -v timeout >/dev/null 2>&1 || limit='timeout 400'

# Keeps other runs out of the copy until this one ends: each would take the other one's broken rules for its own.
take_turn() {
    mkdir -p "$copy"
    if command -v flock >/dev/null 2>&1; then
        # The lock goes with the last process that this run has started.
        exec 9>"$copy/lock"
        flock -n 9 || stop "Another run works in $copy: wait until it has ended."
    elif mkdir "$copy/lock.d" 2>/dev/null; then
        trap 'rmdir "$copy/lock.d"' EXIT
        trap 'exit 130' HUP INT TERM
    else
        stop "Another run works in $copy: wait until it has ended." \
            "If none does, one was killed: rmdir '$copy/lock.d'"
    fi
}

# The names of all mutations.
all() {
    for patch in "$patches"/*.patch; do
        basename "$patch" .patch
    done
}

# The names of those that begin as one of the arguments; without any, of all.
chosen() {
    [ $# -gt 0 ] || all
    for beginning; do
        all | grep "^$beginning" || stop "There is no mutation '$beginning'; there are" "$(all)"
    done
}

# A line of a patch's head: head Fault not-local-…
head_of() {
    sed -n "/^---/q; s/^$1: *//p" "$patches/$2.patch"
}

# Makes the copy what the working tree is. Files that are the same stay as they are, so nothing is built again for them.
copy_tree() {
    mkdir -p "$logs"
    list="$logs/files"
    git -C "$root" -c core.quotePath=false ls-files --cached --others --exclude-standard >"$list"
    # The versions that are resolved here, where they are.
    [ ! -f "$root/Package.resolved" ] || echo Package.resolved >>"$list"
    while IFS= read -r file; do
        [ -f "$root/$file" ] || continue
        cmp -s "$root/$file" "$copy/$file" && continue
        mkdir -p "$(dirname "$copy/$file")"
        cp "$root/$file" "$copy/$file"
    done <"$list"
    (cd "$copy" && find Sources Tests -type f) | while IFS= read -r file; do
        [ -f "$root/$file" ] || rm "$copy/$file"
    done
}

# Builds the copy; what the compiler says goes into a log.
build() {
    (cd "$copy" && swift build --build-tests --traits "$test_traits") >"$1" 2>&1
}

# Runs tests of the copy, named as suite/function; what they say goes into a log.
run_tests() {
    log=$1
    shift
    for test; do
        shift
        set -- "$@" --filter "[./]$test[(]"
    done
    # shellcheck disable=SC2086 # without a program that ends what hangs there are no words
    (cd "$copy" && $limit swift test --skip-build --traits "$test_traits" --disable-xctest "$@") >"$log" 2>&1
}

# The lines of a log that tell what became of tests and suites: told failed …
told() {
    grep -a -E "^[^ ]+ (Test|Suite) .* $1 after [0-9.]+ seconds" "$2" | grep -a -v -E '^[^ ]+ Test (case|run) '
}

# The names of the tests of which a log says something, without the mark before them and what is said.
test_names() {
    sed -E -e 's/^[^ ]+ (Test|Suite) //' -e 's/ (with [0-9]+ test cases )?(failed|passed) after .*//' -e 's/ started\.$//'
}

apply() {
    # Git must not take the copy for a part of the repository around it.
    (cd "$copy" && GIT_CEILING_DIRECTORIES="$root" git apply --whitespace=nowarn "$@")
}

# What came of a mutation, from the log of its tests and how they ended: a word, a tab, and by what or why.
verdict() {
    name=$1 log=$2 status=$3
    if told passed "$log" | grep -a -q -E '^[^ ]+ Test '; then
        printf 'STILL GREEN\t%s\n' "$(told passed "$log" | grep -a -E '^[^ ]+ Test ' | test_names | head -n 1)"
        return
    fi
    red=$(told failed "$log" | test_names)
    if [ -z "$red" ] && grep -a -q 'unexpected signal' "$log"; then
        # A crash ends all tests that were begun.
        red=$(grep -a -E '^[^ ]+ (Test|Suite) .* started\.$' "$log" | grep -a -v -E '^[^ ]+ Test (case|run) ' | test_names)
    fi
    if [ -z "$red" ]; then
        if grep -a -q -E '^[^ ]+ Test .* skipped: ' "$log"; then
            printf 'skipped\t%s\n' "$(sed -n -E 's/^[^ ]+ Test .* skipped: //p' "$log" | head -n 1)"
        elif [ "$status" -eq 124 ]; then
            printf 'HANGS\tand no test says why\n'
        else
            printf 'NOT RUN\tno test ran\n'
        fi
        return
    fi
    by=
    faults=$(head_of Fault "$name")
    [ "$faults" != none ] || faults=
    for fault in $faults; do
        first=$(echo "$red" | grep -a -E "^\"$fault: " | head -n 1)
        if [ -z "$first" ]; then
            printf 'WITHOUT A NAME\tno test of %s is among them: %s\n' "$fault" "$(echo "$red" | head -n 1)"
            return
        fi
        by="$by${by:+, }$first"
        # Where the suite has the name of the fault, a test in it too.
        if told failed "$log" | grep -a -q -F " Suite $first"; then
            by="$by, $(told failed "$log" | grep -a -E '^[^ ]+ Test ' | test_names | head -n 1)"
        fi
    done
    printf 'red\t%s\n' "${by:-$(echo "$red" | head -n 1)}"
}

# Breaks one rule, tells what came of it, and mends it again.
mutate() {
    name=$1
    system=$(head_of System "$name")
    if [ "${system:-$(uname)}" != "$(uname)" ]; then
        printf 'skipped\tonly on %s\n' "$system"
        return
    fi
    apply "$patches/$name.patch" 2>"$logs/$name.log" || stop "$name no longer applies:" "$(cat "$logs/$name.log")"
    if ! build "$logs/$name.log"; then
        printf 'DOES NOT BUILD\t%s\n' "$(grep -a -m 1 'error:' "$logs/$name.log")"
    else
        status=0
        # shellcheck disable=SC2046 # words
        run_tests "$logs/$name.log" $(head_of Tests "$name") || status=$?
        verdict "$name" "$logs/$name.log" "$status"
    fi
    apply -R "$patches/$name.patch"
}

names=$(chosen "$@") || exit 1
names=$(echo "$names" | sort -u)
take_turn
began=$(date +%s)
echo "== the working tree, copied to $copy and built (the first time all of it)"
copy_tree
build "$logs/build.log" || stop "$(tail -n 40 "$logs/build.log")" "It does not build even with every rule in place."
echo '== every rule in place'
tests=$(for name in $names; do head_of Tests "$name"; done | tr ' ' '\n' | sort -u)
# shellcheck disable=SC2086 # words
run_tests "$logs/whole.log" $tests || stop \
    "$(grep -a -E 'recorded an issue|failed after|error:' "$logs/whole.log" | head -n 20)" \
    "There is nothing to learn while these fail with every rule in place. All of it is in $logs/whole.log"

echo '== one rule after the other broken'
: >"$logs/table"
for name in $names; do
    result=$(mutate "$name") || exit 1
    printf '%s\t%s\n' "$name" "$result" | tee -a "$logs/table" | awk -F '\t' '{ printf "%-15s%-32s %s\n", $2, $1, $3 }'
done

printf '\n| Fault | Mutation | What is wrong then | Turned red |\n|---|---|---|---|\n'
while IFS="$(printf '\t')" read -r name result by; do
    [ "$result" = red ] || by="$result: $by"
    printf '| %s | `%s` | %s | %s |\n' "$(head_of Fault "$name")" "$name" "$(head_of Breaks "$name")" "$by"
done <"$logs/table"
total=$(grep -c . "$logs/table")
red=$(grep -c "	red	" "$logs/table") || true
skipped=$(grep -c "	skipped	" "$logs/table") || true
printf '\n%s of %s turned red, %s skipped, in %s s.\n' "$red" "$total" "$skipped" "$(($(date +%s) - began))"
[ $((red + skipped)) -eq "$total" ]
