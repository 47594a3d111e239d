#!/bin/sh
# Checks that no folders of a target use each other, directly or through further folders; `make lint` calls this. A folder uses
# another one if the code of its files has the name of a type declared there. A file beside the folders may use all of them: it is
# not part of a folder. Comments and strings do not count, except for interpolated types. With --list it prints all uses between folders and checks nothing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

cycles=0
for target in Sources/*/; do
    files=$(git ls-files "$target" | awk -F/ '/\.swift$/ && NF > 3')
    [ -n "$files" ] || continue
    # The same files twice: first their declarations, then their uses.
    awk -v list="$([ "${1:-}" = --list ] && echo 1 || echo 0)" '
        # Returns the types interpolated into strings: SQL refers to columns and expressions of other files so.
        function interpolated(line,    names) {
            while (match(line, /\\\([A-Z][A-Za-z0-9_.]*/)) {
                names = names " " substr(line, RSTART + 2, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH)
            }
            return names
        }
        FNR == 1 {
            if (FILENAME == first) pass = 2
            if (first == "") { first = FILENAME; pass = 1 }
            split(FILENAME, parts, "/")
            target = parts[2]
            folder = parts[3]
            if (!(folder in seen_folder)) { seen_folder[folder] = 1; folders[++count] = folder }
            name = parts[split(FILENAME, parts, "/")]
            # In a file inside a conditional-compilation block, everything has one more level of indentation.
            indented = 0
            quoted = 0
        }
        /^#if/ { indented = 1 }
        {
            line = $0
            if (line ~ /^ *\/\//) next
            names = interpolated(line)
            marks = gsub(/"""/, "\"\"\"", line)
            if (quoted) {
                if (marks % 2 == 1) quoted = 0
                line = ""
            } else {
                if (marks % 2 == 1) quoted = 1
                gsub(/"([^"\\]|\\.)*"/, "", line)
                sub(/\/\/.*/, "", line)
            }
            line = line names
        }
        pass == 1 {
            if (indented) sub(/^    /, "", line)
            if (line ~ /^(public |package |internal |final |indirect )*(struct|class|enum|actor|protocol|typealias) /) {
                sub(/^(public |package |internal |final |indirect )*(struct|class|enum|actor|protocol|typealias) /, "", line)
                sub(/[^A-Za-z0-9_].*/, "", line)
                if (line in home && home[line] != folder) ambiguous[line] = 1
                home[line] = folder
            }
            next
        }
        {
            gsub(/[^A-Za-z0-9_.]+/, " ", line)
            words = split(line, word, " ")
            for (i = 1; i <= words; i++) {
                sub(/\..*/, "", word[i])
                type = word[i]
                if (type == "" || !(type in home) || type in ambiguous || home[type] == folder) continue
                key = folder SUBSEP home[type]
                uses[key] = 1
                if (!((key, name, type) in seen)) {
                    seen[key, name, type] = 1
                    where[key] = where[key] "\n        " name ": " type
                }
            }
        }
        END {
            for (key in uses) reach[key] = 1
            for (k = 1; k <= count; k++) for (i = 1; i <= count; i++) for (j = 1; j <= count; j++)
                if ((folders[i], folders[k]) in reach && (folders[k], folders[j]) in reach) reach[folders[i], folders[j]] = 1
            found = 0
            for (i = 1; i <= count; i++) for (j = 1; j <= count; j++) {
                key = folders[i] SUBSEP folders[j]
                if (!(key in uses) || (!list && !((folders[j], folders[i]) in reach))) continue
                if (!found) print target
                found = 1
                print "    " folders[i] " uses " folders[j] where[key]
            }
            if (found && !list) exit 1
        }' $files $files || cycles=1
done
[ $cycles -eq 0 ] || { echo "These folders use each other; move a type or an extension (CONTRIBUTING.md, Project layout)" >&2; exit 1; }
