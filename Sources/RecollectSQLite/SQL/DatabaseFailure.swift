import GRDB
import RecollectCore

extension RecollectError {
    /// Creates the error for a failure of SQLite, with a code for each kind. It contains neither SQL nor
    /// arguments.
    package init(_ error: DatabaseError, store: String) {
        let (code, advice): (Code, String) =
            switch error.resultCode {
            // SQLite also reports this if there is no space for the log's index, 32 KB beside the database.
            case _ where error.hasNoSpace:
                (.diskFull, "no space is left; nothing was saved; free some space and try again")
            case .SQLITE_READONLY: (.readOnly, "the store cannot be written; check its permissions and its file system")
            case .SQLITE_PERM, .SQLITE_AUTH: (.permissionDenied, "check the permissions of the folder and its files")
            case .SQLITE_CANTOPEN: (.cannotOpen, "check that the folder exists and is writable")
            // SQLite returns SQLITE_PROTOCOL after ten seconds of attempts to read the log's index beside a writer.
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
                (.busy, "another process has locked the store; try again")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: (.damaged, "the database is damaged")
            case .SQLITE_TOOBIG: (.tooLarge, "a message is larger than the maximum of SQLite (1 GB)")
            case .SQLITE_NOMEM: (.outOfMemory, "there is not enough memory; nothing was saved")
            case .SQLITE_IOERR: (.inputOutput, "reading or writing failed; check the disk")
            default:
                (
                    .inputOutput,
                    "SQLite failed; if no other program changed this database, this is a bug in Recollect: please report it"
                )
            }
        let detail = error.message.map { ": \($0)" } ?? ""
        self.init(code, "\(store): \(advice) [\(error.extendedResultCode)\(detail)]")
    }
}

extension DatabaseError {
    /// The error for a damaged schema.
    static let damagedSchema = DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the schema is damaged")

    /// The error for an index entry pointing to a wrong row.
    static let damagedIndex = DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an index is damaged")

    /// Whether the disk is full.
    var hasNoSpace: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE }
}

extension Error {
    /// Whether SQLite reports an inconsistent search index. It can be rebuilt at any time; the database itself is
    /// intact.
    var isIndexDamage: Bool {
        guard let error = self as? DatabaseError else { return false }
        // FTS5 has no result code for a damaged row of its settings.
        return error.extendedResultCode == .SQLITE_CORRUPT_VTAB
            || error.resultCode == .SQLITE_ERROR && error.message?.contains("invalid fts5 file format") == true
    }

    /// Whether SQLite reports damaged or unreadable bytes of the database.
    var isCorruption: Bool {
        guard let error = self as? DatabaseError, !isIndexDamage else { return false }
        return error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB || isUnreadable
    }

    /// Whether SQLite gave up reading the log's index after ten seconds of attempts beside a writer.
    var isContendedIndex: Bool { (self as? DatabaseError)?.resultCode == .SQLITE_PROTOCOL }

    /// Whether SQLite rejects a statement. All statements fit the schema, so the schema may be damaged.
    var isRefusal: Bool { (self as? DatabaseError)?.resultCode == .SQLITE_ERROR }

    /// Whether bytes of the database or the log cannot be read. SQLite reports some of these failures as
    /// corruption instead.
    var isUnreadable: Bool {
        guard let error = self as? DatabaseError else { return false }
        return [.SQLITE_IOERR_READ, .SQLITE_IOERR_CORRUPTFS].contains(error.extendedResultCode)
    }

    /// Whether the connection must not be used again. After a failed sync the content of the disk is unknown until
    /// it is read again.
    var spoilsConnection: Bool {
        guard let error = self as? DatabaseError else { return false }
        return error.resultCode == .SQLITE_IOERR || isCorruption
    }
}
