import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The checks before SQLite opens the files.
extension HistoryOpener {
    /// Throws an error for a foreign file under the chosen name. A file is ours, and perhaps damaged, only if our
    /// lock is beside it. Must run before the lock is created.
    /// - Throws: `foreignStore`.
    func refuseForeignFile() throws {
        guard !files.ownDirectory, !FileManager.default.fileExists(atPath: files.lock) else { return }
        var status = stat()
        guard stat(files.database, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let header = try DatabaseHeader.read(files.database)
        guard header.isEmpty || header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw RecollectError(
                .foreignStore,
                "\(files.database) is not a Recollect database; it was left unchanged; "
                    + "choose another file for the history")
        }
    }

    /// The state of the files before SQLite opens them.
    enum FileState {
        case whole
        case damaged(Salvage.Evidence)
        /// The log ends with parts of a commit: a power loss interrupted it.
        case cutCommitInLog

        var isDamaged: Bool {
            if case .damaged = self { true } else { false }
        }

        var hasCutCommit: Bool {
            if case .cutCommitInLog = self { true } else { false }
        }
    }

    /// Checks the first bytes of the file, and the log. Does not write before the file is known to be ours.
    /// - Parameter isKnown: Whether the history's lock existed before this opening.
    /// - Throws: `foreignStore` for a foreign file, `readOnly` for a file with hard links or a mount of its own,
    ///   and for the database of another history.
    func inspect(isKnown: Bool) throws -> FileState {
        var status = stat()
        if stat(files.database, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw RecollectError(
                .foreignStore, "\(files.database) is not a file; move it away or choose another folder for the history")
        }
        if status.st_nlink > 1 {
            // SQLite would use a log of its own under each name (https://sqlite.org/howtocorrupt.html, 2.5).
            throw RecollectError(
                .readOnly,
                "\(files.database) has \(status.st_nlink) hard links, and each would have a separate log; nothing was "
                    + "changed; replace the other links with copies")
        }
        if files.databaseIsMounted {
            // As with hard links: under each path the file would have another log and another lock.
            throw RecollectError(
                .readOnly,
                "\(files.database) is mounted as a single file, and each of its paths would have a separate log; nothing was "
                    + "changed; mount the folder that contains the history instead")
        }
        if files.leadToAnotherHistory {
            throw RecollectError(
                .readOnly,
                "the history in \(files.directory.path) is a symbolic link to the database of another history, "
                    + "\(files.database), and would have separate attachments and a separate lock; nothing was changed; open the other "
                    + "history instead")
        }
        if let warning = files.logBesideLinkWarning {
            throw RecollectError(.readOnly, "\(warning); nothing was changed")
        }
        guard let header = try readHeader() else { return .damaged(.unreadable) }
        if DatabaseHeader.isDatabase(header), !Schema.isOurs(header) {
            // SQLite does not read the tables behind a damaged header.
            if isKnown, try !DatabaseHeader.isSound(header) || hasOwnMigrations() { return .damaged(.certain) }
            throw RecollectError(
                .foreignStore,
                "\(files.database) is a SQLite database of another program, or of Recollect before 0.1.0; it was left "
                    + "unchanged; choose another folder for the history")
        }
        try files.setForeignLogAside().map(events.post)
        // SQLite treats a file of one byte as empty.
        if header.isEmpty, OpenFile.size(at: files.database) == 0 {
            guard try !files.wasEmptied(isKnown: isKnown) else { return .damaged(.certain) }
            try makeDatabase()
            return .whole
        }
        guard DatabaseHeader.isDatabase(header), DatabaseHeader.isSound(header) else { return .damaged(.certain) }
        switch try files.endOfLog(configuration.durability) {
        case .nothing: return .whole
        case .cutCommit: return .cutCommitInLog
        case .hiddenCommits: return .damaged(.certain)
        }
    }

    /// Whether a database without our application ID has our migrations.
    private func hasOwnMigrations() throws -> Bool {
        var reading = Configuration()
        reading.readonly = true
        do {
            let queue = try DatabaseQueue(
                path: DatabaseURI.text(of: files.database, "immutable=1"), configuration: reading)
            return try queue.inDatabase { try Schema.applied($0).first == Schema.identifiers.first }
        } catch is DatabaseError {
            return false
        }
    }

    /// Reads the first bytes; returns `nil` if three reads within 100 ms fail.
    private func readHeader() throws -> [UInt8]? {
        for _ in 0..<2 {
            do {
                return try DatabaseHeader.read(files.database)
            } catch let error as RecollectError where error.code == .inputOutput {
                usleep(50_000)
            }
        }
        do {
            return try DatabaseHeader.read(files.database)
        } catch let error as RecollectError where error.code == .inputOutput {
            return nil
        }
    }
}

extension HistoryFiles {
    /// Checks the log after the last frame read by SQLite. Without syncs, a power loss may hide commits there:
    /// losing them is within the promise of `.relaxed`, so the log is not checked. A log beside the symbolic link to the
    /// database is not read at all. Only for resolved files.
    func endOfLog(_ durability: Durability) throws -> DamagedPages.LogEnd {
        guard logBesideLink == nil else { return .hiddenCommits }
        guard durability == .full, !mayHoldUnsyncedCommits else { return .nothing }
        return try HistoryFiles.onDisk(URL(fileURLWithPath: folder), doing: "check the log in") {
            try DamagedPages.endOfLog(in: OpenFolder(path: folder), database: databaseName)
        }
    }
}
