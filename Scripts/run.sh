#!/bin/sh
# Builds `recall`, imports transcripts into a store, lists the sessions and searches them. `make run` calls this.
#   FROM    a transcript or a folder of transcripts (default: the samples of this repository)
#   STORE   the folder of the store (default: .recall in this repository)
#   SEARCH  the search
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# Paths on the command line are relative to the caller's folder, so they are resolved before `cd`.
absolute() { case $1 in /*) printf '%s' "$1" ;; "~/"*) printf '%s' "$HOME/${1#"~/"}" ;; *) printf '%s' "$PWD/$1" ;; esac; }
samples="$root/Samples/Transcripts"
from=$(absolute "${FROM:-$samples}")
store=$(absolute "${STORE:-$root/.recall}")
if [ "$from" = "$samples" ]; then search=${SEARCH:-night}; else search=${SEARCH:-error}; fi
. "$root/Scripts/needs.sh"

[ -e "$from" ] || stop "$from does not exist. FROM is a Claude Code transcript or a folder of transcripts;" \
    "Claude Code saves transcripts in ~/.claude/projects."
need_swift
need_sqlite
need_editline
cd "$root"

# Without a terminal, SwiftPM prints a line for each file.
if [ -t 1 ]; then quiet=; else quiet=--quiet; fi
echo "Building recall with Swift $swift_version. The first build takes a few minutes."
# An optimized build takes almost twice the time. The samples do not need it.
if [ "$from" = "$samples" ]; then
    configuration=debug
    # Only editors and the discovery of tests need an index.
    flags="$whole_modules --disable-index-store"
else
    configuration=release
    # Without symbols, the program has a quarter of its size. The linker of macOS lacks this option.
    if [ "$(uname)" = Linux ]; then flags='-Xlinker -s'; else flags=; fi
fi
# shellcheck disable=SC2086 # lists of words
swift build -c $configuration --traits CommandLine --product recall $flags $quiet
recall=$(swift build -c $configuration --traits CommandLine --show-bin-path)/recall

# No pager, also on a terminal.
export PAGER=
# Prints a command as typed in this folder, and runs it.
show() {
    command=$1
    shift
    printf '\n$ recall %s' "$command"
    for argument; do
        case $argument in *[!A-Za-z0-9_./-]*) printf " '%s'" "$argument" ;; *) printf ' %s' "$argument" ;; esac
    done
    printf '\n'
    status=0
    "$recall" "$command" --store "$store" "$@" || status=$?
}

show import "${from#"$root"/}"
# 2: some lines were not imported; the report lists them.
[ $status -eq 0 ] || [ $status -eq 2 ] || exit $status
show sessions --limit 20
[ $status -eq 0 ] || exit $status
show search "$search" --limit 5
[ $status -eq 0 ] || exit $status

cat <<WHERE

The command   $recall
The store     $store   (to check it: recall doctor --store …)
Imported from $from (unchanged)

Next steps:   export RECOLLECT_STORE='$store'
              alias recall='$recall'
              recall --help
WHERE
if [ "$from" = "$samples" ]; then
    cat <<'OWN'
Your data:    make run FROM=~/.claude/projects   (builds an optimized recall)
OWN
fi
