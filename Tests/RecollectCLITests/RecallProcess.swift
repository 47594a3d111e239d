#if CommandLine
    import Foundation
    import RecollectCore
    import RecollectTestSupport
    import Testing

    /// The built command, run as a separate process with a history of its own.
    final class RecallProcess {
        /// The result of a run.
        struct Outcome {
            var code: Int32
            var output: String
            var messages: String

            /// The output as JSON.
            func json() throws -> JSONValue { try JSONValue(parsing: output) }
        }

        /// A folder for the test's files, removed after the test.
        let folder: String
        /// The history's folder, inside `folder`.
        var store: String { folder + "/store" }
        var environment: [String: String]

        init() throws {
            try Need.requireMet(".needs(.processes)")
            let name = "recall-tests-\(UUID().uuidString)"
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(name).resolvingSymlinksInPath().path
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            environment = ProcessInfo.processInfo.environment
            environment["TZ"] = "UTC"
            environment["RECOLLECT_STORE"] = folder + "/store"
            // Hides the models configured on this machine.
            for name in environment.keys where name.hasPrefix("OPENAI_") { environment[name] = nil }
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        /// Runs the command to its end.
        func run(_ arguments: String...) async throws -> Outcome {
            try await run(arguments)
        }

        /// Runs the command to its end.
        /// - Parameter input: The standard input; empty by default.
        func run(_ arguments: [String], input: String? = nil) async throws -> Outcome {
            let process = Process()
            process.executableURL = try Self.executable()
            process.arguments = arguments
            process.environment = environment
            let source = try input.map { input in
                let source = try write("\(UUID().uuidString).in", input)
                return try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
            }
            process.standardInput = source ?? FileHandle.nullDevice
            // Files instead of pipes, so that no reader is needed while the command writes.
            let streams = ["out", "err"].map { folder + "/\(UUID().uuidString).\($0)" }
            for stream in streams { try Data().write(to: URL(fileURLWithPath: stream)) }
            let written = try streams.map { try FileHandle(forWritingTo: URL(fileURLWithPath: $0)) }
            process.standardOutput = written[0]
            process.standardError = written[1]
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                process.terminationHandler = { _ in done.resume() }
                do { try process.run() } catch { done.resume(throwing: error) }
            }
            // Foundation keeps them open. With more than 1,024 open files, its `Process` crashes on Linux.
            for file in written + [source].compactMap(\.self) { try file.close() }
            let outcome = Outcome(
                code: process.terminationStatus, output: try String(contentsOfFile: streams[0], encoding: .utf8),
                messages: try String(contentsOfFile: streams[1], encoding: .utf8))
            #expect(process.terminationReason == .exit, "ended by signal \(outcome.code)")
            for sign in ["Fatal error", "Stack trace", "Backtrace", "*** ", "Swift/", "NSError"] {
                #expect(!outcome.messages.contains(sign), "\(outcome.messages)")
            }
            return outcome
        }

        /// Writes a file for the command to read.
        @discardableResult
        func write(_ name: String, _ text: String) throws -> String {
            try write(name, Data(text.utf8))
        }

        @discardableResult
        func write(_ name: String, _ bytes: Data) throws -> String {
            let file = URL(fileURLWithPath: folder).appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try bytes.write(to: file)
            return file.path
        }

        /// The command is built beside the tests.
        static func executable() throws -> URL {
            var folder = Bundle.main.bundleURL
            for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
                folder = bundle.bundleURL.deletingLastPathComponent()
            }
            let found = [folder, folder.deletingLastPathComponent()]
                .map { $0.appendingPathComponent("recall") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) }
            return try #require(found, "recall is not built beside \(folder.path)")
        }
    }

    /// Transcript lines.
    enum Lines {
        static func user(
            _ uuid: String, _ text: String, session: String = "11111111-aaaa", at second: Int = 0
        ) -> String {
            line("user", uuid, session, second, ["role": "user", "content": .string(text)])
        }

        static func assistant(
            _ uuid: String, _ text: String, session: String = "11111111-aaaa", at second: Int = 1
        ) -> String {
            let content: JSONValue = [["type": "text", "text": .string(text)]]
            return line("assistant", uuid, session, second, ["role": "assistant", "content": content, "model": "m"])
        }

        private static func line(
            _ type: String, _ uuid: String, _ session: String, _ second: Int, _ message: JSONValue
        ) -> String {
            let line: JSONValue = [
                "type": .string(type), "uuid": .string(uuid), "sessionId": .string(session),
                "timestamp": .string("2026-02-03T09:00:\(second < 10 ? "0" : "")\(second).000Z"),
                "cwd": "/home/ada/atlas", "gitBranch": "main", "message": message,
            ]
            return line.jsonString + "\n"
        }
    }
#endif
