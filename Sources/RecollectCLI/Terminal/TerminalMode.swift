#if CommandLine
    import CEditLine
    import Foundation

    /// The mode of the terminal during a chat.
    ///
    /// Input during a streaming reply is not echoed, and not lost: the terminal holds it for the next prompt.
    struct TerminalMode: Sendable {
        private let original: termios

        /// Creates the mode from the current one of standard input; `nil` unless it is a terminal.
        init?() {
            var mode = termios()
            guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
            original = mode
        }

        /// Restores the original mode.
        func restore() {
            set(original)
        }

        /// Sets the mode during a reply: no echo, and Ctrl-C sends a signal without dropping earlier input.
        func waitForReply() {
            var mode = original
            mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
            mode.c_lflag |= tcflag_t(NOFLSH)
            Self.setCharacters(of: &mode, [VMIN: 1, VTIME: 0])
            set(mode)
        }

        /// Sets the mode before libedit reads a line: signal keys and Ctrl-D reach libedit as keys. libedit
        /// derives its own mode from this one, shortly after it shows the prompt. Without this mode, a Ctrl-D in
        /// between would end a line in the terminal, and be lost.
        func readLine() {
            var mode = original
            mode.c_lflag &= ~tcflag_t(ECHO)
            let none = ceditline_no_character()
            Self.setCharacters(
                of: &mode, [VINTR: none, VQUIT: none, VEOF: LineEditor.redisplayKey, VREPRINT: LineEditor.redisplayKey])
            set(mode)
        }

        private func set(_ mode: termios) {
            var mode = mode
            // A closed terminal needs no mode.
            _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
        }

        private static func setCharacters(of mode: inout termios, _ characters: KeyValuePairs<Int32, cc_t>) {
            withUnsafeMutableBytes(of: &mode.c_cc) { bytes in
                for (index, character) in characters { bytes[Int(index)] = character }
            }
        }
    }
#endif
