import Foundation
import GRDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The time by which `retention: .days` judges age.
///
/// A clock can be wrong, and a deletion cannot be undone. So the trusted time goes on with the system's uptime and never faster, however
/// often the clock is looked at: small jumps do not add up. A clock more than a day ahead of it must first stand for a day of
/// uptime, without deletions. A second jump starts the day anew.
///
/// - The first clock of a history must stand for a day too. The messages' own times are no proof: they may be of the same
///   wrong clock.
/// - A restart begins the uptime anew, and how long the device was off is unknown. If that was more than a day, the clock must stand for
///   a day again: after 100 days without an opening, old messages go a day of uptime later. After a restart, a jump
///   cannot be told from being off. So the day goes on, but only for the clock's first time: any later advance must
///   stand for a day of its own.
/// - The uptime is one machine's, so this is no guard for a history used by machines in turns.
/// - A trusted clock stays trusted when it is set back: fewer messages are old then.
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

    /// Notes the clock, and returns the trusted time, in milliseconds since 1970: never later than `now`. `nil` while the clock has to
    /// stand. In a write transaction.
    /// - Parameters:
    ///   - now: The clock, in milliseconds since 1970.
    ///   - uptime: How long the system has been up, in milliseconds.
    static func trustedTime(now: Int64, uptime: Int64, _ db: Database) throws -> Int64? {
        guard let last = try Note(db) else {
            try Note(time: now, uptime: uptime, jumpedAt: now).save(db)
            return nil
        }
        let hasRestarted = uptime < last.uptime
        // After a restart at least this much has passed.
        let expected = last.time + (hasRestarted ? uptime : uptime - last.uptime)
        let isAhead = now > expected + day
        var note = Note(time: min(now, expected), uptime: uptime, jumpedAt: last.jumpedAt)
        if let jumpedAt = last.jumpedAt {
            // Without a restart the waiting is shorter than the uptime.
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
        /// The trusted time, or, while the clock has to stand, the time of the jump plus the uptime since.
        var time: Int64
        var uptime: Int64
        /// The time shown by the clock when it jumped; `nil` without a jump.
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
