# What building needs, found or installed. Sourced by the other scripts, not run; POSIX sh.

# The traits of the tests: everything there is. A change of traits builds everything again, so all scripts use these.
# shellcheck disable=SC2034 # for the other scripts
test_traits=CommandLine,AsyncHTTPClient

# Says what is wrong and what to do about it, and ends the script.
stop() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Puts swift on the PATH if a login shell would have it there, and checks that it is new enough.
need_swift() {
    if ! command -v swift >/dev/null 2>&1; then
        found=$(bash -lc 'command -v swift' 2>/dev/null </dev/null | tail -n 1) || found=
        for folder in "${found%/*}" "${HOME:-}/.local/share/swiftly/bin" "${HOME:-}/.swiftly/bin"; do
            if [ -n "$folder" ] && [ -x "$folder/swift" ]; then
                PATH="$folder:$PATH"
                export PATH
                break
            fi
        done
    fi
    command -v swift >/dev/null 2>&1 || stop \
        "There is no swift here. Recollect needs Swift 6.2 or newer:" \
        "  Linux  https://www.swift.org/install/linux" \
        "  macOS  https://www.swift.org/install/macos, or Xcode 26 or newer"
    swift_version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    [ -n "$swift_version" ] || stop "$(command -v swift) does not tell its version; is it installed completely?"
    major=${swift_version%%.*}
    minor=${swift_version#*.}
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
        stop "$(command -v swift) is Swift $swift_version. Recollect needs 6.2 or newer: https://www.swift.org/install"
    fi
}

# Installs Debian packages where that needs no password, and otherwise says how.
install_packages() {
    if ! command -v apt-get >/dev/null 2>&1; then
        stop "Missing here: $*. Install what your system calls them and run this again." \
            "  (libsqlite3-dev is sqlite-devel on Fedora and sqlite-dev on Alpine, libedit-dev is libedit-devel and libedit-dev.)"
    fi
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root='sudo -n'
    else
        stop "Missing here: $*. Install with" "  sudo apt-get install $*" "and run this again."
    fi
    echo "Installing $*"
    # A machine whose lists are fresh enough need not fetch them again; -qq leaves warnings and errors.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
        $as_root apt-get update -qq
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    } || stop "That failed. Install with" "  sudo apt-get install $*" "and run this again."
}

# SQLite's header and library, which macOS has. Call it after need_swift: the toolchain's clang looks for them.
need_sqlite() {
    [ "$(uname)" = Linux ] || return 0
    compiler=$(command -v clang || command -v cc) || stop "There is no C compiler beside swift; is it installed completely?"
    has_sqlite || install_packages libsqlite3-dev
    has_sqlite || stop "$compiler still does not find sqlite3.h and libsqlite3, which libsqlite3-dev should have brought."
}

has_sqlite() {
    printf '#include <sqlite3.h>\nint main(void) { return sqlite3_libversion_number() == 0; }\n' |
        "$compiler" -x c -o /dev/null - -lsqlite3 2>/dev/null
}

# The line editor of `recall chat`, which macOS has. Call it after need_sqlite, which finds the compiler.
need_editline() {
    [ "$(uname)" = Linux ] || return 0
    has_editline || install_packages libedit-dev
    has_editline || stop "$compiler still does not find editline/readline.h and libedit, which libedit-dev should have brought."
}

has_editline() {
    printf '#include <stdio.h>\n#include <editline/readline.h>\nint main(void) { return rl_initialize(); }\n' |
        "$compiler" -x c -o /dev/null - -ledit 2>/dev/null
}
