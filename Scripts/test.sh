#!/bin/sh
# All that CI runs; `make test` calls this. Names of steps as arguments run those alone:
#   lint          swift-format with the repository's configuration, warnings are errors; the mutations' patches apply; no folders use each other; the code map is current
#   dependencies  what an app that asks for Recollect and RecollectModels resolves
#   plain         recall's stub without the trait, and the benchmarks: both must build
#   samples       the guides' samples in packages of their own, and their tests
#   tests         everything with all traits, and all tests; last, so that what it says at its end is seen
# And one step outside of `make test`; `make quick` calls it:
#   quick         the tests without a need (Tests/RecollectTestSupport/Need.swift), and one in twenty of the fixed seeds
set -eu
# With another environment, SwiftPM builds everything again: a build by make is one by hand, too.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKE_TERMOUT MAKE_TERMERR STEPS FROM STORE SEARCH MINUTES SEED SCENARIO POINT RUN LIMIT CONFIGURATION
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"

# What is built without traits shares one folder: in .build it would be built again at each change of traits.
plain="$root/.build-plain"

step_lint() {
    swift format lint --recursive --strict Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
        Samples/AgentSquadGuides/Package.swift Samples/AgentSquadGuides/Sources Samples/AgentSquadGuides/Tests \
        Samples/SessionStorageGuide/Package.swift Samples/SessionStorageGuide/Sources Samples/SessionStorageGuide/Tests
    for patch in Tests/Mutations/*.patch; do
        git apply --check "$patch" || stop "$patch no longer applies: mend it (CONTRIBUTING.md, Adding a store)"
    done
    Scripts/folders.sh
    Scripts/map.sh --check
}

step_tests() {
    swift build --build-tests --traits "$test_traits"
    log="$root/.build/tests.log"
    failed="$root/.build/tests.failed"
    rm -f "$failed"
    # Set for the run alone: with another environment, SwiftPM would build everything again.
    [ -z "${quick-}" ] || export RECOLLECT_QUICK=1
    # All at once they hold more than a thousand files open, and with so many Foundation's Process crashes now and then on
    # Linux up to Swift 6.3 (swift-corelibs-foundation, pull request 5472).
    (
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=48 swift test --skip-build --traits "$test_traits" 2>&1 ||
            touch "$failed"
    ) | tee "$log"
    [ -e "$failed" ] || return 0
    # Among thousands of lines nobody finds them, and who reads the end of a log sees nothing else.
    printf '\nWhat failed (all of it is in %s):\n' "$log" >&2
    grep -A 2 -E 'recorded an issue|Fatal error|error:' "$log" | grep -v -E '^--|✔|◇' | cut -c 1-600 | head -n 40 >&2
    return 1
}

step_quick() {
    quick=1
    step_tests
}

step_plain() {
    swift build --scratch-path "$plain" --product recall
    # Without its commands it must fail, and say how to build it.
    recall=$(swift build --scratch-path "$plain" --show-bin-path)/recall
    if "$recall" sessions >/dev/null 2>&1; then
        echo "recall does nothing without its trait, and ends as if all were well" >&2
        return 1
    fi
    swift build --scratch-path "$plain" --package-path Benchmarks
}

step_samples() {
    for guide in AgentSquadGuides SessionStorageGuide; do
        swift test --scratch-path "$plain" --package-path "Samples/$guide"
    done
}

step_dependencies() {
    Scripts/check-dependencies.sh
}

[ $# -gt 0 ] || set -- lint dependencies plain samples tests
began=$(date +%s)
for step; do
    case $step in
        lint | dependencies | plain | samples | tests | quick) ;;
        *) stop "There is no step '$step'; there are lint, dependencies, plain, samples, tests and quick." ;;
    esac
    printf '\n== %s\n' "$step"
    # In a shell of its own, where set -e still counts; `step_x || …` would switch it off.
    status=0
    set +e
    (
        set -e
        "step_$step"
    )
    status=$?
    set -e
    [ $status -eq 0 ] || stop "" "FAILED: $step (Scripts/test.sh $step runs it alone)"
done
printf '\nPassed: %s, in %s s.\n' "$*" "$(($(date +%s) - began))"
