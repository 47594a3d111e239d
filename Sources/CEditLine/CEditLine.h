// libedit, the BSD line editor, by its readline interface: in macOS, and in libedit-dev on Debian.
//
// Its state is global variables, which Swift code may not touch; these functions do. Call everything here, and everything of the
// library, one after another.

#ifndef CEDITLINE_H
#define CEDITLINE_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <editline/readline.h>

/// What a key does. Versions of the library pass different arguments, so they mean nothing.
typedef int (*ceditline_action)(int, int);

/// Sets the editor up on standard input and output. It leaves signals to the program.
///
/// It takes bytes for characters as the locale says; one that knows ASCII alone is further from what terminals send than UTF-8.
static inline int ceditline_initialize(void) {
    setlocale(LC_CTYPE, "");
    if (MB_CUR_MAX == 1 && !setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "UTF-8");
    rl_readline_name = "recall";
    rl_catch_signals = 0;
    return rl_initialize();
}

/// Gives a name to an action, and a key to it. The declared type of actions differs between versions, hence the cast.
static inline int ceditline_define(const char *name, ceditline_action action, int key) {
    return rl_add_defun(name, (void *)action, key);
}

/// In an action: ends the line, so that `readline` returns NULL.
static inline void ceditline_abandon_line(void) {
    rl_done = 1;
}

/// The control character that stands for none: the key then has no meaning for the terminal and reaches the program.
static inline unsigned char ceditline_no_character(void) {
    return _POSIX_VDISABLE;
}

/// In an action: how many characters the line has.
static inline int ceditline_line_length(void) {
    return rl_end;
}

#endif
