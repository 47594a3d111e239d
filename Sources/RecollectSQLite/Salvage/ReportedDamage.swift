import Foundation
import GRDB
import RecollectCore

/// Damage reported by SQLite while a database was in use.
///
/// SQLite reports some failed reads and writes as corruption, several times in a row on a failing disk. Those are
/// temporary; damage is permanent. So a salvage asks SQLite once more, on a new connection, before it renames
/// anything.
///
/// Use it under the process lock, while this process has no other connection to the database.
struct ReportedDamage {
    let files: HistoryFiles
    let configuration: HistoryConfiguration

    /// The number of checks, and the pause between them in microseconds: a disk may still be failing.
    private static let checks = 3
    private static let pause: UInt32 = 100_000

    /// Confirms the damage.
    /// - Throws: `inputOutput` if a check of the whole database finds no damage, or cannot read it.
    func confirm() throws {
        for number in 1...Self.checks {
            if number > 1 { usleep(Self.pause) }
            guard try isWhole() else { continue }
            throw RecollectError(
                .inputOutput,
                "\(files.database): SQLite reported damage, but the database is intact; nothing was changed; check the disk "
                    + "and try again")
        }
    }

    private func isWhole() throws -> Bool {
        var reading = configuration.connections()
        reading.readonly = true
        do {
            let queue = try DatabaseQueue(path: files.database, configuration: reading)
            // The result is known by then.
            defer { try? queue.close() }
            return try queue.inDatabase(Integrity.isWhole)
        } catch let error as DatabaseError where !error.isCorruption {
            throw RecollectError(error, store: files.directory.path)
        } catch  where error.isCorruption {
            return false
        }
    }
}
