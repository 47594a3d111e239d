import Foundation
import GRDB
import RecollectCore

/// Deletes expired messages and sessions in small steps, each in a write of its own.
///
/// An index of timestamps would slow down every save. Instead, messages are grouped into blocks by sequence number,
/// and the oldest timestamp of each complete block is stored. So a block is read once, and again only if it has an
/// expired message. An edit to a timestamp older than the block's takes effect at the next read of the block.
struct Expiry {
    let database: HistoryDatabase

    /// The number of sequence numbers in a block.
    private static let blockSize: Int64 = 4096
    /// The maximum number of messages deleted in a step.
    private static let stepSize = 64

    /// With `retention: .days`, deletes older messages and discarded sessions, by the trusted time (`ClockWatch`).
    /// Returns the number of deleted messages.
    @discardableResult
    func deleteOlder(thanDays days: Int, now: Date, uptime: Int64) async throws -> Int {
        let now = now.millisecondsSince1970
        guard let time = try await database.write({ try ClockWatch.trustedTime(now: now, uptime: uptime, $0) }) else {
            return 0
        }
        let cutoff = time - 86_400_000 * Int64(days)
        _ = try await deleteDiscarded(before: cutoff)
        return try await deleteOlder(than: cutoff)
    }

    /// Deletes sessions discarded before a date. Returns their number.
    func deleteDiscarded(before cutoff: Int64) async throws -> Int {
        var total = 0
        // One session at a time, with its branches: these may have been discarded too.
        while try await database.write({ try MessageDeletion.deleteDiscarded(before: cutoff, $0) }) { total += 1 }
        return total
    }

    /// Deletes messages with timestamps before a date. Returns their number.
    func deleteOlder(than cutoff: Int64) async throws -> Int {
        while try await database.write({ try Self.loadAges($0) }) {}
        var total = 0
        while let count = try await database.write({ try Self.delete(before: cutoff, $0) }) { total += count }
        return total
    }

    /// Stores the ages of the next complete blocks. Returns whether there are more.
    private static func loadAges(_ db: Database) throws -> Bool {
        let last = try db.integer("SELECT max(sequence) FROM message") ?? 0
        let end = ContinuousClock.now + .milliseconds(20)
        var block = try firstUnknownBlock(db)
        while (block + 1) * blockSize <= last {
            if ContinuousClock.now >= end { return true }
            try remember(block, db)
            block += 1
        }
        return false
    }

    private static func firstUnknownBlock(_ db: Database) throws -> Int64 {
        (try db.integer("SELECT max(block) FROM message_age") ?? -1) + 1
    }

    private static func remember(_ block: Int64, _ db: Database) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO message_age (block, oldest)
            SELECT ?, min(timestamp) FROM message WHERE sequence >= ? AND sequence < ?
            """, block, block * blockSize, (block + 1) * blockSize)
    }

    /// Deletes some messages of the first block with expired ones. Returns `nil` if there are none.
    private static func delete(before cutoff: Int64, _ db: Database) throws -> Int? {
        let unknown = try firstUnknownBlock(db)
        let block = try db.integer("SELECT block FROM message_age WHERE oldest < ? ORDER BY block LIMIT 1", cutoff)
        // Messages in no stored block are at the end, and fewer than a block.
        let first = (block ?? unknown) * blockSize
        let count = try MessageDeletion.deleteOlder(
            than: cutoff, from: SequenceNumber(rawValue: first),
            to: SequenceNumber(rawValue: block == nil ? .max : first + blockSize), limit: stepSize, db)
        if let block, count < stepSize { try remember(block, db) }
        return block == nil && count < stepSize ? (count > 0 ? count : nil) : count
    }
}
