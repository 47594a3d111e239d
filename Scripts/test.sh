#!/bin/sh
# Runs the checks of CI; `make test` calls this. Arguments select steps:
#   lint          checks the format (warnings are errors), the patches of mutations, cycles of folders, the code map, and the prose
#   dependencies  checks the packages resolved for an app with Recollect and RecollectModels
#   plain         builds `recall` without its trait, and the benchmarks
#   samples       builds and tests the samples of the guides, each in a package of its own
#   tests         builds everything with all traits, and runs all tests; last, so that the log ends with their result
# One step is not part of `make test`; `make quick` calls it:
#   quick         runs the tests without a need (Tests/RecollectTestSupport/Need.swift), with a twentieth of the fixed seeds
set -eu
# SwiftPM builds everything again if the environment differs: a build by make must equal a build by hand.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKE_TERMOUT MAKE_TERMERR STEPS FROM STORE SEARCH MINUTES SEED SCENARIO POINT RUN LIMIT CONFIGURATION PORT TURNS
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_all
cd "$root"

# A change of traits or settings in one folder would build Recollect again, so there are three:
# - `plain` is built without traits, and `whole` has the tests. In both, modules are compiled as a whole and without debug information,
#   in less time from a clean clone. A failed test names its line all the same.
# - `incremental` has the tests, too, with files compiled one by one: faster after an edit. `make quick` builds it, and from then on
#   `make test` uses it.
plain="$root/.build-plain"
whole="$root/.build-tests"
incremental="$root/.build-optimized"
# CI builds everything once. In one folder, the dependencies are built once, too.
[ "${CI:-}" != true ] || whole=$plain

# Builds into a folder. Further arguments are those of `swift build`.
build() {
    folder=$1
    shift
    flags=
    [ "$folder" = "$incremental" ] || flags="$whole_modules -debug-info-format none"
    # shellcheck disable=SC2086 # a list of words
    swift build --scratch-path "$folder" $flags "$@"
}

step_lint() {
    swift format lint --recursive --strict --parallel Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources \
        Samples/AgentSquadGuides/Package.swift Samples/AgentSquadGuides/Sources Samples/AgentSquadGuides/Tests \
        Samples/SessionStorageGuide/Package.swift Samples/SessionStorageGuide/Sources Samples/SessionStorageGuide/Tests
    for patch in Tests/Mutations/*.patch; do
        git apply --check "$patch" || stop "$patch no longer applies: correct it (see \"Adding a store\" in CONTRIBUTING.md)"
    done
    # On Linux, UUID() returns the same UUID each time if the process has no free file descriptor.
    if grep -rnE '\bUUID\(\)' Sources --include='*.swift' | grep -v '///'; then
        stop "Use UUID.random() in Sources."
    fi
    Scripts/folders.sh
    Scripts/map.sh --check
    Scripts/prose.sh --check || stop "Use fewer relative and indefinite words in these comments or articles (see Scripts/prose.sh)."
}

# Builds the tests with optimized libraries, which halves their time (see Package.swift), and runs them.
run_tests() {
    export RECOLLECT_OPTIMIZED=1
    optimized=$incremental
    [ "$1" = quick ] || [ -d "$incremental" ] || optimized=$whole
    build "$optimized" --build-tests --traits "$test_traits"
    log="$optimized/tests.log"
    failed="$optimized/tests.failed"
    rm -f "$failed"
    # Without this limit, the tests have more than a thousand open files, and Foundation's Process sometimes crashes on
    # Linux, up to Swift 6.3 (swift-corelibs-foundation, pull request 5472).
    export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=24
    [ "$1" != quick ] || export RECOLLECT_QUICK=1
    tests=$(swift build --show-bin-path --traits "$test_traits" --scratch-path "$optimized")/recollectPackageTests.xctest
    # On macOS, the tests are a bundle, and not a program.
    if [ "$1" = quick ] || [ ! -f "$tests" ] || ! command -v syncthing >/dev/null 2>&1; then
        (test_run || touch "$failed") | tee "$log"
    else
        # The tests with Syncthing run one after the other, and wait most of the time. In one process with the others, each
        # of them would wait for all tests before it. Their output is shown before the last lines of the others. SwiftPM runs
        # once at a time.
        syncthing="$optimized/syncthing.log"
        ended="$optimized/syncthing.ended"
        rm -f "$ended"
        (
            "$tests" --testing-library swift-testing --filter SyncthingTests >"$syncthing" 2>&1 || touch "$failed"
            touch "$ended"
        ) &
        (test_run --skip SyncthingTests || touch "$failed") |
            awk -v ended="$ended" -v log_file="$syncthing" '
                /Test run with/ {
                    while (system("test -e \"" ended "\"")) system("sleep 1")
                    while ((getline line <log_file) > 0) print line
                }
                { print; fflush() }' |
            tee "$log"
        wait
        # A run that crashes has no last line.
        grep -q 'Test run with' "$log" || tee -a "$log" <"$syncthing"
    fi
    [ -e "$failed" ] || return 0
    # Repeat the failures at the end of thousands of lines.
    printf '\nFailures (full log: %s):\n' "$log" >&2
    grep -A 2 -E 'recorded an issue|Fatal error|error:' "$log" | grep -v -E '^--|✔|◇' | cut -c 1-600 | head -n 40 >&2
    return 1
}

# Runs the built tests. Arguments are options of `swift test`.
test_run() {
    swift test --skip-build --traits "$test_traits" --scratch-path "$optimized" "$@" 2>&1
}

step_tests() {
    run_tests all
}

step_quick() {
    run_tests quick
}

step_plain() {
    build "$plain" --product recall
    # Without its commands, it must fail and explain how to build it.
    recall=$(swift build --scratch-path "$plain" --show-bin-path)/recall
    if "$recall" sessions >/dev/null 2>&1; then
        echo "recall without its trait exits with 0" >&2
        return 1
    fi
    build "$plain" --package-path Benchmarks
}

step_samples() {
    for guide in AgentSquadGuides SessionStorageGuide; do
        build "$plain" --build-tests --package-path "Samples/$guide"
        swift test --skip-build --scratch-path "$plain" --package-path "Samples/$guide"
    done
}

step_dependencies() {
    Scripts/check-dependencies.sh
}

[ $# -gt 0 ] || set -- lint dependencies plain samples tests
began=$(date +%s)
times=
for step; do
    case $step in
        lint | dependencies | plain | samples | tests | quick) ;;
        *) stop "There is no step '$step'. The steps are lint, dependencies, plain, samples, tests and quick." ;;
    esac
    printf '\n== %s\n' "$step"
    step_began=$(date +%s)
    # In a subshell, where set -e is in effect; `step_x || …` would disable it.
    status=0
    set +e
    (
        set -e
        "step_$step"
    )
    status=$?
    set -e
    [ $status -eq 0 ] || stop "" "FAILED: $step (to repeat only this step: Scripts/test.sh $step)"
    times="${times:+$times, }$step $(($(date +%s) - step_began)) s"
done
printf '\nPassed: %s, in %s s (%s).\n' "$*" "$(($(date +%s) - began))" "$times"
