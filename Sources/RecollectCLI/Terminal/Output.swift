#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// The error of a write after the reader of a pipe has ended, or after the pager was left.
    struct OutputClosed: Error {}

    /// The output of a command: standard output, through a pager if it is long and goes to a terminal.
    ///
    /// Writes block, so they run on a queue of their own. Messages for people go to standard error: `printError`.
    final class Output: Sendable {
        /// Whether standard output is a terminal.
        let isTerminal: Bool
        /// The style of the output.
        let style: Style
        /// The columns of a line; `nil` without a screen.
        let columns: Int?

        private let queue = DispatchQueue(label: "recall.output")
        private let pager: Pager?
        private let descriptor: Int32

        /// Runs a command with an output. Then waits until the user leaves the pager, also after an error of the
        /// command.
        /// - Parameter paged: Whether the output may be longer than a screen.
        /// - Throws: The error of the pager, else the error of the command.
        static func open(paged: Bool = false, _ body: (Output) async throws -> Void) async throws {
            let output = Output(paged: paged)
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(output))
            } catch {
                result = .failure(error)
            }
            try await output.finish()
            try result.get()
        }

        private init(paged: Bool) {
            isTerminal = isatty(STDOUT_FILENO) == 1
            style = Style(isOn: Screen.supportsColor(STDOUT_FILENO))
            columns = isTerminal ? Screen.columns(STDOUT_FILENO) : nil
            pager = paged && isTerminal ? Pager() : nil
            descriptor = pager?.descriptor ?? STDOUT_FILENO
        }

        /// Writes all bytes.
        /// - Throws: `OutputClosed` if the reader has ended; `inputOutput`, or `diskFull` for a file on a full
        ///   disk.
        func write(_ bytes: [UInt8]) async throws {
            try await queue.run { [descriptor] in try Self.writeAll(bytes, to: descriptor) }
        }

        /// Writes text and a line break.
        func line(_ text: String = "") async throws {
            try await write(Array(text.utf8) + [0x0A])
        }

        /// Writes values of one JSON array, one per line, without its end. `isFirst` is true for the first call.
        func list<Element>(_ elements: [Element], isFirst: Bool, _ json: (Element) -> [UInt8]) async throws {
            var bytes: [UInt8] = []
            for (index, element) in elements.enumerated() {
                bytes += Array((isFirst && index == 0 ? "[\n" : ",\n").utf8) + json(element)
            }
            try await write(bytes)
        }

        private func finish() async throws {
            guard let pager else { return }
            try await queue.run { try pager.close() }
        }

        /// Writes a line for people to standard error.
        static func printError(_ text: String) {
            // A failed write to standard error cannot be reported.
            try? writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
        }

        static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
            try bytes.withUnsafeBytes { bytes in
                var written = 0
                while written < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                    let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                    if count >= 0 {
                        written += count
                    } else if errno == EPIPE {
                        throw OutputClosed()
                    } else if errno != EINTR {
                        throw RecollectError(.last, doing: "write to", path: "the output")
                    }
                }
            }
        }
    }
#endif
