#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    /// A chat, from its first line to its end.
    struct ChatLoop {
        let chat: Chat
        let input: ChatInput
        let signals: Signals

        /// Runs a chat at a terminal until the user leaves.
        /// - Throws: `ExitCode` if a signal ended it.
        func runAtTerminal(opening session: Session?) async throws {
            let opening = ChatBanner(chat: chat)
            if let session { try await chat.printLines(try await opening.lines(of: session)) }
            try await chat.printLines([opening.hint])
            var wasAskedToLeave = false
            while true {
                signals.forgetInterrupt()
                let next = await input.next()
                if case .typed(.interrupt(wasEmpty: true)) = next {
                    try await chat.printLines([""])
                    if wasAskedToLeave { throw ExitCode(128 + SIGINT) }
                    try await chat.printLines([chat.style.dim("To quit, press Ctrl-C again or Ctrl-D, or type /quit.")])
                    wasAskedToLeave = true
                    continue
                }
                wasAskedToLeave = false
                switch next {
                case .signal(let signal):
                    try await chat.printLines([""])
                    throw ExitCode(128 + signal)
                case .typed(.end): return try await chat.printLines([""])
                case .typed(.interrupt): try await chat.printLines([""])
                case .typed(.line(let line)):
                    guard !line.allSatisfy(\.isWhitespace) else { continue }
                    input.remember(line)
                    guard try await answer(line) != .leave else { return }
                }
            }
        }

        /// Processes the input line by line, to its end.
        /// - Throws: `ExitCode` if a signal ended it, or if a turn or a command failed. A failed command ends it
        ///   at once, a failed turn does not.
        func runPiped() async throws {
            var hasFailed = false
            lines: while true {
                switch await input.next() {
                case .signal(let signal): throw ExitCode(128 + signal)
                case .typed(.end), .typed(.interrupt): break lines
                case .typed(.line(let line)):
                    guard !line.allSatisfy(\.isWhitespace) else { continue }
                    switch try await answer(line) {
                    case .answered: continue
                    case .failed: hasFailed = true
                    case .stopped(let signal): throw ExitCode(128 + signal)
                    // The next lines may depend on the result of the command.
                    case .commandFailed: throw ExitCode(1)
                    case .leave: break lines
                    }
                }
            }
            if hasFailed { throw ExitCode(1) }
        }

        /// Sends one message.
        /// - Throws: `ExitCode` if a signal stopped the reply, or if the turn failed.
        func runOnce(_ message: String) async throws {
            switch try await chat.say(message) {
            case .answered: return
            case .failed: throw ExitCode(1)
            case .stopped(let signal): throw ExitCode(128 + signal)
            }
        }

        /// The outcome of a line.
        private enum Outcome: Equatable {
            case answered, failed, commandFailed, leave
            case stopped(by: Int32)
        }

        private func answer(_ line: String) async throws -> Outcome {
            switch ChatLine(line) {
            case .command(let name, let argument):
                do {
                    return try await chat.run(command: name, argument: argument) ? .answered : .leave
                } catch let error where !(error is OutputClosed) {
                    Output.printError("recall: \(Recall.words(for: error))")
                    return .commandFailed
                }
            case .message(let text):
                switch try await chat.say(text) {
                case .answered: return .answered
                case .failed: return .failed
                case .stopped(SIGINT) where input.isInteractive: return .answered
                case .stopped(let signal) where input.isInteractive: throw ExitCode(128 + signal)
                case .stopped(let signal): return .stopped(by: signal)
                }
            }
        }
    }
#endif
