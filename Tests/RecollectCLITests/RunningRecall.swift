#if CommandLine
    import Dispatch
    import Foundation
    import RecollectCore
    import Testing

    /// The command while it runs with `--json`, to be killed at a moment of the test's choice.
    final class RunningRecall: Sendable {
        private let process: Process
        private let events: AsyncStream<JSONValue>
        private let ended = Locked(AsyncStream<Void>.makeStream())

        /// Starts the command.
        init(_ recall: RecallProcess, _ arguments: [String]) throws {
            let output = Pipe()
            process = Process()
            process.executableURL = try RecallProcess.executable()
            process.arguments = arguments
            process.environment = recall.environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            let (events, continuation) = AsyncStream<JSONValue>.makeStream()
            self.events = events
            let done = ended.withLock { $0.continuation }
            process.terminationHandler = { _ in done.finish() }
            try process.run()
            // Reading blocks, on a queue of its own, and ends with the process.
            let reading = output.fileHandleForReading
            DispatchQueue(label: "test.recall").async {
                var rest = Data()
                while case let bytes = reading.availableData, !bytes.isEmpty {
                    rest += bytes
                    while let end = rest.firstIndex(of: 0x0A) {
                        let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                        rest = Data(rest[rest.index(after: end)...])
                        if let event = try? JSONValue(parsing: line) { continuation.yield(event) }
                    }
                }
                continuation.finish()
            }
        }

        /// Waits until it has told so many events of a kind. Returns those that it told until then.
        @discardableResult
        func wait(for kind: String, count: Int = 1) async throws -> [JSONValue] {
            var seen: [JSONValue] = []
            for await event in events {
                seen.append(event)
                if seen.count(where: { $0["event"]?.stringValue == kind }) >= count { return seen }
            }
            throw RecollectError(.notFound, "recall ended before it told \(count) of \(kind): \(seen)")
        }

        /// Sends a signal and waits for the end.
        /// - Returns: the exit code or, where a signal ended it, that.
        @discardableResult
        func end(by signal: Int32) async -> (code: Int32, wasKilled: Bool) {
            kill(process.processIdentifier, signal)
            for await _ in ended.withLock({ $0.stream }) {}
            return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
        }
    }
#endif
