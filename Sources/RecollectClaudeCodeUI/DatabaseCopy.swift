import Foundation
import GRDB
import GRDBSQLite
import RecollectCore
import RecollectFileSystem
import RecollectSQLite

/// A snapshot of another program's SQLite database, in a temporary folder. The folder is removed with the last
/// reference. Creating a copy also removes leftovers of killed processes.
///
/// The other program may write meanwhile. SQLite's backup reads under its locks, and reads its write-ahead log. A copy
/// made without locks is made again if the files changed meanwhile. All calls block.
final class DatabaseCopy: Sendable {
    private let folder: String
    /// Locked for the life of the copy. `nonisolated(unsafe)` is safe because its methods are not called after
    /// `init`.
    private nonisolated(unsafe) let lock: OpenFile
    /// The path of the copy.
    let path: String
    /// The database's size in bytes.
    let byteCount: Int64

    /// Creates a copy of a database.
    init(of original: String) throws {
        Self.removeLeftovers()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            Self.prefix + UUID.random().uuidString
        )
        .path
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            lock = try OpenFolder(path: folder).makeFile(Self.lockName)
            _ = try lock.lockIfFree()
            let path = folder + "/copy.sqlite"
            try Self.copy(original, to: path, in: folder)
            byteCount = Int64(OpenFile.size(at: path))
            self.path = path
            self.folder = folder
        } catch {
            // The error above is thrown. The next copy or the system removes a folder left behind.
            try? FileManager.default.removeItem(atPath: folder)
            if let error = error as? DatabaseError { throw RecollectError(error, store: original) }
            guard let error = error as? RecollectError else {
                throw RecollectError(.cannotOpen, "\(original) could not be copied for reading", cause: error)
            }
            throw error
        }
    }

    private static let prefix = "recollect-copy-"
    private static let lockName = "lock"

    /// Removes the copies of ended processes: this user's folders with a free lock. A lock file younger than a
    /// minute is skipped, because its process may not have locked it yet.
    private static func removeLeftovers() {
        let temporary = FileManager.default.temporaryDirectory
        // The system removes folders left behind by an error here.
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
        // The next copy or the system removes a folder left behind.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Opens a connection to the copy.
    func open() throws -> ForeignDatabase {
        try ForeignDatabase(uri: DatabaseURI.text(of: path, "mode=rw"), isReadOnly: false)
    }

    /// Whether a path is a regular file with the header of an SQLite database.
    static func isDatabase(_ path: String) -> Bool {
        header(of: path).map(DatabaseHeader.isDatabase) ?? false
    }

    /// Returns the header of a database file, or `nil` if there is none.
    private static func header(of path: String) -> [UInt8]? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let header = try? DatabaseHeader.read(path), header.count == DatabaseHeader.size
        else { return nil }
        return header
    }

    /// Copies a database. A copy made without locks may be in parts of different states, and is not used if a file
    /// changed meanwhile.
    private static func copy(_ original: String, to path: String, in folder: String) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        repeat {
            if try isUnchanged(original, during: { try copyOnce(original, to: path, in: folder) }) { return }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name != lockName {
                try FileManager.default.removeItem(atPath: folder + "/" + name)
            }
        } while ContinuousClock.now < deadline
        throw RecollectError(
            .busy, "\(original) kept changing while it was being copied; close the program using it, and try again")
    }

    /// Runs a copy, and returns whether it is consistent: made under locks, or from files without changes meanwhile.
    /// - Parameter copy: The copy. Returns whether it was made under locks. Its error is thrown unless a file changed.
    static func isUnchanged(_ original: String, during copy: () throws -> Bool) throws -> Bool {
        func stamps() -> [FileStamp?] { ["", "-wal", "-journal"].map { FileStamp(at: original + $0) } }
        let before = stamps()
        // After a tick of the file system's clock, about 10 ms, a change has a later date. With dates in whole seconds
        // (FAT), a change in the same second may be missed.
        usleep(20_000)
        let result = Result { try copy() }
        if stamps() == before {
            _ = try result.get()
            return true
        }
        // An error may be due to the change: the next attempt throws it, if not.
        return (try? result.get()) ?? false
    }

    /// Copies a database once; returns whether it was read under locks.
    private static func copyOnce(_ original: String, to path: String, in folder: String) throws -> Bool {
        let isLogged = header(of: original)?[18] == 2
        let (hasLog, hasIndex) = (exists(original + "-wal"), exists(original + "-shm"))
        // A write-ahead log with an index means an open database. A log alone was left by a crash. Without a log,
        // no program has the database open. The last two cases are read without a normal connection, because it
        // would create files beside the original.
        if isLogged, hasLog, !hasIndex {
            try copyFiles(original, to: path, in: folder)
            return false
        }
        let isClosed = isLogged && !hasLog
        do {
            let source = try ForeignDatabase(
                uri: DatabaseURI.text(of: original, isClosed ? "mode=ro&immutable=1" : "mode=ro"),
                isReadOnly: true)
            try source.backUp(to: path)
            return !isClosed
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_READONLY || error.resultCode == .SQLITE_CANTOPEN
        {
            // A crash left a journal, and only a writer can roll it back. This happens in the copy.
            try copyFiles(original, to: path, in: folder)
            return false
        }
    }

    private static func copyFiles(_ original: String, to path: String, in folder: String) throws {
        let files = folder + "/files.sqlite"
        for suffix in ["", "-wal", "-journal"] where suffix.isEmpty || exists(original + suffix) {
            try FileManager.default.copyItem(atPath: original + suffix, toPath: files + suffix)
        }
        try ForeignDatabase(uri: DatabaseURI.text(of: files, "mode=rw"), isReadOnly: false).backUp(to: path)
    }

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_size > 0
    }
}
