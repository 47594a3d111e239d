#!/bin/sh
# Runs turns of three servers while connections to PostgreSQL are killed and a standby is promoted, and checks what is stored;
# `make failover` calls this. TURNS=… is the number of turns (default: 10000).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_all
cd "$root"
swift build --build-tests --traits "$test_traits"
exec env RECOLLECT_TURNS="${TURNS:-10000}" swift test --skip-build --traits "$test_traits" --disable-xctest --filter PostgresFailoverRunTests
