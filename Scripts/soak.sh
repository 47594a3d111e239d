#!/bin/sh
# Runs the tests with random input or processes for a given time, each round with new seeds; `make soak` calls this.
# MINUTES=… is the time (default: 30). Arguments are regular expressions of tests (default: all such tests). At the end, it prints the
# failing seeds with the commands to repeat them.
#
# A test is included if its file uses `Seeds.run` or starts a `Worker`.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_all
cd "$root"
minutes=${MINUTES:-30}

if [ $# -eq 0 ]; then
    # The ID of a test ends with its file and line.
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

# Prints the failures of a round: commands to repeat seeds, tests without seeds, and the seeds running at a crash.
failed() {
    grep -o "RECOLLECT_SEED=[0-9]* swift test.*'" "$1" || true
    awk '
        function flush() { if (issue != "") print issue; issue = "" }
        /recorded an issue/ { flush(); issue = $0; next }
        /RECOLLECT_SEED=/ { issue = "" }
        /^(◇|✔|✘)/ { flush() }
        END { flush() }' "$1" | cut -c 1-200
    cat "$running"/* 2>/dev/null || true
}

round=0
end=$(($(date +%s) + minutes * 60))
while left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do
    round=$((round + 1))
    log="$logs/$round.log"
    rm -rf "$running"
    mkdir -p "$running"
    # Filters have no spaces.
    # shellcheck disable=SC2086
    if RECOLLECT_SOAK_SECONDS=$((left < 120 ? left : 120)) RECOLLECT_SOAK_FOLDER=$running \
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=24 \
        swift test --skip-build --traits "$test_traits" $filters >"$log" 2>&1; then
        printf 'Round %s: %s\n' "$round" "$(grep -a 'Test run with' "$log" | tail -n 1)"
        grep -a '^Seeds: ' "$log" | sort >>"$logs/seeds"
        rm -f "$log"
    else
        printf 'Round %s failed (full log: %s)\n' "$round" "$log"
        failed "$log" | sort -u | sed "s|$| (round $round)|" | tee -a "$failures"
        [ -s "$failures" ] || printf 'no test reported a reason (round %s)\n' "$round" >>"$failures"
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
