#!/bin/sh
# Runs the tests of random input and the tests with processes until a time is over, each round with new seeds; `make soak` calls this.
# MINUTES=… is the time, else 30. Arguments are filters of tests, regular expressions; without any, every such test runs. What failed
# is printed at the end: seeds with the command that repeats them.
#
# A test takes part if its file uses `Seeds.run` or starts a `Worker`; an explorer that is a test takes part in the same way.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"
minutes=${MINUTES:-30}

if [ $# -eq 0 ]; then
    # A test's id ends with its file and line.
    set -- "/($(grep -lrE 'Seeds\.run|Worker\(' Tests/*Tests --include='*Tests.swift' |
        sed 's|.*/||; s|\.swift$||' | sort -u | paste -sd '|' -))\\.swift:"
fi
filters=
for filter; do
    filters="$filters --filter $filter"
done

swift build --build-tests --traits "$test_traits"
logs="$root/.build/soak"
running="$logs/running"
failures="$logs/failures"
rm -rf "$logs"
mkdir -p "$logs"
: >"$failures"
: >"$logs/seeds"

# Says what failed in a round: the commands that repeat seeds, tests without seeds, and seeds that ran when the process ended early.
failed() {
    grep -o "RECOLLECT_SEED=[0-9]* swift test.*'" "$1" || true
    awk '
        function tell() { if (issue != "") print issue; issue = "" }
        /recorded an issue/ { tell(); issue = $0; next }
        /RECOLLECT_SEED=/ { issue = "" }
        /^(◇|✔|✘)/ { tell() }
        END { tell() }' "$1" | cut -c 1-200
    cat "$running"/* 2>/dev/null || true
}

round=0
end=$(($(date +%s) + minutes * 60))
while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
    round=$((round + 1))
    log="$logs/$round.log"
    rm -rf "$running"
    mkdir -p "$running"
    # Filters hold no spaces.
    # shellcheck disable=SC2086
    if RECOLLECT_SOAK_SECONDS=$((left < 120 ? left : 120)) RECOLLECT_SOAK_FOLDER=$running \
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=48 \
        swift test --skip-build --traits "$test_traits" $filters >"$log" 2>&1; then
        printf 'Round %s: %s\n' "$round" "$(grep -a 'Test run with' "$log" | tail -n 1)"
        grep -a '^Seeds: ' "$log" | sort >>"$logs/seeds"
        rm -f "$log"
    else
        printf 'Round %s failed (all of it is in %s)\n' "$round" "$log"
        failed "$log" | sort -u | sed "s|$| (round $round)|" | tee -a "$failures"
        [ -s "$failures" ] || printf 'no test said why (round %s)\n' "$round" >>"$failures"
    fi
done

if [ -s "$failures" ]; then
    printf '\nFAILED, after %s rounds:\n' "$round"
    cat "$failures"
    exit 1
fi
printf '\n'
awk '{ count = $2; $1 = $2 = $3 = ""; counts[$0] += count } END { for (test in counts) print "Seeds:", counts[test], test }' "$logs/seeds" |
    sort
printf 'Passed: rounds: %s, minutes: %s.\n' "$round" "$minutes"
