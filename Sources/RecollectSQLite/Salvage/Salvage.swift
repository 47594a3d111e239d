import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

/// Replaces a damaged database with a new one of all readable records, and sets the damaged files aside.
///
/// Nothing is renamed before the new database is complete and durable. From then on there is a marker: if the
/// process is killed between two renames, the next opening finishes them (`finishInterrupted`). If it is killed
/// before, the next opening removes the unfinished file, and a new salvage starts over.
///
/// Everything blocks, and runs under the process lock while this process has no connection to the database.
struct Salvage {
    /// The evidence of damage.
    enum Evidence {
        /// Wrong bytes in the header or in the log.
        case certain
        /// The first bytes could not be read. The failure was temporary if all bytes are readable at the end of
        /// the salvage.
        case unreadable
        /// A report by SQLite, confirmed at the end of the salvage (`ReportedDamage`).
        case reported
    }

    let files: HistoryFiles
    let configuration: HistoryConfiguration
    let events: StoreEvents

    /// Salvages the database at the path.
    ///
    /// - Throws: `newerSchema` for a database of a newer version; `inputOutput` if the failure was temporary; any
    ///   error of writing the new database, for example `diskFull`. The damaged files are untouched then.
    func run(_ evidence: Evidence) throws {
        try HistoryFiles.onDisk(URL(fileURLWithPath: files.folder), doing: "salvage the history in") {
            try replace(in: OpenFolder(path: files.folder), evidence)
        }
    }

    private func replace(in folder: OpenFolder, _ evidence: Evidence) throws {
        try removeLeftovers(in: folder)
        let names = SalvageNames(stamp: HistoryFiles.newStamp(), files)
        do {
            let result = try copy(to: names.salvaged, folder, isUnreadable: evidence == .unreadable)
            // The copy has closed the damaged files. Closing them later would drop the locks of this connection.
            if evidence == .reported { try ReportedDamage(files: files, configuration: configuration).confirm() }
            let loss = HistoryLoss(
                setAside: names.setAside, date: Date(millisecondsSince1970: Date().millisecondsSince1970),
                recoveredMessages: result.recovered, lostMessages: result.lost, sessions: result.sessions)
            let marker = try JSONEncoder().encode(loss)
            _ = try folder.replace(files.salvageMarker) { try $0.write(Array(marker), at: 0) }
        } catch {
            // The next salvage starts from the beginning. If the file cannot be removed now, the next opening
            // removes it.
            try? folder.remove(names.salvaged)
            throw error
        }
        try finish(in: folder)
    }

    /// Finishes the renames of a killed salvage, if there is one, and removes unfinished files of killed salvages.
    /// Every opening begins with this.
    func finishInterrupted() throws {
        try HistoryFiles.onDisk(URL(fileURLWithPath: files.folder), doing: "finish the salvage in") {
            try finish(in: OpenFolder(path: files.folder))
        }
    }

    private func finish(in folder: OpenFolder) throws {
        let marker: OpenFile
        do {
            marker = try folder.file(files.salvageMarker, forWriting: false)
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return try removeLeftovers(in: folder)
        }
        // The names follow from one another, so an unreadable marker prevents nothing.
        let made = try folder.names().first { $0.hasPrefix(files.salvagingPrefix) && $0.hasSuffix(".sqlite") }
        let recorded = try? JSONDecoder().decode(HistoryLoss.self, from: Data(marker.read(at: 0, count: marker.size())))
        if let made {
            let names = SalvageNames(salvaged: made, files)
            for suffix in ["-wal", "-shm", "-journal", ""] {
                try folder.renameIfPresent(files.databaseName + suffix, to: names.setAside + suffix)
            }
            // The log of the old database must not be beside the new one.
            try folder.synchronize()
            try folder.rename(names.salvaged, to: files.databaseName)
            try folder.synchronize()
        }
        guard let loss = recorded ?? made.map({ HistoryLoss(unknownIn: SalvageNames(salvaged: $0, files).setAside) })
        else {
            return try folder.remove(files.salvageMarker)
        }
        events.post(
            StoreEvent(
                kind: .salvaged, setAsideURL: URL(fileURLWithPath: files.folder).appendingPathComponent(loss.setAside),
                recoveredMessages: loss.recoveredMessages, lostMessages: loss.lostMessages, lostSessions: loss.sessions)
        )
        if loss.isLoss {
            // The record of the loss stays as long as the damaged file.
            if recorded == nil {
                let record = try JSONEncoder().encode(loss)
                _ = try folder.replace(files.salvageMarker) { try $0.write(Array(record), at: 0) }
            }
            try folder.rename(files.salvageMarker, to: files.lossRecord(of: loss.setAside))
        } else {
            try folder.remove(files.salvageMarker)
        }
        try folder.synchronize()
    }

    /// Removes unfinished files of killed salvages, and records of losses without files set aside.
    private func removeLeftovers(in folder: OpenFolder) throws {
        let names = Set(try folder.names())
        for name in names {
            let isLeftover = files.isLeftover(name)
            let isStale =
                files.setAside(ofLossRecord: name).map { aside in !names.contains { $0.hasPrefix(aside) } } ?? false
            // If a file cannot be removed, for example on a read-only disk, a later opening removes it.
            if isLeftover || isStale { try? folder.remove(name) }
        }
        // In a folder of its own, only the history writes markers. So these files belong to killed salvages.
        if files.ownDirectory { try? folder.removeLeftovers(among: Array(names)) }
    }

    /// The configuration of the connection to the new database.
    static var copyConfiguration: Configuration {
        var connection = Configuration()
        connection.foreignKeysEnabled = false
        // An error during the copy leaves its transaction open until the file is closed.
        connection.allowsUnsafeTransactions = true
        connection.prepareDatabase { db in
            // A failed copy starts again, so no transaction is ever rolled back, and the file is synced once, at
            // the end.
            try db.execute(
                sql: """
                    PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY;
                    PRAGMA cache_size = -8000; PRAGMA secure_delete = ON; PRAGMA application_id = \(Schema.applicationID)
                    """)
        }
        return connection
    }

    /// Creates the new database. It is one file, durable when this returns.
    private func copy(
        to name: String, _ folder: OpenFolder, isUnreadable: Bool
    ) throws -> (recovered: Int, lost: Int?, sessions: [SessionLoss]) {
        try folder.makeFile(name).synchronize()
        let queue = try DatabaseQueue(path: folder.path(of: name), configuration: Self.copyConfiguration)
        let pages = try DamagedPages(
            folder: folder, database: files.databaseName, hasUnsyncedCommits: files.mayHoldUnsyncedCommits)
        try Schema.migrator.migrate(queue)
        let result = try queue.writeWithoutTransaction { db in
            let copy = try SalvageCopy(pages, into: db)
            let result = try copy.run()
            try copy.writer.commit()
            try SchemaChecksum.store(db)
            try UnallocatedSpace(db)?.clear()
            try pages.confirm(isUnreadable: isUnreadable)
            return result
        }
        try queue.close()
        try folder.file(name, forWriting: true).synchronize()
        return result
    }
}

/// The names of a salvage's files. Both contain the same stamp, so each can be derived from the other.
struct SalvageNames {
    let salvaged: String
    let setAside: String

    init(stamp: some StringProtocol, _ files: HistoryFiles) {
        salvaged = "\(files.salvagingPrefix)\(stamp).sqlite"
        setAside = "\(files.setAsidePrefix)\(stamp).sqlite"
    }

    init(salvaged: String, _ files: HistoryFiles) {
        self.init(stamp: salvaged.dropFirst(files.salvagingPrefix.count).dropLast(".sqlite".count), files)
    }
}

extension HistoryFiles {
    /// Returns the losses of the files still set aside, the oldest first.
    func losses() throws -> [HistoryLoss] {
        let files = resolved
        guard let folder = try? OpenFolder(path: files.folder) else { return [] }
        let names = Set(try folder.names())
        return try names.sorted().compactMap { name in
            guard let setAside = files.setAside(ofLossRecord: name), names.contains(where: { $0.hasPrefix(setAside) })
            else {
                return nil
            }
            let file = try folder.file(name, forWriting: false)
            let record = try? JSONDecoder().decode(HistoryLoss.self, from: Data(file.read(at: 0, count: file.size())))
            return record ?? HistoryLoss(unknownIn: setAside)
        }
    }
}

extension OpenFolder {
    fileprivate func renameIfPresent(_ name: String, to newName: String) throws {
        do {
            try rename(name, to: newName)
        } catch let failure as POSIXFailure where failure.number == ENOENT {
            return
        }
    }
}
