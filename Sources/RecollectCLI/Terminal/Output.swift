#if CommandLine
    import Dispatch
    import Foundation
    import Recollect

    /// Nobody reads on: the reader of a pipe has ended, or the pager was left.
    struct OutputClosed: Error {}

    /// Where a command writes: standard output, through a pager where that is a terminal.
    ///
    /// Writes block, so they run on a queue of their own. Standard error belongs to messages for people: `tell`.
    final class Output: Sendable {
        /// Whether a person reads what is written.
        let isTerminal: Bool
        /// How it is coloured.
        let style: Style
        /// The columns that a line may take; `nil` where there is no screen.
        let columns: Int?

        private let queue = DispatchQueue(label: "recall.output")
        private let pager: Pager?
        private let descriptor: Int32

        /// Runs a command that writes to standard output, and waits until a person has left the pager, also where it fails.
        /// - Parameter paged: whether what comes may be longer than a screen.
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
            style = Style(isOn: Screen.takesColours(STDOUT_FILENO))
            columns = isTerminal ? Screen.columns(STDOUT_FILENO) : nil
            pager = paged && isTerminal ? Pager() : nil
            descriptor = pager?.descriptor ?? STDOUT_FILENO
        }

        /// Writes bytes, all of them.
        /// - Throws: `OutputClosed` where nobody reads on; `inputOutput` or `diskFull` where a file cannot take more.
        func write(_ bytes: [UInt8]) async throws {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { [descriptor] in
                    continuation.resume(with: Result { try Self.writeAll(bytes, to: descriptor) })
                }
            }
        }

        /// Writes text and an end of line.
        func line(_ text: String = "") async throws {
            try await write(Array(text.utf8) + [0x0A])
        }

        /// Writes values as one JSON array, a line each.
        func list<Element>(_ elements: [Element], isFirst: Bool, _ json: (Element) -> [UInt8]) async throws {
            var bytes: [UInt8] = []
            for (index, element) in elements.enumerated() {
                bytes += Array((isFirst && index == 0 ? "[\n" : ",\n").utf8) + json(element)
            }
            try await write(bytes)
        }

        private func finish() async throws {
            guard let pager else { return }
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try pager.close() }) }
            }
        }

        /// Writes a line for a person to standard error.
        static func tell(_ text: String) {
            // If nobody reads standard error there is nobody to tell.
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
