#if CommandLine
    import CEditLine
    import Dispatch
    import Foundation
    import Recollect

    /// What a person did at a prompt.
    enum Typed: Sendable {
        case line(String)
        /// Ctrl-C, and whether there was nothing on the line that it took away.
        case interrupt(wasEmpty: Bool)
        /// Ctrl-D on an empty line, or the end of the input.
        case end
    }

    /// Lines that are typed on a terminal, with libedit: the keys of a shell, ↑ for earlier lines, and a paste of several lines as
    /// one message.
    ///
    /// The library has one state a process, so there is one editor. Reading blocks, on a queue of its own.
    final class LineEditor: Sendable {
        /// The one editor.
        static let shared = LineEditor()
        /// A key of no other use that makes libedit draw the line anew: Ctrl-\.
        static let redisplayKey: UInt8 = 0x1C

        private let queue = DispatchQueue(label: "recall.editor")
        /// How the line was left, where Ctrl-C left it.
        private let interrupt = Locked<Typed?>(nil)

        private init() {}

        /// Sets the editor up on standard input and output.
        /// - Parameter lines: what ↑ brings back, the oldest first.
        func begin(lines: [String], keeping limit: Int) {
            _ = ceditline_initialize()
            define("recall-interrupt", key: 3) { _, _ in LineEditor.shared.abandonLine() }
            define("recall-suspend", key: 26) { _, _ in LineEditor.shared.suspend() }
            // A key has to be named for the action; the sequence that begins a paste is what it is for.
            define("recall-paste", key: Int32(UInt8(ascii: "~"))) { _, _ in LineEditor.shared.insertPaste() }
            for binding in ["~ ed-insert", "^[[200~ recall-paste", "^I ed-insert", "^\\\\ ed-redisplay"] {
                _ = rl_parse_and_bind("bind \(binding)")
            }
            stifle_history(Int32(limit))
            for line in lines { _ = add_history(line) }
        }

        /// Shows a prompt and gives what is typed to `answer`, on a queue.
        func read(_ prompt: String, style: Style, mode: TerminalMode, answer: @escaping @Sendable (Typed) -> Void) {
            // What does not move the cursor stands between marks, so that libedit counts columns right.
            let marked = style.isOn ? "\u{1}\u{1B}[1;32m\u{2}\(prompt)\u{1}\u{1B}[0m\u{2}" : prompt
            queue.async { [interrupt] in
                interrupt.withLock { $0 = nil }
                mode.readLine()
                var size = winsize()
                if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
                    rl_set_screen_size(Int32(size.ws_row), Int32(size.ws_col))
                }
                let typed = readline(marked).map { line in
                    defer { free(line) }
                    return Typed.line(String(cString: line))
                }
                mode.waitForReply()
                answer(typed ?? interrupt.withLock { $0 } ?? .end)
            }
        }

        /// Lets ↑ bring a line back.
        func remember(_ line: String) {
            queue.async { _ = add_history(line) }
        }

        private func define(_ name: String, key: Int32, _ action: ceditline_action) {
            _ = ceditline_define(name, action, key)
        }

        // MARK: What keys do, on the queue, while libedit reads

        private func abandonLine() -> Int32 {
            interrupt.withLock { $0 = .interrupt(wasEmpty: ceditline_line_length() == 0) }
            ceditline_abandon_line()
            return 0
        }

        /// Gives the terminal back until the shell brings the program to the foreground again.
        private func suspend() -> Int32 {
            var editing = termios()
            guard tcgetattr(STDIN_FILENO, &editing) == 0 else { return 0 }
            var cooked = editing
            cooked.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
            _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked)
            // Dispatch's threads let no signal through, and this one must stop before it goes on.
            var stop = sigset_t()
            var before = sigset_t()
            sigemptyset(&stop)
            sigaddset(&stop, SIGTSTP)
            pthread_sigmask(SIG_UNBLOCK, &stop, &before)
            raise(SIGTSTP)
            pthread_sigmask(SIG_SETMASK, &before, nil)
            _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &editing)
            rl_redisplay()
            return 0
        }

        /// Puts what a terminal pastes into the line, as far as the mark that ends it; its ends of lines end no message.
        private func insertPaste() -> Int32 {
            let end = Array("\u{1B}[201~".utf8)
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while !bytes.suffix(end.count).elementsEqual(end) {
                let count = Foundation.read(STDIN_FILENO, &byte, 1)
                guard count > 0 || count < 0 && errno == EINTR else { break }
                if count > 0 { bytes.append(byte) }
            }
            if bytes.suffix(end.count).elementsEqual(end) { bytes.removeLast(end.count) }
            _ = rl_insert_text(Self.text(ofPaste: bytes))
            rl_redisplay()
            return 0
        }

        /// A paste as text of lines, without control characters and without the end of its last line.
        static func text(ofPaste bytes: [UInt8]) -> String {
            var text = String(decoding: bytes, as: UTF8.self)
                .replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
            text.unicodeScalars.removeAll { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0x7F }
            while text.hasSuffix("\n") { text.removeLast() }
            return text
        }
    }
#endif
