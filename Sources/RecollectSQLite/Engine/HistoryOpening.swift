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

    /// Opens the database. `isDamaged` says that it was found damaged while it was in use.
    func open(isDamaged: Bool) throws -> HistoryDatabase {
        try files.makeDirectory()
        try refuseStranger()
        let lock = try ProcessLock(path: files.lock)
        return try lock.withLock(timeout: configuration.busyTimeout) {
            let isWhole = try !isDamaged && looksWhole()
            guard isWhole else { return try salvage(lock) }
            do {
                return try openDatabase(lock)
            } catch  where error.isCorruption {
                return try salvage(lock)
            }
        }
    }

    /// A file of a name that someone chose may be anything, their notes for instance. It is ours, and perhaps damaged, only if
    /// our lock lies beside it; so this looks before there is one.
    private func refuseStranger() throws {
        guard !files.haveTheirFolder, !FileManager.default.fileExists(atPath: files.lock) else { return }
        var status = stat()
        guard stat(files.database, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let header = try files.header()
        guard header.isEmpty || header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw RecollectError(
                .foreignStore,
                "\(files.database) is not a database, and nothing tells that Recollect wrote it; it was left untouched; "
                    + "name another file for the history")
        }
    }

    /// Looks at the first bytes of the file, which nothing but reading is done to before it is known to be ours.
    private func looksWhole() throws -> Bool {
        var status = stat()
        if stat(files.database, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw RecollectError(
                .foreignStore, "\(files.database) is not a file; move it away or name another folder for the history")
        }
        let header = try files.header()
        if header.isEmpty {
            try setAsideStrayLog()
            return true
        }
        guard header.starts(with: Array("SQLite format 3\0".utf8)), header.count == 100 else { return false }
        let id = header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) }
        guard id == Schema.applicationID else {
            throw RecollectError(
                .foreignStore,
                "\(files.database) is a SQLite database that Recollect did not make; it was left untouched; "
                    + "name another folder for the history")
        }
        return true
    }

    /// A log without its database cannot be read alone, but it is somebody's data: it is kept under another name.
    private func setAsideStrayLog() throws {
        var status = stat()
        guard stat(files.writeAheadLog, &status) == 0, status.st_size > 0 else { return }
        let setAside = try files.setAside()
        events.post(StoreEvent(kind: .missingFile, setAside: URL(fileURLWithPath: setAside.path + "-wal")))
    }

    private func openDatabase(_ lock: ProcessLock) throws -> HistoryDatabase {
        try refuseNewerSchema()
        let pool = try openPool()
        do {
            try Schema.migrator.migrate(pool)
            try pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try SearchIndex.prepare(db)
                    return .commit
                }
                try saveAbandonedReplies(db)
            }
            return try HistoryDatabase(files: files, configuration: configuration, connections: pool, lock: lock)
        } catch {
            // The first failure is the one to tell; whether closing fails too changes nothing.
            try? pool.close()
            throw error
        }
    }

    /// Saves the replies of processes that ended in the middle of them. Where that fails, on a full disk say, they wait for the
    /// next opening: what is there can be read meanwhile.
    private func saveAbandonedReplies(_ db: Database) throws {
        let recovery = ReplyRecovery(
            writers: ReplyWriters(folder: files.writers), attachments: AttachmentFiles(directory: files.attachments),
            retention: configuration.retention)
        do {
            let everyone = try recovery.everyone(db)
            guard !everyone.isEmpty else { return }
            var saved: [StoreEvent] = []
            try db.inTransaction(.immediate) {
                saved = try recovery.run(for: everyone, db, UnsettledIDs())
                return .commit
            }
            saved.forEach(events.post)
        } catch  where !error.spoilsConnection {
            configuration.logger.warning("replies that were cut off wait for the next opening: \(error)")
        }
    }

    /// Looks at the schema through a connection that cannot write: a pool already writes when it opens a log.
    private func refuseNewerSchema() throws {
        guard try !files.header().isEmpty else { return }
        guard try hasNewerSchema() else { return }
        throw RecollectError(
            .newerSchema,
            "\(files.database) was written by a newer version of Recollect; it was left untouched; update this program")
    }

    private func hasNewerSchema() throws -> Bool {
        var reading = Self.connections(configuration)
        reading.readonly = true
        do {
            let queue = try DatabaseQueue(path: files.database, configuration: reading)
            let isNewer = try queue.read { try Schema.migrator.hasBeenSuperseded($0) }
            try queue.close()
            return isNewer
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // A crash while the database was made left a journal that only a writer can roll back; there is no schema yet.
            return false
        }
    }

    private func openPool() throws -> DatabasePool {
        try undoInterruptedMaking()
        if try files.header().isEmpty { try makeDatabase() }
        return try DatabasePool(path: files.database, configuration: Self.connections(configuration))
    }

    /// Undoes what a crash left of `makeDatabase`, if anything: a pool would undo it too, and go on without the mark.
    private func undoInterruptedMaking() throws {
        guard FileManager.default.fileExists(atPath: files.database + "-journal") else { return }
        let queue = try DatabaseQueue(path: files.database)
        _ = try queue.read { try $0.integer("SELECT count(*) FROM sqlite_master") }
        try queue.close()
    }

    /// Makes the database with its mark in the first page before anything else is in it, so that from its first moment on a
    /// look at the first bytes tells whose it is.
    private func makeDatabase() throws {
        try files.makeDatabaseFile()
        let queue = try DatabaseQueue(path: files.database)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try queue.close()
    }

    /// How every connection is set up.
    static func connections(_ configuration: HistoryConfiguration) -> Configuration {
        var connections = Configuration()
        connections.label = "recollect.history"
        connections.busyMode = .timeout(Double(configuration.busyTimeout) / 1000)
        connections.foreignKeysEnabled = false
        connections.maximumReaderCount = 4
        connections.prepareDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA secure_delete = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
                    PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 0
                    """)
            try SearchIndex.install(on: db)
        }
        return connections
    }

    /// Makes a database in memory.
    static func openInMemory(_ configuration: HistoryConfiguration) throws -> HistoryDatabase {
        let queue = try DatabaseQueue(configuration: connections(configuration))
        try Schema.migrator.migrate(queue)
        try queue.write { try SearchIndex.prepare($0) }
        return try HistoryDatabase(files: nil, configuration: configuration, connections: queue, lock: nil)
    }

    /// Sets the damaged files aside and opens a new database with everything that could be read of them.
    private func salvage(_ lock: ProcessLock) throws -> HistoryDatabase {
        let setAside = try files.setAside()
        let pool = try openPool()
        try Schema.migrator.migrate(pool)
        let salvaged = try pool.write { db in
            try SearchIndex.prepare(db)
            return try Salvage(damaged: setAside).copy(into: db)
        }
        try pool.close()
        events.post(
            StoreEvent(
                kind: .salvaged, setAside: setAside, recoveredMessages: salvaged.recovered, lostMessages: salvaged.lost)
        )
        return try openDatabase(lock)
    }
}
