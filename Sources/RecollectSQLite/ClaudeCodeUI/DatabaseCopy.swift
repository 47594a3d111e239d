import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// A copy of another program's SQLite database as it stood at one moment, in a folder that goes with the last reference to it; what a
/// killed process left goes with the next copy.
///
/// The other program may go on writing meanwhile: SQLite's backup reads under its locks, and reads its log. All calls block.
final class DatabaseCopy: Sendable {
    private let folder: String
    /// Locked as long as the copy is used. Only held: nobody calls it, from whatever thread.
    private nonisolated(unsafe) let lock: OpenFile
    /// Where the copy lies.
    let path: String
    /// The database's size in bytes.
    let byteCount: Int64

    /// Copies a database.
    init(of original: String) throws {
        Self.removeLeftovers()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(Self.prefix + UUID().uuidString)
            .path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            lock = try OpenFolder(path: folder).makeFile(Self.lockName)
            _ = try lock.lockIfFree()
            let path = folder + "/copy.sqlite"
            try Self.copy(original, to: path, in: folder)
            byteCount = Int64(HistoryCheck.size(of: path))
            self.path = path
            self.folder = folder
        } catch {
            // What failed is told; an empty folder among the temporary ones is the system's to remove.
            try? FileManager.default.removeItem(atPath: folder)
            if let error = error as? DatabaseError { throw RecollectError(error, store: original) }
            guard let error = error as? RecollectError else {
                throw RecollectError(.cannotOpen, "\(original) could not be copied to read it", cause: error)
            }
            throw error
        }
    }

    private static let prefix = "recollect-copy-"
    private static let lockName = "lock"

    /// Removes the copies of processes that have ended: those of this user with a lock that nobody holds. One that was made in the
    /// last minute may not have its lock yet.
    private static func removeLeftovers() {
        let temporary = FileManager.default.temporaryDirectory
        // What cannot be looked at or removed is the system's to remove.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: temporary.path)) ?? []
        where name.hasPrefix(prefix) {
            let path = temporary.appendingPathComponent(name).path
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == getuid(),
                let folder = try? OpenFolder(path: path), let entry = try? folder.entry(lockName),
                Date().timeIntervalSince(entry.modified) > 60,
                let lock = try? folder.file(lockName, forWriting: true), (try? lock.lockIfFree()) == true
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    deinit {
        // As above.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A connection to the copy.
    func open() throws -> ForeignDatabase {
        try ForeignDatabase(uri: Self.uri(path, "mode=rw"), isReadOnly: false)
    }

    /// Whether a regular file begins as SQLite databases do.
    static func isDatabase(_ path: String) -> Bool {
        header(of: path).map(DatabaseHeader.isDatabase) ?? false
    }

    /// The beginning of a database; `nil` where there is none.
    private static func header(of path: String) -> [UInt8]? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let header = try? DatabaseHeader.read(path), header.count == DatabaseHeader.size
        else { return nil }
        return header
    }

    private static func copy(_ original: String, to path: String, in folder: String) throws {
        let isLogged = header(of: original)?[18] == 2
        let (hasLog, hasIndex) = (exists(original + "-wal"), exists(original + "-shm"))
        // A database with a log is open somewhere if its index is there too. A log alone was left by a crash, and no log at all
        // means that nobody has it open: both are read without the files that a connection would make beside the original.
        if isLogged, hasLog, !hasIndex {
            return try copyFiles(original, to: path, in: folder)
        }
        do {
            let source = try ForeignDatabase(
                uri: uri(original, isLogged && !hasLog ? "mode=ro&immutable=1" : "mode=ro"), isReadOnly: true)
            try source.backUp(to: path)
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_READONLY || error.resultCode == .SQLITE_CANTOPEN
        {
            // A crash left a journal that only a writer can roll back: that happens in the copy.
            try copyFiles(original, to: path, in: folder)
        }
    }

    private static func copyFiles(_ original: String, to path: String, in folder: String) throws {
        let files = folder + "/files.sqlite"
        for suffix in ["", "-wal", "-journal"] where suffix.isEmpty || exists(original + suffix) {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: files + suffix)
        }
        try ForeignDatabase(uri: uri(files, "mode=rw"), isReadOnly: false).backUp(to: path)
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_size > 0
    }

    /// A URI of a file with parameters for SQLite.
    static func uri(_ path: String, _ parameters: String) -> String {
        let escaped = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
        return "file:\(escaped)?\(parameters)"
    }
}
