#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// A yes-or-no question on standard error, answered on standard input.
    struct Question {
        var text: String
        /// Facts shown before the question, one per line.
        var facts: [String] = []
        /// The message of the error without a terminal.
        var refusal: String

        /// Asks the question. Only an answer beginning with `y` or `Y` means yes; the end of the input means no.
        /// - Throws: `invalidArgument` unless standard input and standard error are a terminal.
        func ask() async throws -> Bool {
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                throw RecollectError(.invalidArgument, refusal)
            }
            for fact in facts { Output.printError("  \(fact)") }
            try Output.writeAll(Array("\(text) [y/N] ".utf8), to: STDERR_FILENO)
            // The wait for an answer blocks a thread of its own.
            let answer = await DispatchQueue(label: "recall.question").run { readLine() }
            return answer?.trimmingCharacters(in: .whitespaces).lowercased().hasPrefix("y") ?? false
        }
    }
#endif
