#!/bin/sh
# Breaks rules of the code, one after the other, and checks that the tests of these rules fail. `make mutations` calls this. Arguments
# are prefixes of names in Tests/Mutations (default: all): `Scripts/mutations.sh not-local slow-download-untyped`.
#
# A mutation is a patch of Sources. It begins with
#   Fault:   the names of the faults in docs/synced-folders.md whose rule it breaks, or none
#   Breaks:  the effect
#   Tests:   the tests expected to fail, as suite/function
#   System:  the only system with an effect, as printed by uname; optional
# A mutation is red if all these tests fail, by a recorded issue or a crash. For each fault, the name of one of them, or of its suite,
# must begin with the name of the fault. A mutation is not red if it does not build, hangs, or runs no test.
#
# The script works in a copy of the working tree, .build-mutations. It keeps the copy, so that later runs build only changed files. Only
# one run can use the copy at a time.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_all
patches="$root/Tests/Mutations"
copy="$root/.build-mutations"
logs="$copy/.build/mutations"

# The time limit of a test, in minutes. Its message is clearer than that of `timeout`, the limit for all other code.
export RECOLLECT_TIME_LIMIT=2
limit=
! command -v timeout >/dev/null 2>&1 || limit='timeout 400'

# Locks the copy: two runs would test each other's patches.
lock_copy() {
    mkdir -p "$copy"
    if command -v flock >/dev/null 2>&1; then
        # The lock is released when the last process of this run has ended.
        exec 9>"$copy/lock"
        flock -n 9 || stop "Another run uses $copy: wait for its end."
    elif mkdir "$copy/lock.d" 2>/dev/null; then
        trap 'rmdir "$copy/lock.d"' EXIT
        trap 'exit 130' HUP INT TERM
    else
        stop "Another run uses $copy: wait for its end." \
            "If there is none, a run was killed: rmdir '$copy/lock.d'"
    fi
}

# The names of all mutations.
all() {
    for patch in "$patches"/*.patch; do
        basename "$patch" .patch
    done
}

# The names with one of the prefixes; without arguments, all names.
chosen() {
    [ $# -gt 0 ] || all
    for beginning; do
        all | grep "^$beginning" || stop "There is no mutation '$beginning'. The mutations are" "$(all)"
    done
}

# A line of a patch's header: head_of Fault not-local-…
head_of() {
    sed -n "/^---/q; s/^$1: *//p" "$patches/$2.patch"
}

# Copies the working tree. Equal files are not written, so that they are not built again.
copy_tree() {
    mkdir -p "$logs"
    list="$logs/files"
    git -C "$root" -c core.quotePath=false ls-files --cached --others --exclude-standard >"$list"
    # The resolved versions, if there are any.
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

# Builds the copy. The argument is the log file.
build() {
    (cd "$copy" && swift build --build-tests --traits "$test_traits") >"$1" 2>&1
}

# Runs tests of the copy, given as suite/function after the log file.
run_tests() {
    log=$1
    shift
    for test; do
        shift
        set -- "$@" --filter "[./]$test[(]"
    done
    # shellcheck disable=SC2086 # a list of words, empty without `timeout`
    (cd "$copy" && $limit swift test --skip-build --traits "$test_traits" --disable-xctest "$@") >"$log" 2>&1
}

# The lines of a log with the results of tests and suites: results failed LOG
results() {
    grep -a -E "^[^ ]+ (Test|Suite) .* $1 after [0-9.]+ seconds" "$2" | grep -a -v -E '^[^ ]+ Test (case|run) '
}

# The names of tests and suites in lines of a log.
test_names() {
    sed -E -e 's/^[^ ]+ (Test|Suite) //' -e 's/ (with [0-9]+ test cases )?(failed|passed) after .*//' -e 's/ started\.$//'
}

apply() {
    # The copy is not part of the repository around it.
    (cd "$copy" && GIT_CEILING_DIRECTORIES="$root" git apply --whitespace=nowarn "$@")
}

# The verdict of a mutation from the log and the exit status of its tests: a word, a tab, and the reason.
verdict() {
    name=$1 log=$2 status=$3
    if results passed "$log" | grep -a -q -E '^[^ ]+ Test '; then
        printf 'STILL GREEN\t%s\n' "$(results passed "$log" | grep -a -E '^[^ ]+ Test ' | test_names | head -n 1)"
        return
    fi
    red=$(results failed "$log" | test_names)
    if [ -z "$red" ] && grep -a -q 'unexpected signal' "$log"; then
        # A crash ends all running tests.
        red=$(grep -a -E '^[^ ]+ (Test|Suite) .* started\.$' "$log" | grep -a -v -E '^[^ ]+ Test (case|run) ' | test_names)
    fi
    if [ -z "$red" ]; then
        if grep -a -q -E '^[^ ]+ Test .* skipped: ' "$log"; then
            printf 'skipped\t%s\n' "$(sed -n -E 's/^[^ ]+ Test .* skipped: //p' "$log" | head -n 1)"
        elif [ "$status" -eq 124 ]; then
            printf 'HANGS\tno test reported a reason\n'
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
            printf 'WITHOUT A NAME\tno test has the name of %s: %s\n' "$fault" "$(echo "$red" | head -n 1)"
            return
        fi
        by="$by${by:+, }$first"
        # If the suite has the name of the fault, also a test in the suite.
        if results failed "$log" | grep -a -q -F " Suite $first"; then
            by="$by, $(results failed "$log" | grep -a -E '^[^ ]+ Test ' | test_names | head -n 1)"
        fi
    done
    printf 'red\t%s\n' "${by:-$(echo "$red" | head -n 1)}"
}

# Applies a mutation, prints its verdict, and reverts it.
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
lock_copy
began=$(date +%s)
echo "== Copying the working tree to $copy and building it (the first build takes several minutes)"
copy_tree
build "$logs/build.log" || stop "$(tail -n 40 "$logs/build.log")" "The working tree does not build without a mutation."
echo '== Running the tests without a mutation'
tests=$(for name in $names; do head_of Tests "$name"; done | tr ' ' '\n' | sort -u)
# shellcheck disable=SC2086 # words
run_tests "$logs/whole.log" $tests || stop \
    "$(grep -a -E 'recorded an issue|failed after|error:' "$logs/whole.log" | head -n 20)" \
    "These tests fail without a mutation. Correct them first. Full log: $logs/whole.log"

echo '== Running the mutations'
: >"$logs/table"
for name in $names; do
    result=$(mutate "$name") || exit 1
    printf '%s\t%s\n' "$name" "$result" | tee -a "$logs/table" | awk -F '\t' '{ printf "%-15s%-32s %s\n", $2, $1, $3 }'
done

printf '\n| Fault | Mutation | Effect | Failed tests |\n|---|---|---|---|\n'
while IFS="$(printf '\t')" read -r name result by; do
    [ "$result" = red ] || by="$result: $by"
    printf '| %s | `%s` | %s | %s |\n' "$(head_of Fault "$name")" "$name" "$(head_of Breaks "$name")" "$by"
done <"$logs/table"
total=$(grep -c . "$logs/table")
red=$(grep -c "	red	" "$logs/table") || true
skipped=$(grep -c "	skipped	" "$logs/table") || true
printf '\n%s of %s red, %s skipped, in %s s.\n' "$red" "$total" "$skipped" "$(($(date +%s) - began))"
[ $((red + skipped)) -eq "$total" ]
