import Foundation
import GRDB
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The checks before SQLite opens the files.
extension HistoryOpening {
    /// A file under a chosen name may be foreign, a person's notes for instance. It is ours, and perhaps damaged, only if
    /// our lock lies beside it; so this looks before there is one.
    func refuseStranger() throws {
        guard !files.haveTheirFolder, !FileManager.default.fileExists(atPath: files.lock) else { return }
        var status = stat()
        guard stat(files.database, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let header = try DatabaseHeader.read(files.database)
        guard header.isEmpty || header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw RecollectError(
                .foreignStore,
                "\(files.database) is not a database, and nothing tells that Recollect wrote it; it was left untouched; "
                    + "name another file for the history")
        }
    }

    /// The state of the files before SQLite opens them.
    enum Look {
        case whole
        case damaged(Salvage.Evidence)
        /// The log ends with parts of a commit: a power cut interrupted it.
        case wholeButForTheLog

        var isDamaged: Bool {
            if case .damaged = self { true } else { false }
        }

        var hasCutCommit: Bool {
            if case .wholeButForTheLog = self { true } else { false }
        }
    }

    /// Reads the first bytes of the file, and the log. Does not write before the file is known to be ours.
    /// - Parameter isKnown: Whether the history's lock existed before this opening.
    func look(isKnown: Bool) throws -> Look {
        var status = stat()
        if stat(files.database, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw RecollectError(
                .foreignStore, "\(files.database) is not a file; move it away or name another folder for the history")
        }
        if status.st_nlink > 1 {
            // https://sqlite.org/howtocorrupt.html, 2.5: under each name SQLite would keep a log of its own.
            throw RecollectError(
                .readOnly,
                "\(files.database) has \(status.st_nlink) names (hard links), and would have a log under each; nothing was "
                    + "changed; replace the other names by copies")
        }
        if files.databaseIsMounted {
            // As with hard links: at each of its places the file would have a log and a lock.
            throw RecollectError(
                .readOnly,
                "\(files.database) is mounted by itself, as a file, and would have a log at each of its places; nothing was "
                    + "changed; mount the folder that holds the history instead")
        }
        if files.leadToAnotherHistory {
            throw RecollectError(
                .readOnly,
                "the history in \(files.directory.path) is a symbolic link to the database of another history, "
                    + "\(files.database), and would have other attachments and another lock; nothing was changed; open the other "
                    + "history instead")
        }
        guard let header = try readHeader() else { return .damaged(.unreadable) }
        if DatabaseHeader.isDatabase(header), !Schema.isOurs(header) {
            if isKnown, try hasOurMigrations() { return .damaged(.certain) }
            throw RecollectError(
                .foreignStore,
                "\(files.database) is a SQLite database that Recollect did not make; it was left untouched; "
                    + "name another folder for the history")
        }
        try files.setForeignLogAside().map(events.post)
        // SQLite takes a file of one byte for an empty one.
        if header.isEmpty, HistoryCheck.size(of: files.database) == 0 {
            guard try !files.wasEmptied(isKnown: isKnown) else { return .damaged(.certain) }
            try makeDatabase()
            return .whole
        }
        guard DatabaseHeader.isDatabase(header), DatabaseHeader.isSound(header) else { return .damaged(.certain) }
        switch try files.endOfLog(configuration.durability) {
        case .nothing: return .whole
        case .cutCommit: return .wholeButForTheLog
        case .hiddenCommits: return .damaged(.certain)
        }
    }

    /// Whether a database without our application id has our migrations.
    private func hasOurMigrations() throws -> Bool {
        var reading = Configuration()
        reading.readonly = true
        do {
            let queue = try DatabaseQueue(path: DatabaseCopy.uri(files.database, "immutable=1"), configuration: reading)
            return try queue.inDatabase { try Schema.applied($0).first == Schema.identifiers.first }
        } catch is DatabaseError {
            return false
        }
    }

    /// Reads the first bytes; `nil` if the system refuses to read them three times in 100 ms.
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
    /// What the log holds behind the last frame that SQLite reads. Where commits were not synced, a power cut may hide some: what it
    /// took is lost, as promised.
    func endOfLog(_ durability: Durability) throws -> DamagedPages.LogEnd {
        guard durability == .full, !mayHoldUnsyncedCommits else { return .nothing }
        return try HistoryFiles.onDisk(URL(fileURLWithPath: folder), doing: "look at the log in") {
            try DamagedPages.endOfLog(in: OpenFolder(path: folder), database: databaseName)
        }
    }
}
