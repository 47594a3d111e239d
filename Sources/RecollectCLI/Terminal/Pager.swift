#if CommandLine
    import Foundation
    import Recollect

    /// The program that shows long output screen by screen: `PAGER`, else `less`; none where `PAGER` is empty, there is
    /// no `less`, or the terminal can only write line after line.
    ///
    /// `@unchecked Sendable` because the stream is only written and closed on its output's queue.
    final class Pager: @unchecked Sendable {
        let descriptor: Int32
        /// What was run.
        let command: String
        private let stream: UnsafeMutablePointer<FILE>

        init?() {
            let environment = ProcessInfo.processInfo.environment
            guard Screen.isCapable, let command = Self.command(environment) else { return nil }
            // Leave at once what fits the screen, keep colours, and leave the text there afterwards.
            setenv("LESS", "FRX", 0)
            setenv("LESSCHARSET", "utf-8", 0)
            guard let stream = popen(command, "w") else { return nil }
            self.stream = stream
            self.command = command
            descriptor = fileno(stream)
            // What the keys mean is the pager's business while it runs.
            signal(SIGINT, SIG_IGN)
        }

        /// Which program an environment asks for: not every machine has `less`, and text without a pager is better than none.
        static func command(_ environment: [String: String]) -> String? {
            if let named = environment["PAGER"] { return named.isEmpty || named == "cat" ? nil : named }
            let folders = (environment["PATH"] ?? "").split(separator: ":")
            return folders.contains { access("\($0)/less", X_OK) == 0 } ? "less" : nil
        }

        /// Ends the text and waits for the pager.
        /// - Throws: `notFound` where there is no such program, so that nobody has seen the text.
        func close() throws {
            let status = pclose(stream)
            signal(SIGINT, SIG_DFL)
            // What a shell says of a command that it does not find.
            if (status >> 8) & 0xFF == 127 {
                throw RecollectError(
                    .notFound, "the pager '\(command)' cannot be run; set PAGER to one that can, or to nothing for none"
                )
            }
        }
    }
#endif
