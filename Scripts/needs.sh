# Finds or installs the requirements of a build. The other scripts source this file; POSIX sh.

# The traits of the tests: all traits. A change of traits builds everything again, so all scripts use these.
# shellcheck disable=SC2034 # for the other scripts
test_traits=CommandLine,AsyncHTTPClient,Postgres

# Compiles each module as a whole. A first build takes a fifth less processor time; after an edit, the whole module is built again.
# shellcheck disable=SC2034 # for the other scripts
whole_modules='-Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -disable-batch-mode'

# Prints an error with a remedy, and ends the script.
stop() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Adds swift to the PATH if a login shell has it there, and checks its version.
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
        "swift was not found. Recollect requires Swift 6.2 or newer:" \
        "  Linux  https://www.swift.org/install/linux" \
        "  macOS  https://www.swift.org/install/macos, or Xcode 26 or newer"
    swift_version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    [ -n "$swift_version" ] || stop "$(command -v swift) prints no version; is the installation complete?"
    major=${swift_version%%.*}
    minor=${swift_version#*.}
    if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
        stop "$(command -v swift) is Swift $swift_version. Recollect requires 6.2 or newer: https://www.swift.org/install"
    fi
}

# Installs Debian packages if no password is needed; otherwise prints the command.
install_packages() {
    if ! command -v apt-get >/dev/null 2>&1; then
        stop "Missing packages: $*. Install them with your package manager, and run this again." \
            "  (Fedora: sqlite-devel, libedit-devel. Alpine: sqlite-dev, libedit-dev.)"
    fi
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root='sudo -n'
    else
        stop "Missing packages: $*. Install them with" "  sudo apt-get install $*" "and run this again."
    fi
    echo "Installing $*"
    # Current package lists are not fetched again. -qq prints only warnings and errors.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 || {
        $as_root apt-get update -qq
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    } || stop "The installation failed. Install them with" "  sudo apt-get install $*" "and run this again."
}

# All requirements of a build with the traits of the tests.
need_all() {
    need_swift
    need_sqlite
    need_editline
    need_libpq
}

# SQLite's header and library, part of macOS. Call this after need_swift: the toolchain's clang searches for them.
need_sqlite() {
    [ "$(uname)" = Linux ] || return 0
    compiler=$(command -v clang || command -v cc) || stop "There is no C compiler beside swift; is the installation complete?"
    has_sqlite || install_packages libsqlite3-dev
    has_sqlite || stop "$compiler still does not find sqlite3.h and libsqlite3, parts of libsqlite3-dev."
}

has_sqlite() {
    printf '#include <sqlite3.h>\nint main(void) { return sqlite3_libversion_number() == 0; }\n' |
        "$compiler" -x c -o /dev/null - -lsqlite3 2>/dev/null
}

# The line editor of `recall chat`, part of macOS. Call this after need_sqlite, which finds the compiler.
need_editline() {
    [ "$(uname)" = Linux ] || return 0
    has_editline || install_packages libedit-dev
    has_editline || stop "$compiler still does not find editline/readline.h and libedit, parts of libedit-dev."
}

# The client library of PostgreSQL, for builds with the trait `Postgres`. Call this after need_sqlite, which finds the compiler on Linux.
need_libpq() {
    if [ "$(uname)" = Linux ]; then
        has_libpq || install_packages libpq-dev
        has_libpq || stop "$compiler still does not find libpq-fe.h and libpq, parts of libpq-dev."
    elif ! [ -d "$(brew --prefix libpq 2>/dev/null)" ]; then
        stop "libpq is missing. Install it with" "  brew install libpq" "and run this again."
    fi
}

has_libpq() {
    printf '#include <postgresql/libpq-fe.h>\nint main(void) { return PQlibVersion() < 140000; }\n' |
        "$compiler" -x c -o /dev/null - -lpq 2>/dev/null
}

has_editline() {
    printf '#include <stdio.h>\n#include <editline/readline.h>\nint main(void) { return rl_initialize(); }\n' |
        "$compiler" -x c -o /dev/null - -ledit 2>/dev/null
}
