#!/bin/sh
# Prepares a release: Scripts/release.sh 0.1.0. It checks the working tree, the changelog, the public API and all tests, gives the
# changelog's section its date, commits, and tags. It does not push.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
cd "$root"
version=${1:-}
echo "$version" | grep -Eq '^[0-9]+\.[0-9]+\.[0-9]+$' || stop "Give the version, for example 0.1.0: Scripts/release.sh VERSION"
[ -z "$(git status --porcelain)" ] || stop "The working tree has changes: commit them first."
git rev-parse -q --verify "refs/tags/$version" >/dev/null && stop "The tag $version exists."
grep -q "^## Unreleased: $version\$" CHANGELOG.md || stop "CHANGELOG.md has no section '## Unreleased: $version'."
last=$(git describe --tags --abbrev=0 2>/dev/null || true)
if [ -n "$last" ]; then
    Scripts/api.sh "$last"
else
    echo "This is the first release, so the public API is not compared."
fi
Scripts/test.sh
sed "s/^## Unreleased: $version\$/## $version - $(date +%Y-%m-%d)/" CHANGELOG.md >CHANGELOG.md.new
mv CHANGELOG.md.new CHANGELOG.md
git commit -q -m "Release $version" CHANGELOG.md
git tag -a "$version" -m "Recollect $version"
echo "Tagged $version. To publish it: git push origin HEAD $version"
