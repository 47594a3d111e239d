import Foundation
import GRDB
import RecollectCore
import RecollectFileSystem

extension SQLiteHistoryStore {
    /// Checks the whole history: SQLite's integrity check over all pages, the checksums of all messages, counts,
    /// the search index, attachments, and earlier losses. Changes nothing.
    ///
    /// Reads the whole database and every attachment. A database too damaged to be opened is salvaged at its
    /// opening. The report then describes the salvaged database.
    public func check() async throws -> HistoryReport {
        let (files, durability) = (connection.files, connection.configuration.durability)
        let checked = try await connection.perform { database in
            var checked = try await database.read { db in
                // Corruption is a result of the check: it is reported, not thrown.
                do { return try HistoryCheck.run(db) } catch  where error.isCorruption {
                    return HistoryCheck.unreadable(error)
                }
            }
            // The check of the search index needs a connection with write access.
            if database.cannotWrite == nil {
                checked.report.problems += try await database.withWriterConnection {
                    try HistoryCheck.indexProblems($0)
                }
            } else if let files = files?.resolved, try files.endOfLog(durability) == .hiddenCommits {
                checked.report.problems.append(HistoryCheck.hiddenMessages(files))
            }
            return checked
        }
        var report = checked.report
        report.erasure = checked.report.migrations.isEmpty ? Erasure() : try await erasure()
        report.directory = directory?.path
        guard let files = connection.files else { return report }
        // A pending removal is not a problem.
        let pending = report.migrations.isEmpty ? [] : try await read { try Eraser.pendingAttachments($0) }
        var (result, suspects) = try await blocking { [report] in
            var report = report
            report.databaseBytes = OpenFile.size(at: files.database)
            report.logBytes = OpenFile.size(at: files.writeAheadLog)
            report.setAside = try files.setAside()
            report.losses = try files.losses()
            report.problems += report.losses.flatMap(HistoryCheck.problems)
            let kept = try AttachmentFiles(directory: files.attachments).all()
            report.attachmentCount = kept.count
            report.attachmentBytes = kept.reduce(0) { $0 + $1.byteCount }
            let hashes = Set(kept.map(\.hash)).subtracting(pending)
            let suspects = HistoryCheck.problems(
                of: AttachmentFiles(directory: files.attachments), kept: hashes, used: checked.hashes ?? hashes)
            return (report, suspects)
        }
        if !suspects.isEmpty, !report.migrations.isEmpty {
            suspects = try await attachmentProblems(among: Set(suspects.map(\.hash)), in: files)
        }
        result.problems += suspects.map(\.problem)
        return result
    }

    /// Checks suspect attachments again. A save or a deletion between reading rows and reading files makes an
    /// intact one suspect.
    private func attachmentProblems(
        among hashes: Set<String>, in files: HistoryFiles
    ) async throws -> [(hash: String, problem: HistoryReport.Problem)] {
        let (used, pending) = try await read { db in
            (try hashes.filter { try AttachmentUse.isUsed($0, db) }, try Eraser.pendingAttachments(db))
        }
        return try await blocking {
            let attachments = AttachmentFiles(directory: files.attachments)
            let kept = Set(try attachments.all().map(\.hash)).intersection(hashes)
            return HistoryCheck.problems(of: attachments, kept: kept.subtracting(pending), used: used)
        }
    }

    /// Returns the losses with damaged files still set aside, the oldest first. The list is empty once these files
    /// are removed.
    ///
    /// Reads only file names, so it is cheap. Call `open()` first if a salvage may be due.
    public func losses() async throws -> [HistoryLoss] {
        guard let files = connection.files else { return [] }
        return try await blocking { try files.losses() }
    }

    /// Repairs the problems found by `check()`: salvages a damaged database, corrects counts, rebuilds indexes,
    /// adds missing checksums, and removes unused attachments. Unreadable content stays in the damaged file set
    /// aside.
    ///
    /// A damaged index of an intact table is rebuilt, and no file is set aside. A table is salvaged if it lacks
    /// rows named by its indexes or has messages in no index. A message with a wrong checksum stays unchanged.
    /// Attachments are not removed while there are losses, damaged messages or missing attachment files: a lost or damaged
    /// message may have used them. Posts `rebuiltIndex`, and waits until the erasure is complete or 30 seconds have passed.
    public func repair() async throws {
        let report = try await check()
        let damage = report.problems.filter { $0.kind == "integrity" }.map(\.message)
        if !damage.isEmpty, connection.files != nil {
            let isAboutIndexes = damage.allSatisfy(HistoryCheck.isAboutAnIndex)
            if isAboutIndexes, try await !read(HistoryRepair.hasLostRows) { try await reindex() }
            // Thrown in the operation, so that this database is salvaged and not one that replaced it meanwhile.
            try await perform { database in
                guard try await database.read(Integrity.isWhole) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
            }
        }
        try await write { db in
            try HistoryRepair.restoreOwners(db)
            try HistoryRepair.restoreIDs(db)
            try AttachmentUse.restore(db)
            try DerivedData.rebuild(db)
            try HistoryRepair.separateIDs(db)
            try SearchIndex.rebuild(db)
        }
        events.post(.init(kind: .rebuiltIndex))
        try await indexEverything()
        var last: SequenceNumber? = .zero
        while let start = last {
            last = try await write { try HistoryCheck.addChecksums(behind: start, limit: 500, $0) }
        }
        guard let files = connection.files else { return }
        let hasLosses = try await !losses().isEmpty
        // If the uses of attachments contradict their files, a seemingly unused one may belong to a message.
        let isMissing = report.problems.contains { $0.kind == "attachmentMissing" }
        try await write { db in
            if try !hasLosses && !isMissing && !HistoryCheck.hasDamagedContent(db) {
                let kept = try AttachmentFiles(directory: files.attachments).all().map(\.hash)
                try Eraser.note(orphans: kept.filter { try !AttachmentUse.isUsed($0, db) }, db)
            }
            try Eraser.note(.leftovers, db)
        }
        try await waitUntilErased()
    }

    /// Restores rows, then rebuilds all indexes. Leaves two rows with one key to a salvage.
    private func reindex() async throws {
        try await write { db in
            try HistoryRepair.restoreRows(db)
            do {
                try db.run("REINDEX")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                return
            }
        }
    }
}
