#!/bin/sh
# Runs tests with random delays before Swift's tasks (Tests/Shaking/Shake.c), to find code that depends on the usual order. `make shake`
# calls this. Arguments are regular expressions of tests (default: all tests, target by target). TIMES=… is the number of runs.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
[ "$(uname -s)" = Linux ] || stop "Shaking works only on Linux."
need_all
cd "$root"
times=${TIMES:-10}

swift build --build-tests --traits "$test_traits"
products=$(swift build --show-bin-path --traits "$test_traits")
logs="$root/.build/shake"
mkdir -p "$logs"
tools=$(dirname "$(readlink -f "$(command -v swift)")")
runtime="$tools/../lib/swift/linux"
# The toolchain's compiler: others do not support Swift's calling convention.
"$tools/clang" -O2 -fPIC -shared -o "$logs/shake.so" Tests/Shaking/Shake.c \
    -L"$runtime" -lswift_Concurrency -Wl,-rpath,"$runtime"

if [ $# -eq 0 ]; then
    for target in Tests/*Tests; do
        set -- "$@" "^$(basename "$target")\\."
    done
fi
failures=0
for filter; do
    name=$(printf %s "$filter" | tr -cd '[:alnum:]')
    run=0
    while [ "$run" -lt "$times" ]; do
        run=$((run + 1))
        log="$logs/$name-$run.log"
        # From a few delayed tasks to a third of all tasks.
        if RECOLLECT_SHAKE_PERMILLE=$((run * 97 % 300 + 20)) LD_PRELOAD="$logs/shake.so" \
            SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=24 "$products/recollectPackageTests.xctest" \
            --testing-library swift-testing --filter "$filter" >"$log" 2>&1; then
            tail -n 1 "$log"
            rm -f "$log"
        else
            failures=$((failures + 1))
            printf '\n%s, run %s failed (full log: %s):\n' "$filter" "$run" "$log"
            grep -A 2 -E 'recorded an issue|Fatal error' "$log" | cut -c 1-600 | head -n 20 || tail -n 5 "$log"
        fi
    done
done
[ "$failures" -eq 0 ] || stop "" "FAILED: $failures runs."
printf '\nPassed: all runs.\n'
