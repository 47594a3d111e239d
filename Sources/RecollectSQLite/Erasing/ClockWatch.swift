import Foundation
import GRDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Whether the clock can be trusted with deleting what it says is old.
///
/// A clock that is a day ahead of what it last showed, plus the time that has passed since, has jumped or the device was off.
/// Nothing is deleted until it has stood for a day.
enum ClockWatch {
    private static let day: Int64 = 86_400_000

    /// How long the system has been up, sleep included, in milliseconds.
    static var uptime: Int64 {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Notes what the clock shows and tells whether it can be trusted. In a write transaction.
    /// - Parameters:
    ///   - now: what the clock shows, in milliseconds since 1970.
    ///   - uptime: how long the system has been up, in milliseconds.
    static func isTrusted(now: Int64, uptime: Int64, _ db: Database) throws -> Bool {
        let row = try db.sql("SELECT seen, uptime, jumped_at FROM clock")
        defer { row.reset() }
        guard try row.step() else {
            // Nothing is known of a new history, and there is nothing in it that the clock could have jumped over.
            try set(now: now, uptime: uptime, jumpedAt: nil, db)
            return true
        }
        let (seen, seenUptime) = (row.integer(0), row.integer(1))
        var jumpedAt = row.optionalInteger(2)
        let hasRestarted = uptime < seenUptime
        let passed = hasRestarted ? uptime : uptime - seenUptime
        if now > seen + passed + day {
            // Across a restart nobody knows how long the device was off, so a jump does not begin the day anew.
            if !hasRestarted || jumpedAt == nil { jumpedAt = now }
        }
        // The clock was set back.
        if let jump = jumpedAt, now < jump { jumpedAt = nil }
        if let jump = jumpedAt, now - jump >= day { jumpedAt = nil }
        row.reset()
        try set(now: now, uptime: uptime, jumpedAt: jumpedAt, db)
        return jumpedAt == nil
    }

    private static func set(now: Int64, uptime: Int64, jumpedAt: Int64?, _ db: Database) throws {
        try db.run(
            "INSERT OR REPLACE INTO clock (id, seen, uptime, jumped_at) VALUES (1, ?, ?, ?)", now, uptime, jumpedAt)
    }
}
