import Foundation
import GRDB
import RecollectCore

/// Opens a history that cannot be written: on a read-only disk, in a backup or a snapshot, in a folder of another user, on a full
/// disk. Everything can be read; search finds what was indexed. Nothing beside the database is made or changed. Commits behind a damaged
/// place of the log cannot be shown, which is told.
struct ReadOnlyOpening {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    let events: StoreEvents
    /// Why it cannot be written; thrown where it cannot be read either.
    let cause: RecollectError

    func open() throws -> HistoryDatabase {
        guard let header = try? DatabaseHeader.read(files.database), Schema.isOurs(header) else { throw cause }
        // A log that cannot be read hides what it holds, too.
        if (try? files.endOfLog(configuration.durability)) ?? .hiddenCommits == .hiddenCommits {
            events.post(StoreEvent(kind: .hiddenMessages))
        }
        if let database = try? openShared() { return database }
        // Another process may write at this moment.
        for _ in 0..<3 {
            if let database = try? openUnlocked() { return database }
        }
        throw cause
    }

    /// Opens the database through the log's index of another process.
    private func openShared() throws -> HistoryDatabase {
        guard HistoryCheck.size(of: files.sharedMemory) >= LogIndex.regionSize else { throw cause }
        return try open(files.database) { [database = files.database] in try $0.allocateLogIndex(beside: database) }
    }

    /// Opens the files without locks. Each read checks for changes by other processes.
    ///
    /// A database without a log is complete. With a log, SQLite keeps the log's index in the process's memory: this takes exclusive
    /// locking, and thus a VFS without locks, on a read-only disk and for several readers.
    private func openUnlocked() throws -> HistoryDatabase {
        let unlocked = try UnlockedFiles(files)
        if HistoryCheck.size(of: files.writeAheadLog) == 0 {
            return try open(DatabaseCopy.uri(files.database, "immutable=1"), unlocked: unlocked)
        }
        return try open(DatabaseCopy.uri(files.database, "vfs=unix-none"), unlocked: unlocked) {
            try $0.run("PRAGMA locking_mode = EXCLUSIVE")
        }
    }

    /// - Parameters:
    ///   - path: A path, or a URI for SQLite.
    ///   - unlocked: The files, where the connections take no locks.
    ///   - begin: Called before a connection's first look at the database.
    private func open(
        _ path: String, unlocked: UnlockedFiles? = nil,
        begin: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> HistoryDatabase {
        let connect: @Sendable () throws -> DatabaseQueue = { [configuration] in
            var reading = HistoryOpening.connections(configuration, begin: begin)
            reading.readonly = true
            return try DatabaseQueue(path: path, configuration: reading)
        }
        let connection = try connect()
        let look = {
            try connection.inDatabase { db in
                guard let state = try OpeningState(db), Schema.isCurrent(state) else { return false }
                return try state.hasKeptSchema || HistoryCheck.isWhole(db)
            }
        }
        guard try unlocked?.reading(look) ?? look() else { throw cause }
        return HistoryDatabase(
            configuration: configuration, writer: connection, cannotWrite: cause, unlocked: unlocked,
            openReader: connect)
    }
}

extension RecollectError {
    /// Whether reading may still be possible.
    fileprivate static let preventWriting: Set<Code> = [.readOnly, .permissionDenied, .diskFull]

    var preventsWriting: Bool { Self.preventWriting.contains(code) }
}

extension DatabaseError {
    /// Whether reading may still be possible: the log's index could not be made or grown, for instance.
    var preventsWriting: Bool {
        hasNoSpace || [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(resultCode)
            || [.SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMMAP].contains(extendedResultCode)
    }
}
