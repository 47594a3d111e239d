#if CommandLine
    import Foundation

    /// The program that shows long output screen by screen: `PAGER`, else `less`; none where `PAGER` is empty.
    ///
    /// `@unchecked Sendable` because the stream is only written and closed on its output's queue.
    final class Pager: @unchecked Sendable {
        let descriptor: Int32
        private let stream: UnsafeMutablePointer<FILE>

        init?() {
            let command = ProcessInfo.processInfo.environment["PAGER"] ?? "less"
            guard !command.isEmpty, command != "cat" else { return nil }
            // Leave at once what fits the screen, keep colours, and leave the text there afterwards.
            setenv("LESS", "FRX", 0)
            setenv("LESSCHARSET", "utf-8", 0)
            guard let stream = popen(command, "w") else { return nil }
            self.stream = stream
            descriptor = fileno(stream)
            // What the keys mean is the pager's business while it runs.
            signal(SIGINT, SIG_IGN)
        }

        /// Ends the text and waits for the pager.
        func close() {
            pclose(stream)
            signal(SIGINT, SIG_DFL)
        }
    }
#endif
