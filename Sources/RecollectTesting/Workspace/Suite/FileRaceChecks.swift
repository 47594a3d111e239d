import Foundation
import RecollectCore
import RecollectWorkspace

/// Checks of concurrent writers.
enum FileRaceChecks {
    static let all: [WorkspaceProviderCheck] = [
        WorkspaceProviderCheck(
            "race.oneWriterWins", "Of several concurrent writes with the same expected version, exactly one succeeds.",
            needs: .concurrent
        ) { _, provider in
            var known: String?
            for round in 0..<20 {
                let (expected, winners) = (known, Locked<[String]>([]))
                let failures = Locked<[String]>([])
                Self.atOnce(8) { writer in
                    do {
                        try provider.write("\(round) \(writer)", to: "context.md", replacing: expected)
                        winners.withLock { $0.append("\(round) \(writer)") }
                    } catch is ContentMismatchError {
                        return
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
                try expectEqual(failures.withLock { $0 }, [], "errors other than ContentMismatchError")
                let won = winners.withLock { $0 }
                try expectEqual(won.count, 1, "the number of successful writes")
                known = won[0]
                try expectEqual(provider.text(at: "context.md"), won[0], "the text of the successful write")
            }
        },
        WorkspaceProviderCheck(
            "race.noWriteIsLost", "Concurrent writers lose no line if each retries until it succeeds.",
            needs: .concurrent
        ) { _, provider in
            try provider.write("", to: "log.md", replacing: nil)
            let failures = Locked<[String]>([])
            for line in 0..<5 {
                // All writers start from the same content. So all but one get a mismatch, even on a machine with a
                // single processor.
                let known = try provider.text(at: "log.md")
                Self.atOnce(6) { writer in
                    do {
                        try Self.append("\(writer).\(line)", to: known, with: provider)
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            try expectEqual(failures.withLock { $0 }, [], "errors")
            let lines = try provider.text(at: "log.md").split(separator: "\n").map(String.init)
            let expected = (0..<6).flatMap { writer in (0..<5).map { "\(writer).\($0)" } }
            try expectEqual(lines.sorted(), expected.sorted(), "the lines, sorted")
        },
        WorkspaceProviderCheck(
            "race.readersSeeCompleteFiles",
            "A read during a write returns the complete content, never a part, and the file is never missing.",
            needs: .concurrent
        ) { _, provider in
            let content: @Sendable (Int) -> String = { round in String(repeating: "\(round % 10)", count: 20_000) }
            try provider.write(content(0), to: "context.md", replacing: nil)
            let failures = Locked<[String]>([])
            Self.atOnce(4) { task in
                do {
                    for round in 1...12 {
                        guard task != 0 else {
                            try provider.write(content(round), to: "context.md", replacing: content(round - 1))
                            continue
                        }
                        let text = try provider.text(at: "context.md")
                        let isWhole = text.utf8.count == 20_000 && Set(text.utf8).count == 1
                        guard isWhole else { throw BrokenPromise(expected: "", actual: "\(text.utf8.count) bytes") }
                        let names = try provider.names()
                        guard names == ["context.md"] else { throw BrokenPromise(expected: "", actual: "\(names)") }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            try expectEqual(failures.withLock { $0 }, [], "incomplete reads and other errors")
        },
    ]

    /// Runs work in threads of its own, scheduled by the system even while others wait. A queue might run it one
    /// at a time.
    private static func atOnce(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
        let all = DispatchGroup()
        for number in 0..<count {
            all.enter()
            Thread.detachNewThread {
                work(number)
                all.leave()
            }
        }
        all.wait()
    }

    /// Adds a line to a file. Repeats the write until no other write came between.
    private static func append(_ line: String, to content: String, with provider: any WorkspaceProvider) throws {
        var known = content
        for _ in 0..<10_000 {
            do {
                return try provider.write(known + line + "\n", to: "log.md", replacing: known)
            } catch let mismatch as ContentMismatchError {
                known = String(decoding: mismatch.current ?? [], as: UTF8.self)
            }
        }
        throw BrokenPromise(expected: "a write that succeeds", actual: "10,000 mismatches in a row")
    }
}
