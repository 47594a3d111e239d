import Foundation
import GRDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The trusted time, used by `retention: .days` to compute ages.
///
/// A clock can be wrong, and a deletion cannot be undone. So the trusted time advances with the system's uptime and
/// never faster, however often the clock is read: small jumps do not add up. A clock more than a day ahead of it
/// must first persist for a day of uptime, without deletions. A second jump restarts the day.
///
/// - The first clock of a history must persist for a day too. The timestamps of messages are no proof: they may
///   come from the same wrong clock.
/// - A restart resets the uptime, and the duration of the shutdown is unknown. If it was more than a day, the clock
///   must persist for a day again: after 100 days without an opening, old messages are deleted a day of uptime
///   later. After a restart, a jump cannot be distinguished from a long shutdown. So the day continues, but only
///   for the clock's first time: any later advance requires a day of its own.
/// - The uptime belongs to one machine, so this does not protect a history used by several machines in turns.
/// - A trusted clock stays trusted when it is set back: fewer messages are expired then.
enum ClockWatch {
    private static let day: Int64 = 86_400_000

    /// The time since the start of the system, sleep included, in milliseconds.
    static var uptime: Int64 {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Records the clock and returns the trusted time, in milliseconds since 1970: never later than `now`. Returns
    /// `nil` while the clock has to persist. In a write transaction.
    /// - Parameters:
    ///   - now: The clock, in milliseconds since 1970.
    ///   - uptime: The time since the start of the system, in milliseconds.
    static func trustedTime(now: Int64, uptime: Int64, _ db: Database) throws -> Int64? {
        guard let last = try Note(db) else {
            try Note(time: now, uptime: uptime, jumpedAt: now).save(db)
            return nil
        }
        let hasRestarted = uptime < last.uptime
        // After a restart at least this much time has passed.
        let expected = last.time + (hasRestarted ? uptime : uptime - last.uptime)
        let isAhead = now > expected + day
        var note = Note(time: min(now, expected), uptime: uptime, jumpedAt: last.jumpedAt)
        if let jumpedAt = last.jumpedAt {
            // Without a restart the wait is shorter than the uptime.
            let wasOff = hasRestarted || last.time - jumpedAt >= last.uptime
            if now < jumpedAt || isAhead && !wasOff {
                note = Note(time: now, uptime: uptime, jumpedAt: now)
            } else if note.time - jumpedAt >= day {
                note.jumpedAt = nil
            }
        } else if isAhead {
            note = Note(time: now, uptime: uptime, jumpedAt: now)
        }
        try note.save(db)
        return note.jumpedAt == nil ? note.time : nil
    }

    /// The row of `clock`.
    private struct Note {
        /// The trusted time or, while the clock has to persist, the time of the jump plus the uptime since.
        var time: Int64
        var uptime: Int64
        /// The clock's time at its jump, or `nil` without a jump.
        var jumpedAt: Int64?

        init(time: Int64, uptime: Int64, jumpedAt: Int64?) {
            self.time = time
            self.uptime = uptime
            self.jumpedAt = jumpedAt
        }

        init?(_ db: Database) throws {
            let row = try db.sql("SELECT seen, uptime, jumped_at FROM clock")
            defer { row.reset() }
            guard try row.step() else { return nil }
            self.init(time: row.integer(0), uptime: row.integer(1), jumpedAt: row.optionalInteger(2))
        }

        func save(_ db: Database) throws {
            try db.run(
                "INSERT OR REPLACE INTO clock (id, seen, uptime, jumped_at) VALUES (1, ?, ?, ?)", time, uptime, jumpedAt
            )
        }
    }
}
