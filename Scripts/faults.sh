#!/bin/sh
# Looks for lost data with both explorers, crashes and damage, and prints one table; `make faults` calls this.
#   MINUTES   how long; new seeds in each round
#   SEED      the first seed, else drawn
#   SCENARIO  one scenario, by its name
#   POINT     one crash point of it, as a fault names it; with SEED and SCENARIO it repeats the fault
#   RUN       one damaged place of it, likewise
#   LIMIT     the most points of a scenario in a round, else 150
#   CONFIGURATION  debug or release, else debug
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"

configuration=${CONFIGURATION:-debug}
# A release build lets the worker import modules as @testable only if it is asked to.
testable=
if [ "$configuration" = release ]; then testable='-Xswiftc -enable-testing'; fi
# The traits of the tests, so that nothing is built twice.
swift build -c "$configuration" --traits "$test_traits" --product RecollectTestWorker $testable
# Without a time, one point to repeat is one round; anything else is a look of a minute.
minutes=${MINUTES:-}
if [ -z "$minutes" ] && [ -z "${POINT:-}${RUN:-}" ]; then minutes=1; fi
exec "$(swift build -c "$configuration" --traits "$test_traits" --show-bin-path)/RecollectTestWorker" faults \
    "minutes=$minutes" "seed=${SEED:-}" "scenario=${SCENARIO:-}" "point=${POINT:-}" "run=${RUN:-}" "limit=${LIMIT:-}"
