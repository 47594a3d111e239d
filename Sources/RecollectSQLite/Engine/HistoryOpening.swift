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
            return try ReadOnlyOpening(files: files, configuration: configuration, events: events, cause: error).open()
        } catch let error as DatabaseError where error.preventsWriting {
            let cause = RecollectError(error, store: files.directory.path)
            return try ReadOnlyOpening(files: files, configuration: configuration, events: events, cause: cause).open()
        }
    }

    private func openToWrite(damaged: FileID?, for user: AnyObject) throws -> HistoryDatabase? {
        try files.makeDirectory()
        try refuseStranger()
        let isKnown = FileID(at: files.lock) != nil
        let lock = try ProcessLock(path: files.lock, logger: configuration.logger)
        return try lock.withLock(timeout: configuration.busyTimeout) {
            try Salvage(files: files, configuration: configuration, events: events).finishInterrupted()
            // Another process may have salvaged it already: then another file is there now.
            let isReported = damaged != nil && damaged == FileID(at: files.database)
            let found: Look = isReported ? .damaged(.reported) : try look(isKnown: isKnown)
            if case .damaged(let evidence) = found, try !salvage(evidence, for: user) { return nil }
            let identity = try files.identityForOpening()
            guard let id = identity.database, HistoryRegistry.shared.begin(id) else { return nil }
            var database: HistoryDatabase?
            defer { HistoryRegistry.shared.finish(id, database, user: user) }
            // SQLite reports some failed reads as corruption. Those pass; damage stays.
            for isLast in [false, true] {
                do {
                    database = try connect(lock, identity, emptiesLog: found.hasCutCommit)
                    return database
                } catch is DatabaseRetired {
                    return nil
                } catch  where error.isCorruption && !found.isDamaged {
                    if isLast { try salvage(error.isUnreadable ? .unreadable : .reported) }
                }
            }
            return nil
        }
    }

    /// Opens the writer's connection and brings the database up to date.
    /// - Throws: `DatabaseRetired` for files replaced during the opening. Nothing is written then.
    private func connect(
        _ lock: ProcessLock, _ identity: HistoryFiles.Identity, emptiesLog: Bool
    ) throws -> HistoryDatabase {
        let database = files.database
        let writer = try DatabaseQueue(
            path: database,
            configuration: Self.connections(configuration) {
                try $0.allocateLogIndex(beside: database)
            })
        do {
            var state = try writer.inDatabase(OpeningState.init)
            guard files.identity() == identity else { throw DatabaseRetired() }
            let isCurrent = state.map(Schema.isCurrent) ?? false
            let isKept = isCurrent && state?.hasKeptSchema == true
            if !isKept { try writer.inDatabase(refuseUnknown) }
            let mark = configuration.durability == .full ? nil : try files.noteUnsyncedCommits()
            try writer.inDatabase(setMode)
            try writer.inDatabase(WriteAheadLog.removeDeadFrames)
            if !isKept {
                if !isCurrent { try update(writer) }
                try writer.inDatabase(Schema.keepChecksum)
                state = try writer.inDatabase(OpeningState.init)
            }
            if mark == nil { try writer.inDatabase { try emptyLog($0, hasCutCommit: emptiesLog) } }
            if try writer.inDatabase({ try saveAbandonedReplies($0, hasDrafts: state?.hasDrafts ?? true) }) {
                state = try writer.inDatabase(OpeningState.init)
            }
            let retirement = Retirement()
            let held = HeldFiles(
                files, identity: identity, lock: lock, mark: mark, timeout: configuration.busyTimeout,
                retirement: retirement)
            return HistoryDatabase(
                configuration: configuration, writer: writer, held: held, retirement: retirement, state: state
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

    /// Leaves a database of a newer version, or with a damaged schema, as it is. Other programs may have changed the schema: `VACUUM`
    /// moves roots.
    private func refuseUnknown(_ db: Database) throws {
        if try Schema.isDamaged(db) { throw DatabaseError.damagedSchema }
        let isKept = try Schema.hasKeptChecksum(db)
        guard try !Schema.isNewer(Schema.applied(db)), try !isKept || !SearchIndex.isNewer(db) else {
            // Where there was no log, this connection made an empty one, which goes again.
            if HistoryCheck.size(of: files.writeAheadLog) == 0 { try db.setCheckpointsOnClose(true) }
            throw RecollectError(
                .newerSchema,
                "\(files.database) was written by a newer version of Recollect; it was left untouched; update this program"
            )
        }
        guard try isKept || HistoryCheck.isWhole(db) else { throw DatabaseError.damagedSchema }
    }

    private func setMode(_ db: Database) throws {
        try db.run("PRAGMA journal_mode = WAL")
        try db.run("PRAGMA synchronous = \(configuration.durability == .full ? "FULL" : "NORMAL")")
    }

    /// Empties a log with parts of an interrupted commit at its end. SQLite would overwrite some of them, and a later salvage would
    /// take the rest for the newest pages. Also empties a log of possibly unsynced commits: from then on every damaged frame
    /// shows.
    private func emptyLog(_ db: Database, hasCutCommit: Bool) throws {
        guard hasCutCommit || files.mayHoldUnsyncedCommits else { return }
        do {
            try WriteAheadLog(configuration: configuration, files: files).truncate(db)
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
    func makeDatabase() throws {
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
    /// - Parameter begin: Called before the connection's first look at the database.
    static func connections(
        _ configuration: HistoryConfiguration, begin: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) -> Configuration {
        var connections = Configuration()
        connections.label = "recollect.history"
        connections.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        connections.foreignKeysEnabled = false
        connections.prepareDatabase { db in
            // GRDB's authorizer serves its observations. Nothing here observes, and preparing a statement is twice as fast without.
            sqlite3_set_authorizer(db.sqliteConnection, nil, nil)
            try begin(db)
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
        return HistoryDatabase(configuration: configuration, writer: queue, openReader: nil)
    }

    /// Salvages while this process has no connection to the database, because a salvage opens and closes its file. Returns false, with no change
    /// done, where another opening came first.
    private func salvage(_ evidence: Salvage.Evidence, for user: AnyObject) throws -> Bool {
        let id = FileID(at: files.database)
        if let id, !HistoryRegistry.shared.begin(id) { return false }
        defer { if let id { HistoryRegistry.shared.finish(id, nil, user: user) } }
        try salvage(evidence)
        return true
    }

    /// Sets the damaged files aside and puts a new database with everything that could be read of them in their place.
    /// - Parameter evidence: How the damage was found. For `unreadable` and `reported`, `inputOutput` is thrown if it passed.
    private func salvage(_ evidence: Salvage.Evidence) throws {
        try Salvage(files: files, configuration: configuration, events: events).run(evidence)
    }
}
