import Foundation
import GRDB
import RecollectCore

/// Opens a history that cannot be written: on a read-only disk, in a backup or a snapshot, in a folder of another user, on a full
/// disk. Everything can be read; search finds what was indexed. Nothing beside the database is made or changed.
///
/// Other processes may write meanwhile. Where SQLite reads through the log's index, its locks keep a read in one state, and a
/// `FileGuard` detects replaced files. An immutable file and a copy are read without locks: a `FileWatch` detects any write.
struct ReadOnlyOpening {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    /// Why it cannot be written; thrown where it cannot be read either.
    let cause: RecollectError

    func open() throws -> HistoryDatabase {
        for _ in 0..<10 {
            guard let header = try? DatabaseHeader.read(files.database), Schema.isOurs(header) else { throw cause }
            if let plain, let database = try? open(plain, nil) { return database }
            let watch = FileWatch(files)
            do {
                return try openWithoutLocks(watch)
            } catch {
                // What was read while another process wrote says nothing.
                if watch.filesAreUnchanged { throw error }
            }
        }
        throw cause
    }

    private func openWithoutLocks(_ watch: FileWatch) throws -> HistoryDatabase {
        if let immutable, let database = try? open(immutable, watch) { return database }
        // The log can be read only through an index, which must be made: beside a copy.
        guard let copy = try? DatabaseCopy(of: files.database) else { throw cause }
        // The connection holds the file: its name goes at once, and so no process that ends leaves a copy.
        return try withExtendedLifetime(copy) {
            try open(DatabaseCopy.uri(copy.path, "immutable=1"), watch, opensReaders: false)
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
    ///   - watch: Detects writes; `nil` where SQLite's locks do.
    ///   - opensReaders: Whether further connections may be opened by the path.
    private func open(_ path: String, _ watch: FileWatch?, opensReaders: Bool = true) throws -> HistoryDatabase {
        let guardian = watch == nil ? FileGuard(files: files) : nil
        let connect: @Sendable () throws -> DatabaseQueue = { [configuration] in
            var reading = HistoryOpening.connections(configuration)
            reading.readonly = true
            return try DatabaseQueue(path: path, configuration: reading)
        }
        let connection = try connect()
        try connection.inDatabase { db in
            guard let state = try OpeningState(db), Schema.isCurrent(state) else { throw cause }
        }
        let openReader: @Sendable () throws -> DatabaseQueue = {
            do {
                return try connect()
            } catch {
                // A file that another process writes to may fail to open.
                try watch?.check()
                throw error
            }
        }
        return HistoryDatabase(
            files: nil, configuration: configuration, writer: connection, lock: nil, cannotWrite: cause,
            guardian: guardian, watch: watch, openReader: opensReaders ? openReader : nil)
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
