#if CommandLine
    import CEditLine
    import Dispatch
    import Foundation
    import Recollect

    /// The input at a prompt.
    enum PromptInput: Sendable {
        case line(String)
        /// Ctrl-C. `wasEmpty` is true if it removed no text.
        case interrupt(wasEmpty: Bool)
        /// Ctrl-D on an empty line, or the end of the input.
        case end
    }

    /// A line editor for a terminal, on top of libedit: the keys of a shell, ↑ for earlier lines, and a paste of
    /// several lines as one message.
    ///
    /// libedit has one state per process, so there is one editor. Reading blocks, on a queue of its own.
    final class LineEditor: Sendable {
        static let shared = LineEditor()
        /// A key without another use, bound to redrawing the line in libedit: Ctrl-\.
        static let redisplayKey: UInt8 = 0x1C

        private let queue = DispatchQueue(label: "recall.editor")
        /// The result of a line ended by Ctrl-C.
        private let interrupt = Locked<PromptInput?>(nil)

        private init() {}

        /// Sets up the editor on standard input and output. Reads the locale from the environment.
        /// - Parameters:
        ///   - lines: The lines for ↑, the oldest first.
        ///   - limit: The number of lines kept for ↑.
        func begin(lines: [String], keeping limit: Int) {
            // libedit does not restore its terminal mode after a stop, so Ctrl-Z is ignored.
            signal(SIGTSTP, SIG_IGN)
            _ = ceditline_initialize()
            define("recall-interrupt", key: 3) { _, _ in LineEditor.shared.abandonLine() }
            // libedit needs a key for every action. The bindings below give `~` its usual action back, and bind
            // this action to the start sequence of a paste.
            define("recall-paste", key: Int32(UInt8(ascii: "~"))) { _, _ in LineEditor.shared.insertPaste() }
            for binding in ["~ ed-insert", "^[[200~ recall-paste", "^I ed-insert", "^\\\\ ed-redisplay"] {
                _ = rl_parse_and_bind("bind \(binding)")
            }
            stifle_history(Int32(limit))
            for line in lines { _ = add_history(line) }
        }

        /// Shows a prompt, and passes the input to `answer`, on a queue.
        func read(_ prompt: String, style: Style, mode: TerminalMode, answer: @escaping @Sendable (PromptInput) -> Void)
        {
            // Marks around escape sequences let libedit count columns correctly.
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
                    return PromptInput.line(String(cString: line))
                }
                mode.waitForReply()
                answer(typed ?? interrupt.withLock { $0 } ?? .end)
            }
        }

        /// Adds a line for ↑.
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

        /// Inserts a paste up to its end sequence. Its line breaks do not end the message.
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

        /// Returns the text of a paste, with `\n` for its line breaks, without other control characters except
        /// tabs, and without the line breaks at its end.
        static func text(ofPaste bytes: [UInt8]) -> String {
            var text = String(decoding: bytes, as: UTF8.self)
                .replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
            text.unicodeScalars.removeAll { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0x7F }
            while text.hasSuffix("\n") { text.removeLast() }
            return text
        }
    }
#endif
