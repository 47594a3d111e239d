import Foundation
import GRDB
import RecollectCore

/// Deletes what is too old, in bites, each a write of its own.
///
/// An index of timestamps would make every save pay. Instead messages are taken by their numbers, in blocks: of each whole block
/// the oldest timestamp is remembered, so that a block is read once, and again only when something in it is too old. Editing a
/// message so that it becomes older than its block is noticed when the block is read the next time.
struct Expiry {
    let database: HistoryDatabase

    /// How many numbers a block has.
    private static let blockSize: Int64 = 4096
    /// How many messages are deleted in a bite.
    private static let bite = 64

    /// Under `retention: .days`: deletes older messages and discarded conversations, by the trusted time (`ClockWatch`). Returns
    /// how many messages were deleted.
    @discardableResult
    func deleteOlder(thanDays days: Int, now: Date, uptime: Int64) async throws -> Int {
        let now = now.millisecondsSince1970
        guard let time = try await database.write({ try ClockWatch.trustedTime(now: now, uptime: uptime, $0) }) else {
            return 0
        }
        let moment = time - 86_400_000 * Int64(days)
        _ = try await deleteDiscarded(before: moment)
        return try await deleteOlder(than: moment)
    }

    /// Deletes conversations that were discarded before a moment; returns how many there were.
    func deleteDiscarded(before moment: Int64) async throws -> Int {
        var total = 0
        // A conversation at a time, with its branches, which may have been discarded too.
        while try await database.write({ try MessageDeletion.deleteDiscarded(before: moment, $0) }) { total += 1 }
        return total
    }

    /// Deletes messages whose timestamp is before a moment; returns how many there were.
    func deleteOlder(than moment: Int64) async throws -> Int {
        while try await database.write({ try Self.learn($0) }) {}
        var total = 0
        while let count = try await database.write({ try Self.delete(before: moment, $0) }) { total += count }
        return total
    }

    /// Remembers the age of the next blocks that are whole; returns whether there are more.
    private static func learn(_ db: Database) throws -> Bool {
        let last = try db.integer("SELECT max(sequence) FROM message") ?? 0
        let end = ContinuousClock.now + .milliseconds(20)
        var block = try firstUnknown(db)
        while (block + 1) * blockSize <= last {
            if ContinuousClock.now >= end { return true }
            try remember(block, db)
            block += 1
        }
        return false
    }

    private static func firstUnknown(_ db: Database) throws -> Int64 {
        (try db.integer("SELECT max(block) FROM message_age") ?? -1) + 1
    }

    private static func remember(_ block: Int64, _ db: Database) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO message_age (block, oldest)
            SELECT ?, min(timestamp) FROM message WHERE sequence >= ? AND sequence < ?
            """, block, block * blockSize, (block + 1) * blockSize)
    }

    /// Deletes some messages of the first block that has any too old; `nil` when none has.
    private static func delete(before moment: Int64, _ db: Database) throws -> Int? {
        let unknown = try firstUnknown(db)
        let block = try db.integer("SELECT block FROM message_age WHERE oldest < ? ORDER BY block LIMIT 1", moment)
        // What no block remembers is at the end and less than a block.
        let first = (block ?? unknown) * blockSize
        let count = try MessageDeletion.deleteOlder(
            than: moment, from: first, to: block == nil ? .max : first + blockSize, limit: bite, db)
        if let block, count < bite { try remember(block, db) }
        return block == nil && count < bite ? (count > 0 ? count : nil) : count
    }
}
