#if CommandLine
    import Foundation
    import Recollect

    /// A program for showing long output screen by screen: `PAGER`, else `less`. There is none if `PAGER` is empty
    /// or `cat`, if `less` is not installed, or if the terminal has no control sequences.
    ///
    /// `@unchecked Sendable` because the stream is written and closed only on the queue of its output.
    final class Pager: @unchecked Sendable {
        let descriptor: Int32
        /// The command line of the pager.
        let command: String
        private let stream: UnsafeMutablePointer<FILE>

        init?() {
            let environment = ProcessInfo.processInfo.environment
            guard Screen.isCapable, let command = Self.command(environment) else { return nil }
            // Exit at once if the text fits the screen, show colors, and leave the text on the screen.
            setenv("LESS", "FRX", 0)
            setenv("LESSCHARSET", "utf-8", 0)
            guard let stream = popen(command, "w") else { return nil }
            self.stream = stream
            self.command = command
            descriptor = fileno(stream)
            // Ctrl-C belongs to the pager while it runs.
            signal(SIGINT, SIG_IGN)
        }

        /// Returns the pager for an environment; `nil` for none. A machine without `less` gets text without a
        /// pager.
        static func command(_ environment: [String: String]) -> String? {
            if let named = environment["PAGER"] { return named.isEmpty || named == "cat" ? nil : named }
            let folders = (environment["PATH"] ?? "").split(separator: ":")
            return folders.contains { access("\($0)/less", X_OK) == 0 } ? "less" : nil
        }

        /// Ends the text, and waits for the end of the pager.
        /// - Throws: `notFound` if the program cannot be found; the text was not shown then.
        func close() throws {
            let status = pclose(stream)
            signal(SIGINT, SIG_DFL)
            // The exit code of a shell for a command not found.
            if (status >> 8) & 0xFF == 127 {
                throw RecollectError(
                    .notFound,
                    "the pager '\(command)' cannot be run: set PAGER to another program, or to an empty value for no pager"
                )
            }
        }
    }
#endif
