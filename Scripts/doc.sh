#!/bin/sh
# Builds the documentation of all libraries with the toolchain's docc. A broken link is an error. `make doc` calls this; the pages are
# in .build-doc, in one folder for each module.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
cd "$root"
docc=$(xcrun --find docc 2>/dev/null || command -v docc) || stop "This toolchain has no docc."
plain="$root/.build-plain"
graphs="$root/.build-doc/symbol-graphs"
rm -rf "$root/.build-doc"
mkdir -p "$graphs"

# This fails for the modules of the tests. The loop below fails if a library's graph is missing.
swift package --scratch-path "$plain" dump-symbol-graph --minimum-access-level public --skip-synthesized-members \
    >"$graphs/log" 2>&1 || true
found=$(find "$plain" -type d -name symbolgraph | head -n 1)
for module in RecollectCore RecollectSQLite RecollectAgents RecollectBuiltInAgents RecollectWorkspace RecollectApple \
    RecollectModels RecollectObservation RecollectTranscripts RecollectClaudeCodeUI RecollectTesting; do
    mkdir "$graphs/$module"
    cp "$found/$module.symbols.json" "$graphs/$module/"
    catalog=$(find "Sources/$module" -name '*.docc' -type d)
    # shellcheck disable=SC2086 # empty for a module without a catalog
    "$docc" convert $catalog --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "recollect.$module" \
        --warnings-as-errors --output-path ".build-doc/$module.doccarchive"
done
rm -rf "$graphs"
echo "The documentation is in .build-doc."
