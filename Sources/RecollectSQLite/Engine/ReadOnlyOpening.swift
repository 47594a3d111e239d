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
        for source in [plain, immutable] {
            if let source, let database = try? open(source) { return database }
        }
        // The log can be read only through an index, which must be made: beside a copy.
        guard let copy = try? DatabaseCopy(of: files.database) else { throw cause }
        return try open(Source(path: copy.path, owner: copy))
    }

    /// A path or URI for SQLite, and what must live as long as it is used.
    private struct Source: Sendable {
        let path: String
        var owner: DatabaseCopy?
    }

    /// SQLite reads the log where its index is there already, of a process that has the history open.
    private var plain: Source? {
        HistoryCheck.size(of: files.sharedMemory) > 0 ? Source(path: files.database) : nil
    }

    /// A database without a log is complete.
    private var immutable: Source? {
        HistoryCheck.size(of: files.writeAheadLog) == 0
            ? Source(path: DatabaseCopy.uri(files.database, "immutable=1")) : nil
    }

    private func open(_ source: Source) throws -> HistoryDatabase {
        let connect: @Sendable () throws -> DatabaseQueue = { [configuration] in
            var reading = HistoryOpening.connections(configuration)
            reading.readonly = true
            return try withExtendedLifetime(source.owner) {
                try DatabaseQueue(path: source.path, configuration: reading)
            }
        }
        let connection = try connect()
        try connection.inDatabase { db in
            guard let state = try OpeningState(db), Schema.isCurrent(state) else { throw cause }
        }
        return HistoryDatabase(
            files: nil, configuration: configuration, writer: connection, lock: nil, cannotWrite: cause,
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
