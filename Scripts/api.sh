#!/bin/sh
# Compares the public API with a version, and fails on source-breaking changes: Scripts/api.sh TAG. List an intended change, in the
# printed form, in Scripts/api-changes.txt, and in CHANGELOG.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"
base=${1:-}
[ -n "$base" ] || stop "Give the version to compare with: Scripts/api.sh TAG"
git rev-parse -q --verify "$base^{commit}" >/dev/null || stop "There is no version '$base'."
exec swift package --scratch-path "$root/.build-plain" diagnose-api-breaking-changes "$base" \
    --breakage-allowlist-path "$root/Scripts/api-changes.txt"
