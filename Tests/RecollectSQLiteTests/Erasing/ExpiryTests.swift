import Foundation
import GRDB
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Retention by days") struct ExpiryTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let day: Double = 86_400

    private func aged(_ range: Range<Int>, days: Double) -> [ConversationMessage] {
        range.map {
            ConversationMessage(
                id: "m\($0)", role: $0.isMultiple(of: 2) ? .user : .assistant, text: "text \($0)",
                timestamp: now.addingTimeInterval(-days * day))
        }
    }

    @Test("messages of any age stand among others; exactly the old ones go, and what was looked at is not read again")
    func blocks() async throws {
        let history = SQLiteHistoryStore(inMemory: HistoryConfiguration(retention: .everything))
        // Imported messages are old, whatever their numbers.
        try await history.append(aged(0..<5000, days: 1), to: scope)
        try await history.append(aged(5000..<5100, days: 9), to: scope)
        try await history.append(aged(5100..<9000, days: 2), to: scope)
        let moment = now.addingTimeInterval(-7 * day)
        #expect(try await history.deleteMessages(olderThan: moment) == 100)
        #expect(try await history.window(of: scope, maxMessages: nil).count == 8900)
        #expect(try await history.read { try $0.integers("SELECT block FROM message_age ORDER BY block") } == [0, 1])
        #expect(try await history.conversation(scope.conversation)?.messageCount == 8900)
        let statements = Locked<[String]>([])
        try await history.write { db in
            db.trace { event in
                if case .statement(let statement) = event { statements.withLock { $0.append(statement.sql) } }
            }
        }
        #expect(try await history.deleteMessages(olderThan: moment) == 0)
        #expect(!statements.withLock { $0.contains { $0.contains("INSERT OR REPLACE INTO message_age") } })
        #expect(try await history.deleteMessages(olderThan: now.addingTimeInterval(-1.5 * day)) == 3900)
        #expect(try await history.window(of: scope, maxMessages: nil) == aged(0..<5000, days: 1))
        #expect(try await history.check().problems.isEmpty)
    }

    @Test("a clock that jumped ahead deletes nothing until it has stood for a day")
    func jump() async throws {
        let history = SQLiteHistoryStore(inMemory: HistoryConfiguration(retention: .days(30)))
        let hour: Int64 = 3_600_000
        var uptime = 100 * hour
        // The upkeep of the opened history has noted the clock of this machine.
        _ = try await history.latestChange()
        await history.upkeep.work(atMost: .seconds(5))
        try await history.write { try $0.run("DELETE FROM clock") }
        try await history.append(aged(0..<4, days: 10), to: scope)
        #expect(try await history.expireNow(now: now, uptime: uptime) == 0)
        uptime += hour
        let wrong = now.addingTimeInterval(365 * day)
        #expect(try await history.expireNow(now: wrong, uptime: uptime) == 0)
        #expect(try await history.expireNow(now: wrong.addingTimeInterval(3600), uptime: uptime + hour) == 0)
        // Set right again: nothing was lost, and what then grows old goes.
        #expect(try await history.expireNow(now: now.addingTimeInterval(3 * 3600), uptime: uptime + 3 * hour) == 0)
        let later = now.addingTimeInterval(21 * day)
        #expect(try await history.expireNow(now: later, uptime: uptime + 21 * 24 * hour) == 4)
    }

    @Test("what the clock shows is trusted as long as it goes with the time that the system is up")
    func clock() async throws {
        let history = memory()
        let hour: Int64 = 3_600_000
        func isTrusted(_ now: Int64, _ uptime: Int64) async throws -> Bool {
            try await history.write { try ClockWatch.isTrusted(now: now * hour, uptime: uptime * hour, $0) }
        }
        #expect(try await isTrusted(1000, 10), "nothing is known yet")
        #expect(try await isTrusted(1200, 210), "asleep or unused for days")
        #expect(try await isTrusted(1230, 220), "less than a day ahead")
        #expect(try await !isTrusted(9000, 221))
        #expect(try await !isTrusted(9023, 244))
        #expect(try await isTrusted(9024, 245), "it has stood for a day")
        #expect(try await !isTrusted(20_000, 246))
        #expect(try await !isTrusted(30_000, 247), "a second jump begins anew")
        #expect(try await isTrusted(9100, 248), "set back")
        #expect(try await !isTrusted(9300, 3), "off for a week, perhaps")
        #expect(try await isTrusted(9500, 2), "and again")
    }
}
