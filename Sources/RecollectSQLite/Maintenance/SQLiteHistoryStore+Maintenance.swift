import Foundation
import GRDB
import RecollectCore

extension SQLiteHistoryStore {
    /// Looks at everything: SQLite's integrity check over all pages, the checksums of all messages, counts, the search index,
    /// attachments, and what was lost before. Changes nothing.
    ///
    /// Costs a reading of the whole database and of every attachment. A database that is so damaged that it cannot be opened is
    /// salvaged at opening; this then reports on what was recovered.
    public func check() async throws -> HistoryReport {
        let (files, durability) = (connection.files, connection.configuration.durability)
        let checked = try await connection.perform { database in
            var checked = try await database.read { db in
                // Corruption is what is looked for here: it is told, not thrown.
                do { return try HistoryCheck.run(db) } catch  where error.isCorruption {
                    return HistoryCheck.unreadable(error)
                }
            }
            // Only a connection that may write can ask for them.
            if database.cannotWrite == nil {
                checked.report.problems += try await database.withWriterConnection {
                    try HistoryCheck.indexProblems($0)
                }
            } else if let files {
                checked.report.problems +=
                    try files.endOfLog(durability) == .hiddenCommits ? [HistoryCheck.hiddenMessages] : []
            }
            return checked
        }
        var report = checked.report
        report.erasure = checked.report.migrations.isEmpty ? Erasure() : try await erasure()
        report.directory = directory?.path
        guard let files = connection.files else { return report }
        // What is about to be removed is no problem.
        let pending = report.migrations.isEmpty ? [] : try await read { try Erasing.pendingAttachments($0) }
        var (told, suspects) = try await blocking { [report] in
            var report = report
            report.databaseBytes = HistoryCheck.size(of: files.database)
            report.logBytes = HistoryCheck.size(of: files.writeAheadLog)
            report.setAside = try files.setAside()
            report.losses = try files.losses()
            report.problems += report.losses.flatMap(HistoryCheck.problems)
            let kept = try AttachmentFiles(directory: files.attachments).all()
            report.attachments = kept.count
            report.attachmentBytes = kept.reduce(0) { $0 + $1.byteCount }
            let suspects = HistoryCheck.problems(
                of: AttachmentFiles(directory: files.attachments), kept: Set(kept.map(\.hash)).subtracting(pending),
                used: checked.hashes)
            return (report, suspects)
        }
        if !suspects.isEmpty, !report.migrations.isEmpty {
            suspects = try await attachmentProblems(among: Set(suspects.map(\.hash)), in: files)
        }
        told.problems += suspects.map(\.problem)
        return told
    }

    /// Checks suspect attachments again. A save or a deletion between reading rows and reading files makes a sound one suspect.
    private func attachmentProblems(
        among hashes: Set<String>, in files: HistoryFiles
    ) async throws -> [(hash: String, problem: HistoryReport.Problem)] {
        let (used, pending) = try await read { db in
            (try hashes.filter { try AttachmentUse.isUsed($0, db) }, try Erasing.pendingAttachments(db))
        }
        return try await blocking {
            let attachments = AttachmentFiles(directory: files.attachments)
            let kept = Set(try attachments.all().map(\.hash)).intersection(hashes)
            return HistoryCheck.problems(of: attachments, kept: kept.subtracting(pending), used: used)
        }
    }

    /// What was lost with damaged files that are still set aside, the oldest first; nothing once these files are removed.
    ///
    /// Looks at the names of files alone, so it is cheap. `open()` comes first where a salvage may be due.
    public func losses() async throws -> [HistoryLoss] {
        guard let files = connection.files else { return [] }
        return try await blocking { try files.losses() }
    }

    /// Mends what `check()` finds: salvages a damaged database, sets counts right, makes indexes anew, gives checksums to messages
    /// that have none, removes attachments that nothing uses. What cannot be read stays in the file that is set aside.
    ///
    /// A damaged index of a whole table is made anew; nothing is set aside. A table without rows of its indexes, or with messages in no
    /// index, is salvaged. A message with a wrong checksum stays as it is. While messages are lost, no attachment is removed: a lost message may have used it.
    public func repair() async throws {
        let report = try await check()
        let damage = report.problems.filter { $0.kind == "integrity" }.map(\.message)
        if !damage.isEmpty, connection.files != nil {
            let isAboutIndexes = damage.allSatisfy(HistoryCheck.isAboutAnIndex)
            if isAboutIndexes, try await !read(HistoryRepair.hasLostRows) { try await reindex() }
            // Thrown in the operation, so that this very database is salvaged and not one that replaced it meanwhile.
            try await perform { database in
                guard try await database.read(HistoryCheck.isWhole) else {
                    throw DatabaseError(resultCode: .SQLITE_CORRUPT)
                }
            }
        }
        try await write { db in
            try HistoryRepair.restoreOwners(db)
            try HistoryRepair.restoreIDs(db)
            try AttachmentUse.restore(db)
            try Settling.rebuild(db)
            try HistoryRepair.separateIDs(db)
            try SearchIndex.rebuild(db)
        }
        events.post(.init(kind: .rebuiltIndex))
        try await indexEverything()
        var last: Int64? = 0
        while let start = last {
            last = try await write { try HistoryCheck.addChecksums(behind: start, limit: 500, $0) }
        }
        guard let files = connection.files else { return }
        let hasLosses = try await !losses().isEmpty
        // Where the uses of attachments contradict their files, one that seems unused may be a message's.
        let isMissing = report.problems.contains { $0.kind == "attachmentMissing" }
        try await write { db in
            if !hasLosses, !isMissing {
                let kept = try AttachmentFiles(directory: files.attachments).all().map(\.hash)
                try Erasing.note(orphans: kept.filter { try !AttachmentUse.isUsed($0, db) }, db)
            }
            try Erasing.note(.leftovers, db)
        }
        try await waitUntilErased()
    }

    /// Restores rows, then makes all indexes anew. Leaves two rows of one key to a salvage.
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
