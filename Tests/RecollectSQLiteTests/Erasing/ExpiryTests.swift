import Foundation
import GRDB
import RecollectTestSupport
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

    @Test("Expiry deletes exactly the old messages, wherever they are stored, and reads no block again")
    func blocks() async throws {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .everything))
        // Imported messages are old, despite their new sequence numbers.
        try await history.append(aged(0..<5000, days: 1), to: scope)
        try await history.append(aged(5000..<5100, days: 9), to: scope)
        try await history.append(aged(5100..<9000, days: 2), to: scope)
        let date = now.addingTimeInterval(-7 * day)
        #expect(try await history.deleteMessages(olderThan: date) == 100)
        #expect(try await history.window(of: scope, maxMessages: nil).count == 8900)
        let blocks = try await history.read {
            try $0.optionalText("SELECT group_concat(block, ' ') FROM (SELECT block FROM message_age ORDER BY block)")
        }
        #expect(blocks == "0 1")
        #expect(try await history.session(scope.session)?.messageCount == 8900)
        let statements = Locked<[String]>([])
        try await history.write { db in
            db.trace { event in
                if case .statement(let statement) = event { statements.withLock { $0.append(statement.sql) } }
            }
        }
        #expect(try await history.deleteMessages(olderThan: date) == 0)
        #expect(!statements.withLock { $0.contains { $0.contains("INSERT OR REPLACE INTO message_age") } })
        #expect(try await history.deleteMessages(olderThan: now.addingTimeInterval(-1.5 * day)) == 3900)
        #expect(try await history.window(of: scope, maxMessages: nil) == aged(0..<5000, days: 1))
        #expect(try await history.check().problems.isEmpty)
    }

    /// A history with `retention: .days(30)`, four messages from ten days ago, and no recorded clock.
    private func saved() async throws -> SQLiteHistoryStore {
        let history = SQLiteHistoryStore.inMemory(HistoryConfiguration(retention: .days(30)))
        // The maintenance of the opened history has recorded the clock of this machine.
        _ = try await history.latestChangeCursor()
        await history.maintenance.work(atMost: .seconds(5))
        try await history.write { try $0.run("DELETE FROM clock") }
        try await history.append(aged(0..<4, days: 10), to: scope)
        return history
    }

    /// The number of messages that expire at the given hours since the start of the test, with the clock ahead by the given
    /// hours, and with the given uptime of the system in hours.
    private func expired(
        _ history: SQLiteHistoryStore, hours: Double, ahead: Double = 0, uptime: Double
    ) async throws -> Int {
        try await history.expireNow(
            now: now.addingTimeInterval((hours + ahead) * 3600), uptime: Int64(uptime * 3_600_000))
    }

    @Test("After the clock jumps ahead, nothing is deleted until the clock is stable for a day")
    func jump() async throws {
        let history = try await saved()
        #expect(try await expired(history, hours: 0, uptime: 100) == 0)
        #expect(try await expired(history, hours: 24, uptime: 124) == 0)
        let year: Double = 365 * 24
        #expect(try await expired(history, hours: 25, ahead: year, uptime: 125) == 0)
        #expect(try await expired(history, hours: 26, ahead: year, uptime: 126) == 0)
        // With the clock set right again, nothing is lost, and messages expire at their age.
        #expect(try await expired(history, hours: 27, uptime: 127) == 0)
        #expect(try await expired(history, hours: 60, uptime: 160) == 0)
        #expect(try await expired(history, hours: 21 * 24, uptime: 100 + 21 * 24) == 4)
    }

    @Test("The first clock of a history with messages is trusted only after it is stable for a day")
    func firstClock() async throws {
        let history = try await saved()
        let wrong: Double = 100 * 24
        #expect(try await expired(history, hours: 0, ahead: wrong, uptime: 100) == 0)
        // A message saved in the meantime has the wrong date as well, and proves nothing.
        try await history.append(
            [ConversationMessage(role: .user, text: "now", timestamp: now.addingTimeInterval(wrong * 3600))],
            to: scope)
        #expect(try await expired(history, hours: 23, ahead: wrong, uptime: 123) == 0)
        #expect(try await expired(history, hours: 24, ahead: wrong, uptime: 124) == 4)
    }

    @Test("A second clock jump restarts the wait of one day, also after a restart of the system")
    func secondJump() async throws {
        let history = try await saved()
        #expect(try await expired(history, hours: 0, uptime: 100) == 0)
        #expect(try await expired(history, hours: 24, uptime: 124) == 0)
        #expect(try await expired(history, hours: 25, ahead: 100 * 24, uptime: 125) == 0)
        #expect(try await expired(history, hours: 26, ahead: 102 * 24, uptime: 126) == 0)
        #expect(try await expired(history, hours: 27, ahead: 104 * 24, uptime: 0.1) == 0, "after a restart")
        #expect(try await expired(history, hours: 28, ahead: 106 * 24, uptime: 1.1) == 0)
        #expect(try await expired(history, hours: 49, ahead: 106 * 24, uptime: 22.1) == 0)
        #expect(
            try await expired(history, hours: 52, ahead: 106 * 24, uptime: 25.1) == 4, "a day after the second jump")
    }

    @Test("Small clock jumps do not add up")
    func smallJumps() async throws {
        let history = try await saved()
        #expect(try await expired(history, hours: 0, uptime: 100) == 0)
        #expect(try await expired(history, hours: 24, uptime: 124) == 0)
        for number in 1...60 {
            let minute = 24 + Double(number) / 60
            let count = try await expired(
                history, hours: minute, ahead: Double(number) * 23, uptime: 100 + minute)
            #expect(count == 0, "jump \(number)")
        }
    }

    /// The trusted time in hours, for a clock and an uptime in hours.
    private func trusted(_ history: SQLiteHistoryStore, clock: Int64, uptime: Int64) async throws -> Int64? {
        let hour: Int64 = 3_600_000
        return try await history.write {
            try ClockWatch.trustedTime(now: clock * hour, uptime: uptime * hour, $0).map { $0 / hour }
        }
    }

    @Test("The trusted time advances with the uptime, and a clock ahead of it must be stable for a day")
    func clock() async throws {
        let history = memory()
        #expect(try await trusted(history, clock: 1000, uptime: 10) == nil, "no clock is recorded yet")
        #expect(try await trusted(history, clock: 1023, uptime: 33) == nil)
        #expect(try await trusted(history, clock: 1024, uptime: 34) == 1024)
        #expect(try await trusted(history, clock: 1200, uptime: 210) == 1200, "asleep or unused for days")
        #expect(try await trusted(history, clock: 1230, uptime: 220) == 1210, "less than a day ahead")
        #expect(try await trusted(history, clock: 9000, uptime: 221) == nil)
        #expect(try await trusted(history, clock: 9023, uptime: 244) == nil)
        #expect(try await trusted(history, clock: 9024, uptime: 245) == 9024, "stable for a day")
        #expect(try await trusted(history, clock: 8000, uptime: 246) == 8000, "set back")
        #expect(try await trusted(history, clock: 9000, uptime: 247) == nil, "ahead again")
        #expect(try await trusted(history, clock: 8002, uptime: 248) == nil, "set back during the wait of one day")
        #expect(try await trusted(history, clock: 8026, uptime: 272) == 8026)
        #expect(try await trusted(history, clock: 10_426, uptime: 1) == nil, "off for 100 days")
        #expect(try await trusted(history, clock: 10_448, uptime: 23) == nil)
        #expect(try await trusted(history, clock: 10_450, uptime: 25) == 10_450, "a day later")
    }

    @Test("A device that is off at night and on weekends deletes some days late, and never early")
    func nights() async throws {
        let history = memory()
        var latest: Int64 = 0
        for day in Int64(0)..<60 where day % 7 < 5 {
            for hour in Int64(0)...8 {
                let clock = 1000 + day * 24 + hour
                guard let time = try await trusted(history, clock: clock, uptime: hour) else { continue }
                #expect(time <= clock)
                latest = max(latest, time)
            }
            if day > 14 { #expect(1000 + day * 24 - latest < 8 * 24, "day \(day)") }
        }
    }

    @Test("A clock that is wrong for less than a day in total makes no message look older", arguments: 1...60)
    func wrongClocks(seed: UInt64) async throws {
        let history = memory()
        var generator = SeededGenerator(seed: seed)
        var (time, uptime): (Int64, Int64) = (100_000, 50)
        for _ in 0..<40 {
            // The clock is right for two days, then wrong in many ways for less than a day.
            var left: Int64 = 48
            while left > 0 {
                let step = Int64.random(in: 1...12, using: &generator)
                (time, uptime, left) = (time + step, uptime + step, left - step)
                let shown = try await trusted(history, clock: time, uptime: uptime)
                #expect(shown ?? 0 <= time)
            }
            if Bool.random(using: &generator) {
                (time, uptime) = (time + Int64.random(in: 0...2000, using: &generator), 0)
            }
            left = 18
            while left > 0 {
                let step = Int64.random(in: 0...5, using: &generator)
                (time, uptime, left) = (time + step, uptime + step, left - max(1, step))
                if Int.random(in: 0..<6, using: &generator) == 0 { uptime = 0 }
                let wrong = Int64.random(in: -3000...3000, using: &generator)
                let shown = try await trusted(history, clock: time + wrong, uptime: uptime)
                #expect(shown ?? 0 <= time, "seed \(seed)")
            }
        }
    }
}
