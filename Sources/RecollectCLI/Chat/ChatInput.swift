#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// The input of a chat: a line editor on a terminal, else standard input line by line.
    final class ChatInput: Sendable {
        /// The next input.
        enum Next: Sendable {
            case typed(PromptInput)
            /// A request to end the chat, from the system or another program.
            case signal(Int32)
        }

        /// Whether the line editor is used.
        let isInteractive: Bool

        private let signals: Signals
        private let editor: (mode: TerminalMode, lines: TypedLines)?
        private let queue = DispatchQueue(label: "recall.chat.input")

        /// The prompt of a line.
        private static let prompt = "› "
        /// The sequences that turn bracketed paste mode on and off.
        private static let (marksPastes, marksNoPastes) = ("\u{1B}[?2004h", "\u{1B}[?2004l")

        /// Creates the input. On a terminal, sets up the line editor.
        /// - Parameter usesEditor: `false` if the output is for programs.
        init(usesEditor: Bool, lines: TypedLines, signals: Signals) {
            self.signals = signals
            let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && Screen.isCapable
            guard usesEditor, isTerminal, let mode = TerminalMode() else {
                (isInteractive, editor) = (false, nil)
                return
            }
            isInteractive = true
            editor = (mode, lines)
            queue.async {
                LineEditor.shared.begin(lines: lines.load(), keeping: TypedLines.limit)
                mode.waitForReply()
                try? Output.writeAll(Array(Self.marksPastes.utf8), to: STDOUT_FILENO)
            }
        }

        /// Waits for a line or a signal.
        func next() async -> Next {
            await withCheckedContinuation { continuation in
                let waiting = Locked<CheckedContinuation<Next, Never>?>(continuation)
                let answer: @Sendable (Next) -> Void = { next in
                    waiting.withLock { waiting in
                        defer { waiting = nil }
                        return waiting
                    }?.resume(returning: next)
                }
                signals.handle { answer(.signal($0)) }
                read { [signals] typed in
                    signals.handle(nil)
                    answer(.typed(typed))
                }
            }
        }

        private func read(_ answer: @escaping @Sendable (PromptInput) -> Void) {
            queue.async { [editor] in
                guard let editor else {
                    if isatty(STDIN_FILENO) == 1 { try? Output.writeAll(Array(Self.prompt.utf8), to: STDERR_FILENO) }
                    return answer(readLine().map(PromptInput.line) ?? .end)
                }
                LineEditor.shared.read(
                    Self.prompt, style: Style(isOn: Screen.supportsColor(STDOUT_FILENO)), mode: editor.mode,
                    answer: answer)
            }
        }

        /// Adds a line to the history of ↑, in this chat and in later ones.
        func remember(_ line: String) {
            guard let editor else { return }
            LineEditor.shared.remember(line)
            queue.async { editor.lines.append(line) }
        }

        /// Restores the mode of the terminal.
        func end() async {
            guard let editor else { return }
            await queue.run {
                editor.mode.restore()
                try? Output.writeAll(Array(Self.marksNoPastes.utf8), to: STDOUT_FILENO)
            }
        }
    }
#endif
