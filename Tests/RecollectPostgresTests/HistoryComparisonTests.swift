#if Postgres
    import Foundation
    import RecollectSQLite
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    /// Random operations on a history in PostgreSQL and on one in SQLite.
    @Suite("Comparison of histories in PostgreSQL and SQLite", .needs(.postgres))
    struct HistoryComparisonTests {
        @Test(
            "After random operations, both return and throw the same, and show the same messages, lists, hits and changes"
        )
        func lives() async {
            await Seeds.run(6) { try await live(seed: $0) }
        }

        private func live(seed: UInt64) async throws {
            let folder = try TemporaryFolder()
            let embedded = SQLiteHistoryStore(
                directory: folder.url, configuration: HistoryConfiguration(durability: .relaxed))
            let shared = PostgresHistoryStore(
                try PostgresAddress(try await HistoryServer.url), feedWaitingTime: .seconds(30))
            var comparison = HistoryComparison([embedded, shared], seed: seed)
            var last: [String] = []
            for step in 0..<60 {
                let (operation, outcomes) = await comparison.step()
                last = last.suffix(5) + [operation]
                let changes = try await comparison.changes()
                if let difference = difference(outcomes) ?? difference(changes) {
                    record("step \(step)", last, difference)
                    break
                }
                guard step % 5 == 4 || Seeds.isOne else { continue }
                if let difference = difference(try await comparison.states()) {
                    record("after step \(step)", last, difference)
                    break
                }
            }
            shared.close()
            await embedded.close()
        }

        /// Returns the first different line, if there is one.
        private func difference(_ lines: [[String]]) -> String? {
            guard lines.count == 2, lines[0] != lines[1] else { return nil }
            let index =
                zip(lines[0], lines[1]).enumerated().first { $1.0 != $1.1 }?.offset
                ?? min(lines[0].count, lines[1].count)
            func around(_ lines: [String]) -> String {
                lines[max(0, index - 3)..<min(lines.count, index + 3)].joined(separator: "\n")
            }
            return "\nSQLite:\n\(around(lines[0]))\nPostgreSQL:\n\(around(lines[1]))"
        }

        /// Records a difference. An issue ends at U+0000.
        private func record(_ place: String, _ operations: [String], _ difference: String) {
            let text = "\(place), \(operations.joined(separator: "\n")): \(difference)"
            Issue.record("\(text.replacingOccurrences(of: "\u{0}", with: "␀"))")
        }
    }
#endif
