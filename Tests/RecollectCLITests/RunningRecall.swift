#if CommandLine
    import Dispatch
    import Foundation

    import RecollectTestSupport
    import RecollectCore
    import Testing

    /// The command running with `--json`, so that a test can kill it at a chosen point.
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
            // Reading blocks, on its own queue, until the process ends.
            let reading = output.fileHandleForReading
            DispatchQueue(label: "test.recall").async {
                var rest = Data()
                while case let bytes = nextBytes(of: reading), !bytes.isEmpty {
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

        /// Waits until the command has printed `count` events of a kind, and returns all events until then.
        @discardableResult
        func wait(for kind: String, count: Int = 1) async throws -> [JSONValue] {
            var seen: [JSONValue] = []
            for await event in events {
                seen.append(event)
                if seen.count(where: { $0["event"]?.stringValue == kind }) >= count { return seen }
            }
            throw RecollectError(.notFound, "recall ended before printing \(count) of \(kind): \(seen)")
        }

        /// Sends a signal and waits for the end.
        /// - Returns: The exit code, or the signal that ended the process.
        @discardableResult
        func end(by signal: Int32) async -> (code: Int32, wasKilled: Bool) {
            kill(process.processIdentifier, signal)
            for await _ in ended.withLock({ $0.stream }) {}
            return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
        }
    }
#endif
