#!/bin/sh
# Searches for data lost by crashes and damage, and prints a table; `make faults` calls this.
#   MINUTES   the duration; each round uses new seeds
#   SEED      the first seed (default: random)
#   SCENARIO  the name of the only scenario
#   POINT     the only crash point, as printed with a fault; with SEED and SCENARIO, it repeats the fault
#   RUN       the only damaged place, in the same way
#   LIMIT     the maximum number of points of a scenario in a round (default: 150)
#   CONFIGURATION  debug or release (default: debug)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_all
cd "$root"

configuration=${CONFIGURATION:-debug}
# In a release build, @testable imports need an option.
testable=
if [ "$configuration" = release ]; then testable='-Xswiftc -enable-testing'; fi
# With the traits of the tests, nothing is built twice.
swift build -c "$configuration" --traits "$test_traits" --product RecollectTestWorker $testable
# The default is one round to repeat a point, otherwise one minute.
minutes=${MINUTES:-}
if [ -z "$minutes" ] && [ -z "${POINT:-}${RUN:-}" ]; then minutes=1; fi
exec "$(swift build -c "$configuration" --traits "$test_traits" --show-bin-path)/RecollectTestWorker" faults \
    "minutes=$minutes" "seed=${SEED:-}" "scenario=${SCENARIO:-}" "point=${POINT:-}" "run=${RUN:-}" "limit=${LIMIT:-}"
