#if CommandLine
    import CEditLine
    import Foundation

    /// What the terminal does with keys while a chat has it.
    ///
    /// What is typed while a reply streams is neither shown in the middle of it nor lost: the terminal keeps it for the next prompt.
    struct TerminalMode: Sendable {
        private let original: termios

        /// Remembers how standard input's terminal is now; `nil` where it is none.
        init?() {
            var mode = termios()
            guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return nil }
            original = mode
        }

        /// As it was.
        func restore() {
            set(original)
        }

        /// While a reply streams: nothing is shown, and Ctrl-C is a signal that leaves what was typed before it.
        func waitForReply() {
            var mode = original
            mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
            mode.c_lflag |= tcflag_t(NOFLSH)
            Self.setCharacters(of: &mode, [VMIN: 1, VTIME: 0])
            set(mode)
        }

        /// Before libedit reads a line: the keys of signals reach it as keys, and so does Ctrl-D. It makes its own mode of this one, and
        /// shows the prompt a moment before: a Ctrl-D that came in between would end a line that the terminal collects, and be lost.
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
            // A terminal that has gone needs no mode.
            _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
        }

        private static func setCharacters(of mode: inout termios, _ characters: KeyValuePairs<Int32, cc_t>) {
            withUnsafeMutableBytes(of: &mode.c_cc) { bytes in
                for (index, character) in characters { bytes[Int(index)] = character }
            }
        }
    }
#endif
