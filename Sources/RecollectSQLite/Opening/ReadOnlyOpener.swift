import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

/// Opens a history without write access: on a read-only disk, in a backup or a snapshot, in a folder of another
/// user, or on a full disk. Everything can be read, and search finds the indexed messages. No file beside the
/// database is created or changed. Commits after damage in the log cannot be shown, and the event `hiddenMessages`
/// is posted.
struct ReadOnlyOpener {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    let events: StoreEvents
    /// The reason for the missing write access. Thrown if the database cannot be read either.
    let cause: RecollectError

    func open() throws -> HistoryDatabase {
        guard let header = try? DatabaseHeader.read(files.database), Schema.isOurs(header) else { throw cause }
        // An unreadable log also hides its messages.
        if (try? files.endOfLog(configuration.durability)) ?? .hiddenCommits == .hiddenCommits {
            events.post(StoreEvent(kind: .hiddenMessages))
        }
        if let database = try? openShared() { return database }
        // Another process may be writing.
        for _ in 0..<3 {
            if let database = try? openUnlocked() { return database }
        }
        throw cause
    }

    /// Opens the database through the log index of another process.
    private func openShared() throws -> HistoryDatabase {
        guard OpenFile.size(at: files.sharedMemory) >= LogIndex.regionSize else { throw cause }
        return try open(files.database) { [database = files.database] in try $0.allocateLogIndex(beside: database) }
    }

    /// Opens the files without locks. Each read checks for changes by other processes.
    ///
    /// A database without a log is complete. With a log, SQLite keeps the log index in the process's memory. On a
    /// read-only disk and for several readers, this requires exclusive locking, and thus a VFS without locks.
    private func openUnlocked() throws -> HistoryDatabase {
        let unlocked = try UnlockedFiles(files)
        if OpenFile.size(at: files.writeAheadLog) == 0 {
            return try open(DatabaseURI.text(of: files.database, "immutable=1"), unlocked: unlocked)
        }
        return try open(DatabaseURI.text(of: files.database, "vfs=unix-none"), unlocked: unlocked) {
            try $0.run("PRAGMA locking_mode = EXCLUSIVE")
        }
    }

    /// Opens the database read-only.
    /// - Parameters:
    ///   - path: A path, or a URI for SQLite.
    ///   - unlocked: The files, if the connections take no locks.
    ///   - begin: Called before a connection's first access to the database.
    private func open(
        _ path: String, unlocked: UnlockedFiles? = nil,
        begin: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) throws -> HistoryDatabase {
        let connect: @Sendable () throws -> DatabaseQueue = { [configuration] in
            var reading = configuration.connections(begin: begin)
            reading.readonly = true
            return try DatabaseQueue(path: path, configuration: reading)
        }
        let connection = try connect()
        let isReadable = {
            try connection.inDatabase { db in
                guard let state = try OpeningState(db), Schema.isCurrent(state) else { return false }
                return try state.matchesStoredSchema || Integrity.isWhole(db)
            }
        }
        guard try unlocked?.reading(isReadable) ?? isReadable() else { throw cause }
        return HistoryDatabase(
            configuration: configuration, writer: connection, cannotWrite: cause, unlocked: unlocked,
            openReader: connect)
    }
}

extension RecollectError {
    /// The codes of errors after which reading may still be possible.
    fileprivate static let preventWriting: Set<Code> = [.readOnly, .permissionDenied, .diskFull]

    var preventsWriting: Bool { Self.preventWriting.contains(code) }
}

extension DatabaseError {
    /// Whether reading may still be possible: for instance, the log index could not be created or extended.
    var preventsWriting: Bool {
        hasNoSpace || [.SQLITE_READONLY, .SQLITE_CANTOPEN].contains(resultCode)
            || [.SQLITE_IOERR_SHMOPEN, .SQLITE_IOERR_SHMMAP].contains(extendedResultCode)
    }
}
