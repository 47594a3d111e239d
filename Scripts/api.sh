#!/bin/sh
# Compares the public API with a version, and fails on changes that break code of others: Scripts/api.sh TAG. A change that is
# meant is listed in Scripts/api-changes.txt, one line as printed, and in CHANGELOG.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"
base=${1:-}
[ -n "$base" ] || stop "Name the version to compare with: Scripts/api.sh TAG"
git rev-parse -q --verify "$base^{commit}" >/dev/null || stop "There is no version '$base'."
exec swift package --scratch-path "$root/.build-plain" diagnose-api-breaking-changes "$base" \
    --breakage-allowlist-path "$root/Scripts/api-changes.txt"
