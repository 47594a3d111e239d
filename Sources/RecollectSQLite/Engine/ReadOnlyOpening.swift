import Foundation
import GRDB
import RecollectCore

/// Opens a history that cannot be written: on a read-only disk, in a backup or a snapshot, in a folder of another user, on a full
/// disk. Everything can be read; search finds what was indexed. Nothing beside the database is made or changed.
struct ReadOnlyOpening {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    /// Why it cannot be written; thrown where it cannot be read either.
    let cause: RecollectError

    func open() throws -> HistoryDatabase {
        guard let header = try? DatabaseHeader.read(files.database), Schema.isOurs(header) else { throw cause }
        for path in [plain, immutable] {
            if let path, let database = try? open(path) { return database }
        }
        // The log can be read only through an index, which must be made: beside a copy.
        guard let copy = try? DatabaseCopy(of: files.database) else { throw cause }
        // The connection holds the file: its name goes at once, and so no process that ends leaves a copy.
        return try withExtendedLifetime(copy) {
            try open(DatabaseCopy.uri(copy.path, "immutable=1"), opensReaders: false)
        }
    }

    /// SQLite reads the log where its index is there already, of a process that has the history open.
    private var plain: String? {
        HistoryCheck.size(of: files.sharedMemory) > 0 ? files.database : nil
    }

    /// A database without a log is complete.
    private var immutable: String? {
        HistoryCheck.size(of: files.writeAheadLog) == 0 ? DatabaseCopy.uri(files.database, "immutable=1") : nil
    }

    /// - Parameters:
    ///   - path: A path, or a URI for SQLite.
    ///   - opensReaders: Whether further connections may be opened by the path.
    private func open(_ path: String, opensReaders: Bool = true) throws -> HistoryDatabase {
        let connect: @Sendable () throws -> DatabaseQueue = { [configuration] in
            var reading = HistoryOpening.connections(configuration)
            reading.readonly = true
            return try DatabaseQueue(path: path, configuration: reading)
        }
        let connection = try connect()
        try connection.inDatabase { db in
            guard let state = try OpeningState(db), Schema.isCurrent(state) else { throw cause }
        }
        return HistoryDatabase(
            files: nil, configuration: configuration, writer: connection, lock: nil, cannotWrite: cause,
            openReader: opensReaders ? connect : nil)
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
