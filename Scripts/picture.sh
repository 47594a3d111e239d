#!/bin/sh
# Draws the picture in the README, docs/recall.svg: a recording of `recall` in a terminal, with the sample transcripts in a temporary
# store. Run it after a change of recall's output, and check the picture.
#
# Needs util-linux's `script`, and Python with access to PyPI for Rich, which converts the recording to SVG.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
need_swift
need_sqlite
need_editline
cd "$root"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
swift build --traits CommandLine --product recall --quiet
bin=$(swift build --traits CommandLine --show-bin-path)
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet 'rich==13.*'

cat >"$folder/commands.sh" <<'COMMANDS'
stty columns 104 rows 50
export PAGER= RECOLLECT_STORE="$folder/store" TZ=UTC
prompt() { printf '\033[32m$\033[0m recall %s\n' "$1"; }
prompt 'import Samples/Transcripts'
recall import Samples/Transcripts 2>/dev/null | grep -v 'history is in'
echo
prompt sessions
recall sessions
echo
prompt 'search August'
recall search August --limit 2
COMMANDS
export folder
PATH="$bin:$PATH" script --quiet --command "sh '$folder/commands.sh'" "$folder/recording" >/dev/null </dev/null
"$folder/python/bin/python" - "$folder/recording" "$root/docs/recall.svg" <<'DRAW'
import io, re, sys
from rich.console import Console
from rich.text import Text

lines = open(sys.argv[1], encoding="utf-8").read().replace("\r", "").splitlines()
lines = [line for line in lines if not line.startswith("Script ")]
while lines and not lines[-1].strip():
    lines.pop()
console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True, color_system="truecolor")
console.print(Text.from_ansi("\n".join(lines)))
console.save_svg(sys.argv[2], title="recall", unique_id="recall")
DRAW
echo "docs/recall.svg was drawn."
