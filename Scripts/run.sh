#!/bin/sh
# Builds `recall`, imports transcripts into a store and shows what is in it. `make run` calls this.
#   FROM    a transcript or a folder of them; the samples of this repository unless given
#   STORE   the folder of the store; .recall in this repository unless given
#   SEARCH  what to search for
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# Paths on the command line are meant from where make was called, so they are read before the script moves.
absolute() { case $1 in /*) printf '%s' "$1" ;; "~/"*) printf '%s' "$HOME/${1#"~/"}" ;; *) printf '%s' "$PWD/$1" ;; esac; }
samples="$root/Samples/Transcripts"
from=$(absolute "${FROM:-$samples}")
store=$(absolute "${STORE:-$root/.recall}")
if [ "$from" = "$samples" ]; then search=${SEARCH:-night}; else search=${SEARCH:-error}; fi
. "$root/Scripts/needs.sh"

[ -e "$from" ] || stop "There is nothing at $from. FROM is a Claude Code transcript or a folder of them;" \
    "Claude Code keeps its own in ~/.claude/projects."
need_swift
need_sqlite
need_editline
cd "$root"

# Off a terminal SwiftPM would print a line for every file.
if [ -t 1 ]; then quiet=; else quiet=--quiet; fi
echo "Building recall with Swift $swift_version. The first time this takes some minutes."
# Without symbols the program is a quarter of its size. macOS has its own tool for that.
if [ "$(uname)" = Linux ]; then stripped='-Xlinker -s'; else stripped=; fi
# shellcheck disable=SC2086 # lists of words
swift build -c release --traits CommandLine --product recall $stripped $quiet
recall=$(swift build -c release --traits CommandLine --show-bin-path)/recall

# Everything in one go, also on a terminal.
export PAGER=
# Says a command as a person would type it here, and runs it.
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
# 2: imported, but for some lines, which the report names.
[ $status -eq 0 ] || [ $status -eq 2 ] || exit $status
show sessions --limit 20
[ $status -eq 0 ] || exit $status
show search "$search" --limit 5
[ $status -eq 0 ] || exit $status

cat <<WHERE

The command   $recall
The store     $store   (recall doctor --store … checks it)
Imported from $from, which was only read

Look around:  export RECOLLECT_STORE='$store'
              alias recall='$recall'
              recall --help
WHERE
if [ "$from" = "$samples" ]; then
    cat <<'OWN'
Your own:     make run FROM=~/.claude/projects
OWN
fi
