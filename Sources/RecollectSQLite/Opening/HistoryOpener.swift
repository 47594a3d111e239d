import Foundation
import GRDB
import GRDBSQLite
import RecollectCore
import RecollectFileSystem

/// Opens a history's files: checks them before any change, creates missing ones, migrates the schema, and salvages
/// damaged files.
///
/// Everything here blocks and runs under the process lock.
struct HistoryOpener {
    let files: HistoryFiles
    let configuration: HistoryConfiguration
    let events: StoreEvents

    /// Opens the database, for its first user in this process. Returns `nil` if another opening came first, if the
    /// files were replaced during the opening, or if a damaged database was salvaged: the caller tries again.
    /// - Parameter damaged: The identity of a database found damaged while in use.
    func open(damaged: FileID?, for user: AnyObject) throws -> HistoryDatabase? {
        do {
            return try openToWrite(damaged: damaged, for: user)
        } catch let error as RecollectError where error.preventsWriting {
            return try ReadOnlyOpener(files: files, configuration: configuration, events: events, cause: error).open()
        } catch let error as DatabaseError where error.preventsWriting {
            let cause = RecollectError(error, store: files.directory.path)
            return try ReadOnlyOpener(files: files, configuration: configuration, events: events, cause: cause).open()
        }
    }

    private func openToWrite(damaged: FileID?, for user: AnyObject) throws -> HistoryDatabase? {
        try files.makeDirectory()
        try refuseForeignFile()
        let isKnown = FileID(at: files.lock) != nil
        let lock = try ProcessLock(path: files.lock, logger: configuration.logger)
        return try lock.withLock(timeout: configuration.busyMilliseconds) {
            try Salvage(files: files, configuration: configuration, events: events).finishInterrupted()
            // Another process may have salvaged it already. Then another file is at the path.
            let isReported = damaged != nil && damaged == FileID(at: files.database)
            let found: FileState = isReported ? .damaged(.reported) : try inspect(isKnown: isKnown)
            if case .damaged(let evidence) = found, try !salvage(evidence, for: user) { return nil }
            let identity = try files.identityForOpening()
            guard let id = identity.database, HistoryRegistry.shared.begin(id) else { return nil }
            var database: HistoryDatabase?
            defer { HistoryRegistry.shared.finish(id, database, user: user) }
            // SQLite reports some failed reads as corruption. Those are temporary; damage is permanent.
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
            configuration: configuration.connections() {
                try $0.allocateLogIndex(beside: database)
            })
        do {
            var state = try writer.inDatabase(OpeningState.init)
            guard files.identity() == identity else { throw DatabaseRetired() }
            let isCurrent = state.map(Schema.isCurrent) ?? false
            let isKept = isCurrent && state?.matchesStoredSchema == true
            if !isKept { try writer.inDatabase(refuseUnknown) }
            let mark = configuration.durability == .full ? nil : try files.noteUnsyncedCommits()
            try writer.inDatabase(setMode)
            try writer.inDatabase(WriteAheadLog.removeDeadFrames)
            if !isKept {
                if !isCurrent { try update(writer) }
                try writer.inDatabase(SchemaChecksum.store)
                state = try writer.inDatabase(OpeningState.init)
            }
            if mark == nil { try writer.inDatabase { try emptyLog($0, hasCutCommit: emptiesLog) } }
            if try writer.inDatabase({
                try saveAbandonedReplies($0, hasStreamingReplies: state?.hasStreamingReplies ?? true)
            }) {
                state = try writer.inDatabase(OpeningState.init)
            }
            let retirement = Retirement()
            let held = LockedFiles(
                files, identity: identity, lock: lock, mark: mark, timeout: configuration.busyMilliseconds,
                retirement: retirement)
            return HistoryDatabase(
                configuration: configuration, writer: writer, held: held, retirement: retirement, state: state
            ) { [path = files.database, configuration] in
                var reading = configuration.connections()
                reading.readonly = true
                return try DatabaseQueue(path: path, configuration: reading)
            }
        } catch {
            // The first error is the one to report. A failure to close changes nothing.
            try? writer.close()
            throw error
        }
    }

    /// Throws an error for a database of a newer version, or with a damaged schema, without changing it. Other
    /// programs may have changed the schema: `VACUUM` moves root pages.
    private func refuseUnknown(_ db: Database) throws {
        if try Schema.isDamaged(db) { throw DatabaseError.damagedSchema }
        let isKept = try SchemaChecksum.matchesStored(db)
        guard try !Schema.isNewer(Schema.applied(db)), try !isKept || !SearchIndex.isNewer(db) else {
            // Removes the empty log created by this connection if there was none.
            if OpenFile.size(at: files.writeAheadLog) == 0 { try db.setCheckpointsOnClose(true) }
            throw RecollectError(
                .newerSchema,
                "\(files.database) was written by a newer version of Recollect; it was left unchanged; update this program"
            )
        }
        guard try isKept || Integrity.isWhole(db) else { throw DatabaseError.damagedSchema }
    }

    private func setMode(_ db: Database) throws {
        try db.run("PRAGMA journal_mode = WAL")
        try db.run("PRAGMA synchronous = \(configuration.durability == .full ? "FULL" : "NORMAL")")
    }

    /// Empties a log with parts of an interrupted commit at its end. SQLite would overwrite some of them, and a
    /// later salvage would treat the rest as the newest pages. Also empties a log of possibly unsynced commits:
    /// from then on every damaged frame is detected.
    private func emptyLog(_ db: Database, hasCutCommit: Bool) throws {
        guard hasCutCommit || files.mayHoldUnsyncedCommits else { return }
        do {
            try WriteAheadLog(configuration: configuration, files: files).truncate(db)
        } catch  where !error.spoilsConnection {
            configuration.logger.debug("cannot empty the log: \(error)")
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

    /// Saves the interrupted replies of ended processes. After a failure, for example on a full disk, they stay
    /// for the next opening, and the rest can be read meanwhile. Returns whether anything was written.
    private func saveAbandonedReplies(_ db: Database, hasStreamingReplies: Bool) throws -> Bool {
        let recovery = ReplyRecovery(
            writers: ReplyWriterLocks(folder: files.writers),
            attachments: AttachmentFiles(directory: files.attachments),
            retention: configuration.retention)
        do {
            let everyone = try recovery.everyone(db, hasStreamingReplies: hasStreamingReplies)
            guard !everyone.isEmpty else { return false }
            var saved: [StoreEvent] = []
            try db.inTransaction(.immediate) {
                saved = try recovery.run(for: everyone, db, WriterCache())
                return .commit
            }
            saved.forEach(events.post)
            return true
        } catch  where !error.spoilsConnection {
            configuration.logger.warning("interrupted replies will be saved at the next opening: \(error)")
            return false
        }
    }

    /// Creates a complete new database, and then moves it into place. A process killed before that leaves no
    /// database.
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
            // SQLite syncs the file before changing the mode, so the content is durable.
            try db.run("PRAGMA journal_mode = WAL")
        }
        try queue.close()
        try files.place(new)
    }

    /// Creates a database in memory.
    static func openInMemory(_ configuration: HistoryConfiguration) throws -> HistoryDatabase {
        let queue = try DatabaseQueue(configuration: configuration.connections())
        try Schema.migrator.migrate(queue)
        try queue.write { try SearchIndex.prepare($0) }
        return HistoryDatabase(configuration: configuration, writer: queue, openReader: nil)
    }

    /// Salvages the database while this process has no connection to it, because a salvage opens and closes its
    /// file. Returns false, without any change, if another opening came first.
    private func salvage(_ evidence: Salvage.Evidence, for user: AnyObject) throws -> Bool {
        let id = FileID(at: files.database)
        if let id, !HistoryRegistry.shared.begin(id) { return false }
        defer { if let id { HistoryRegistry.shared.finish(id, nil, user: user) } }
        try salvage(evidence)
        return true
    }

    /// Sets the damaged files aside and puts a new database with all readable records in their place.
    /// - Parameter evidence: The evidence of damage. For `unreadable` and `reported`, `inputOutput` is thrown if
    ///   the failure was temporary.
    private func salvage(_ evidence: Salvage.Evidence) throws {
        try Salvage(files: files, configuration: configuration, events: events).run(evidence)
    }
}
