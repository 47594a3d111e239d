#!/bin/sh
# Measures the prose of doc comments and articles: words, relative and indefinite words per 100 words, comments that begin with "What",
# and initializers whose comment does not say "Creates". Code samples do not count.
#
# Usage: Scripts/prose.sh [FILE|FOLDER …]; without arguments, one line for each folder of Sources, then the articles. With arguments, one
# line for each Swift or Markdown file, the highest rate first. With --check, only the lines above 1.5 per 100 words or with such
# comments, and exit code 1 if there are any; `make lint` calls this.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

# Measures files as one; $1 is the name of the line.
measure() {
    name=$1
    shift
    awk -v name="$name" '
        BEGIN {
            list = "that which who whom whose whoever whatever whichever wherever whenever what somebody someone nobody anybody " \
                "anyone something anything nothing everything everybody everyone"
            count = split(list, words, " ")
            for (i = 1; i <= count; i++) counted[words[i]] = 1
        }
        # A declaration ends its comment.
        function end(declaration) {
            if (declaration ~ /^(@[A-Za-z]+ |public |package |private |fileprivate |convenience |required )*init[?(<]/ &&
                first != "" && first !~ /^(Creates|Opens)/) inits++
            first = ""
        }
        FNR == 1 { isCode = 0; first = ""; isSwift = FILENAME ~ /\.swift$/ }
        {
            line = $0
            sub(/^[ \t]+/, "", line)
            if (isSwift) {
                if (line !~ /^\/\/\//) { if (line != "" && line !~ /^@/) end(line); isCode = 0; next }
                sub(/^\/\/\/ ?/, "", line)
            }
            if (line ~ /^(```|~~~)/) { isCode = !isCode; next }
            if (isCode) next
            if (isSwift && first == "" && line != "") {
                first = line
                comments++
                if (line ~ /^What/) whats++
            }
            gsub(/`[^`]*`/, "x", line)
            gsub(/\]\([^)]*\)/, "]", line)
            line = tolower(line)
            gsub(/[^a-z\047]+/, " ", line)
            fields = split(line, parts, " ")
            for (i = 1; i <= fields; i++) { total++; if (parts[i] in counted) found++ }
        }
        END {
            rate = total ? 100 * found / total : 0
            printf "%5.2f  %6d words", rate, total
            if (isSwift) printf "  %4d comments, %3d \"What\", %3d initializers without \"Creates\"", comments, whats, inits
            printf "  %s\n", name
        }' "$@"
}

if [ "${1:-}" = --check ]; then
    ! "$0" | awk '$1 > 1.5 || /[1-9][0-9]* ("What"|initializers)/ { print; found = 1 } END { exit !found }'
    exit
fi
if [ $# -gt 0 ]; then
    find "$@" -type f \( -name '*.swift' -o -name '*.md' \) | sort | while read -r file; do
        measure "$file" "$file"
    done | sort -rn
    exit
fi
cd "$root"
for folder in Sources/*/; do
    # Names of sources have no blanks.
    # shellcheck disable=SC2046
    [ -z "$(find "$folder" -name '*.swift' | head -n 1)" ] || measure "${folder%/}" $(find "$folder" -name '*.swift')
done
# shellcheck disable=SC2046
measure 'all doc comments' $(find Sources -name '*.swift')
for article in README.md CONTRIBUTING.md docs/*.md $(find Sources -name '*.md'); do
    measure "$article" "$article"
done
