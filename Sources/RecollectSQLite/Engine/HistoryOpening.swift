import Foundation
import GRDB
import GRDBSQLite
import RecollectCore

/// Opens a history's files: looks before it touches, makes what is missing, migrates, and salvages what is damaged.
///
/// Everything here blocks and runs under the process lock.
struct HistoryOpening {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    let events: StoreEvents

    /// Opens the database, for the first of its users in this process. Returns `nil` where another opening came first, or where
    /// damage was found and what could be read is in place now: the caller looks again.
    /// - Parameter damaged: The identity of a database that was found damaged while it was in use.
    func open(damaged: FileID?, for user: AnyObject) throws -> HistoryDatabase? {
        do {
            return try openToWrite(damaged: damaged, for: user)
        } catch let error as RecollectError where error.preventsWriting {
            return try ReadOnlyOpening(files: files, configuration: configuration, cause: error).open()
        } catch let error as DatabaseError where error.preventsWriting {
            let cause = RecollectError(error, store: files.directory.path)
            return try ReadOnlyOpening(files: files, configuration: configuration, cause: cause).open()
        }
    }

    private func openToWrite(damaged: FileID?, for user: AnyObject) throws -> HistoryDatabase? {
        try files.makeDirectory()
        try refuseStranger()
        let isKnown = FileID(at: files.lock) != nil
        let lock = try ProcessLock(path: files.lock)
        return try lock.withLock(timeout: configuration.busyTimeout) {
            try Salvage(files: files, configuration: configuration, events: events).finishInterrupted()
            // Another process may have salvaged it already: then another file is there now.
            let isDamaged = damaged != nil && damaged == FileID(at: files.database)
            let found: Look = isDamaged ? .damaged : try look(isKnown: isKnown)
            if found == .damaged { try salvage() }
            guard let id = FileID(at: files.database), HistoryRegistry.shared.begin(id) else { return nil }
            var database: HistoryDatabase?
            defer { HistoryRegistry.shared.finish(id, database, user: user) }
            // SQLite reports some failed reads as corruption. Those pass; damage stays.
            for isLast in [false, true] {
                do {
                    database = try connect(lock, emptiesLog: found == .wholeButForTheLog)
                    return database
                } catch  where error.isCorruption && found != .damaged {
                    if isLast { try salvage() }
                }
            }
            return nil
        }
    }

    /// A file of a name that someone chose may be anything, their notes for instance. It is ours, and perhaps damaged, only if
    /// our lock lies beside it; so this looks before there is one.
    private func refuseStranger() throws {
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
    private enum Look {
        case whole, damaged
        /// The log ends with parts of a commit: a power cut interrupted it.
        case wholeButForTheLog
    }

    /// Reads the first bytes of the file, and the log. Writes nothing before the file is known to be ours.
    /// - Parameter isKnown: Whether the history's lock existed before this opening.
    private func look(isKnown: Bool) throws -> Look {
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
        let header = try DatabaseHeader.read(files.database)
        // SQLite takes a file of one byte for an empty one.
        if header.isEmpty, HistoryCheck.size(of: files.database) == 0 {
            guard try !files.wasEmptied(isKnown: isKnown) else { return .damaged }
            try makeDatabase()
            return .whole
        }
        guard DatabaseHeader.isDatabase(header) else { return .damaged }
        guard Schema.isOurs(header) else {
            throw RecollectError(
                .foreignStore,
                "\(files.database) is a SQLite database that Recollect did not make; it was left untouched; "
                    + "name another folder for the history")
        }
        // Where commits were not synced, a power cut may hide some: what it took is lost, as promised.
        guard configuration.durability == .full, !files.mayHoldUnsyncedCommits else { return .whole }
        let end = try HistoryFiles.onDisk(files.directory, doing: "look at the log in") {
            try DamagedPages.endOfLog(in: OpenFolder(path: files.directory.path), database: files.databaseName)
        }
        switch end {
        case .nothing: return .whole
        case .cutCommit: return .wholeButForTheLog
        case .hiddenCommits: return .damaged
        }
    }

    /// Opens the writer's connection and brings the database up to date.
    private func connect(_ lock: ProcessLock, emptiesLog: Bool) throws -> HistoryDatabase {
        let writer = try DatabaseQueue(path: files.database, configuration: Self.connections(configuration))
        do {
            var state = try writer.inDatabase(OpeningState.init)
            if state.map(Schema.isCurrent) != true {
                try writer.inDatabase(refuseNewer)
                try writer.inDatabase(setMode)
                try update(writer)
                state = try writer.inDatabase(OpeningState.init)
            } else {
                try writer.inDatabase(setMode)
            }
            if emptiesLog { try writer.inDatabase(emptyLog) }
            if try writer.inDatabase({ try saveAbandonedReplies($0, hasDrafts: state?.hasDrafts ?? true) }) {
                state = try writer.inDatabase(OpeningState.init)
            }
            return HistoryDatabase(
                files: files, configuration: configuration, writer: writer, lock: lock, state: state
            ) { [path = files.database, configuration] in
                var reading = Self.connections(configuration)
                reading.readonly = true
                return try DatabaseQueue(path: path, configuration: reading)
            }
        } catch {
            // The first failure is the one to tell; whether closing fails too changes nothing.
            try? writer.close()
            throw error
        }
    }

    /// Leaves a database of a newer version as it is.
    private func refuseNewer(_ db: Database) throws {
        guard try !Schema.isNewer(db) else {
            // Where there was no log, this connection made an empty one, which goes again.
            if HistoryCheck.size(of: files.writeAheadLog) == 0 { try db.setCheckpointsOnClose(true) }
            throw RecollectError(
                .newerSchema,
                "\(files.database) was written by a newer version of Recollect; it was left untouched; update this program"
            )
        }
    }

    private func setMode(_ db: Database) throws {
        if configuration.durability != .full { try files.noteUnsyncedCommits() }
        try db.run("PRAGMA journal_mode = WAL")
        try db.run("PRAGMA synchronous = \(configuration.durability == .full ? "FULL" : "NORMAL")")
    }

    /// Empties a log with parts of an interrupted commit at its end. SQLite would overwrite some of them, and a later salvage would
    /// take the rest for the newest pages.
    private func emptyLog(_ db: Database) throws {
        do {
            try WriteAheadLog(configuration: configuration).truncate(db)
        } catch  where !error.spoilsConnection {
            configuration.logger.debug("the log stays as it is: \(error)")
        }
    }

    /// Brings the tables and the search index up to this version.
    private func update(_ writer: DatabaseQueue) throws {
        try Schema.migrator.migrate(writer)
        try writer.inDatabase { db in
            try db.inTransaction(.immediate) {
                try SearchIndex.prepare(db)
                return .commit
            }
        }
    }

    /// Saves the replies of processes that ended in the middle of them. Where that fails, on a full disk say, they wait for the
    /// next opening: what is there can be read meanwhile. Returns whether anything was written.
    private func saveAbandonedReplies(_ db: Database, hasDrafts: Bool) throws -> Bool {
        let recovery = ReplyRecovery(
            writers: ReplyWriters(folder: files.writers), attachments: AttachmentFiles(directory: files.attachments),
            retention: configuration.retention)
        do {
            let everyone = try recovery.everyone(db, hasDrafts: hasDrafts)
            guard !everyone.isEmpty else { return false }
            var saved: [StoreEvent] = []
            try db.inTransaction(.immediate) {
                saved = try recovery.run(for: everyone, db, WriterCache())
                return .commit
            }
            saved.forEach(events.post)
            return true
        } catch  where !error.spoilsConnection {
            configuration.logger.warning("replies that were cut off wait for the next opening: \(error)")
            return false
        }
    }

    /// Makes a new database, complete, and moves it into place: a killed making leaves none.
    private func makeDatabase() throws {
        try files.removeLeftovers()
        let new = files.newDatabase()
        try files.makeFile(at: new)
        let queue = try DatabaseQueue(path: new)
        try queue.writeWithoutTransaction { try $0.run("PRAGMA application_id = \(Schema.applicationID)") }
        try Schema.migrator.migrate(queue)
        try queue.writeWithoutTransaction { db in
            try db.inTransaction {
                try SearchIndex.prepare(db)
                return .commit
            }
            // SQLite syncs the file before it changes the mode, so it is on the disk.
            try db.run("PRAGMA journal_mode = WAL")
        }
        try queue.close()
        try files.place(new)
    }

    /// How every connection is set up.
    static func connections(_ configuration: HistoryConfiguration) -> Configuration {
        var connections = Configuration()
        connections.label = "recollect.history"
        connections.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        connections.foreignKeysEnabled = false
        connections.prepareDatabase { db in
            // GRDB's authorizer serves its observations. Nothing here observes, and preparing a statement is twice as fast without.
            sqlite3_set_authorizer(db.sqliteConnection, nil, nil)
            let code = sqlite3_exec(
                db.sqliteConnection,
                """
                PRAGMA secure_delete = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
                PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 0;
                PRAGMA journal_size_limit = 33554432
                """, nil, nil, nil)
            guard code == SQLITE_OK else { throw DatabaseError(code, of: db.sqliteConnection) }
            try db.setCheckpointsOnClose(false)
        }
        return connections
    }

    /// Makes a database in memory.
    static func openInMemory(_ configuration: HistoryConfiguration) throws -> HistoryDatabase {
        let queue = try DatabaseQueue(configuration: connections(configuration))
        try Schema.migrator.migrate(queue)
        try queue.write { try SearchIndex.prepare($0) }
        return HistoryDatabase(files: nil, configuration: configuration, writer: queue, lock: nil, openReader: nil)
    }

    /// Sets the damaged files aside and puts a new database with everything that could be read of them in their place.
    private func salvage() throws {
        try Salvage(files: files, configuration: configuration, events: events).run()
    }
}
