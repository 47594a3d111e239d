#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// A question that a person answers with yes or no, on standard error and standard input.
    struct Question {
        var text: String
        /// What they need to know first, a line each.
        var facts: [String] = []
        /// Why nothing is done where nobody can be asked.
        var refusal: String

        /// Asks. Whatever does not begin with `y` means no; so does the end of the input.
        /// - Throws: `invalidArgument` where nobody can be asked.
        func ask() async throws -> Bool {
            guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                throw RecollectError(.invalidArgument, refusal)
            }
            for fact in facts { Output.tell("  \(fact)") }
            try Output.writeAll(Array("\(text) [y/N] ".utf8), to: STDERR_FILENO)
            // Waiting for a person blocks a thread of its own.
            let answer = await withCheckedContinuation { continuation in
                DispatchQueue(label: "recall.question").async { continuation.resume(returning: readLine()) }
            }
            return answer?.trimmingCharacters(in: .whitespaces).lowercased().hasPrefix("y") ?? false
        }
    }
#endif
