#!/bin/sh
# Checks the packages resolved for an app with Recollect and RecollectModels: only GRDB, swift-log, swift-crypto and their dependencies.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
allowed='grdb.swift swift-asn1 swift-crypto swift-log'

app=$(mktemp -d "${TMPDIR:-/tmp}/recollect-dependencies.XXXXXX")
trap 'rm -rf "$app"' EXIT
mkdir -p "$app/Sources/App"
cat > "$app/Package.swift" <<MANIFEST
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "App",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(name: "recollect", path: "$root")],
    targets: [.executableTarget(name: "App", dependencies: [
        .product(name: "Recollect", package: "recollect"), .product(name: "RecollectModels", package: "recollect"),
    ])]
)
MANIFEST
printf 'import Recollect\nimport RecollectModels\n' > "$app/Sources/App/main.swift"
# The versions resolved in the repository, so that no newer ones are fetched.
if [ -f "$root/Package.resolved" ]; then cp "$root/Package.resolved" "$app/"; fi

swift package --package-path "$app" resolve
resolved=$(sed -n 's/.*"identity" : "\([^"]*\)".*/\1/p' "$app/Package.resolved" | sort)
[ -n "$resolved" ] || { echo "check-dependencies: nothing was resolved" >&2; exit 1; }

status=0
for name in $resolved; do
    case " $allowed " in
        *" $name "*) ;;
        *) echo "check-dependencies: Recollect and RecollectModels resolve $name" >&2; status=1 ;;
    esac
done
for name in grdb.swift swift-crypto swift-log; do
    case " $(echo $resolved) " in
        *" $name "*) ;;
        *) echo "check-dependencies: $name was expected but not resolved" >&2; status=1 ;;
    esac
done
[ $status -eq 0 ] && echo "Recollect and RecollectModels resolve: $(echo $resolved)"
exit $status
