import Foundation
import RecollectCore

/// Imports transcripts into a history: files and folders of Claude Code, exports of a history, folders of Agent
/// Squad's file storage, and further formats passed in `formats` (such as `ClaudeCodeUIFormat` of RecollectClaudeCodeUI).
///
/// ```swift
/// let report = try await TranscriptImporter(history: history, userId: "ana").run([folder.path])
/// print(report.addedCount, "new messages in", report.sessionCount, "sessions")
/// ```
///
/// Each line of conversation becomes one message, in the order of its file. The messages of a session's agents are in
/// the order of their timestamps, in whatever order the files are imported. A sub-agent without a file of its own is
/// read from the lines about its progress in the file of the agent that started it; its own file replaces these
/// messages. A message with an ID already in its scope stays unchanged, so importing again adds only new messages, even
/// while a file is still being written. Unreadable lines and files are reported and never stop the import. Files are
/// not trusted: links are not followed, and sizes, depths and counts are bounded.
///
/// A session gets its title from its last `custom-title` line, else from its last `ai-title` line, else from a `summary`
/// line with the ID of one of its messages. It gets the working directory and Git branch of its first message, and all
/// details in an export. Tags, pin and archive mark are set only for a new session, as given in its file before the first
/// message. A session without a title and with a first message by Claude Code, not by its user, gets the typed command or
/// the first text of its user as title. Details set by a user are never replaced. New sessions, and sessions without unread
/// messages before the import, count as read. `Session.agentNames` has the descriptions of the tasks given to sub-agents.
///
/// A folder of Agent Squad names the users of its sessions. For these, `userId` is ignored.
///
/// One batch is read and decoded while the previous one is saved. At most two batches are in memory.
public struct TranscriptImporter: Sendable {
    /// The history to import into.
    public let history: any HistoryStore
    /// The user of the imported sessions.
    public let userId: String
    /// The formats to look for beside JSON Lines files. The first format to recognize a path reads it.
    public let formats: [any TranscriptFormat]
    /// Whether to read back and compare new messages after saving them. Messages saved together with known ones
    /// are not compared.
    public var verifies = false
    /// The largest number of messages saved at once.
    public var batchSize = 500

    /// Creates an importer.
    public init(history: any HistoryStore, userId: String, formats: [any TranscriptFormat] = [AgentSquadFormat()]) {
        self.history = history
        self.userId = userId
        self.formats = formats
    }

    /// Imports all transcripts below the paths.
    ///
    /// Canceling the task ends the import after the current batch; saved messages stay. Importing again after any
    /// interruption leads to the same sessions as an uninterrupted import.
    ///
    /// - Parameters:
    ///   - paths: Files and folders with transcripts.
    ///   - progress: Called after each batch, on any thread.
    /// - Throws: `notFound`, `permissionDenied`, `unreadable` or `invalidArgument` for a path that cannot be
    ///   imported, before any message is saved; `verificationFailed` if `verifies` finds a difference; errors of the history.
    public func run(
        _ paths: [String], progress: @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws -> ImportReport {
        let source = TranscriptSource(paths: paths, formats: formats, userId: userId, batchSize: batchSize)
        var report = ImportReport()
        var sessions = ImportedSessions()
        var nested = NestedAgents(userId: userId)
        try await read(source, &sessions, &nested, &report, progress)
        let files = try await nested.files(missingIn: history)
        if !files.isEmpty {
            let source = TranscriptSource(files: files, userId: userId, batchSize: batchSize)
            let before = report.messageCount
            try await read(source, &sessions, &nested, &report) { _ in }
            // The files may have grown since they were counted.
            let rest = (report.skippedLines["progress"] ?? 0) - (report.messageCount - before)
            report.skippedLines["progress"] = rest > 0 ? rest : nil
        }
        report.sessionCount = sessions.count
        report.users = sessions.users
        try await sessions.update(history)
        return report
    }

    /// Saves all batches of a source.
    private func read(
        _ source: TranscriptSource, _ sessions: inout ImportedSessions, _ nested: inout NestedAgents,
        _ report: inout ImportReport, _ progress: @Sendable (ImportProgress) -> Void
    ) async throws {
        var batch = try await source.next()
        while let current = batch {
            try Task.checkCancellation()
            async let following = source.next()
            sessions.note(current)
            for file in current.nested { sessions.note(file.agents, of: userId) }
            try await sessions.prepare(current, in: history)
            try await nested.prepare(current, in: history)
            for outcome in try await save(current) {
                report.addedCount += outcome.added
                report.unchangedCount += outcome.alreadyStored
            }
            report.count(current)
            progress(
                ImportProgress(
                    bytesRead: current.bytesRead, bytesTotal: current.bytesTotal, messages: report.messageCount))
            batch = try await following
        }
    }

    /// Saves a batch: each session's messages in order, and several sessions at once, so that they share their
    /// commits.
    private func save(_ batch: TranscriptBatch) async throws -> [AppendOutcome] {
        try await withThrowingTaskGroup(of: AppendOutcome.self) { group in
            for session in batch.sessions {
                group.addTask { [history, verifies] in
                    var total = AppendOutcome()
                    for (scope, messages) in session {
                        let outcome = try await history.append(
                            messages, to: scope, options: AppendOptions(keepsSessionRead: true))
                        // In a partly known batch, the new messages cannot be determined.
                        if verifies, outcome.alreadyStored == 0 { try await history.verify(messages, in: scope) }
                        total.added += outcome.added
                        total.alreadyStored += outcome.alreadyStored
                    }
                    return total
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension ImportReport {
    fileprivate mutating func count(_ batch: TranscriptBatch) {
        messageCount += batch.messageCount
        unfinishedCount += batch.unfinished
        batch.unreadable.forEach { add($0) }
        batch.others.forEach { add(skippedLines: $0) }
    }
}

extension HistoryStore {
    /// Compares messages just saved with the messages read back from the history.
    ///
    /// - Throws: `verificationFailed` for the first difference.
    func verify(_ messages: [ConversationMessage], in scope: Scope) async throws {
        var seen: Set<ByteString> = []
        // Of two messages with one ID, the first is saved.
        for message in messages where seen.insert(ByteString(message.id)).inserted {
            let kept = try await self.message(message.id, in: scope.session, agentId: scope.agentId)
            let field = kept.map { MessageDifference.field(message, $0.message) } ?? "id"
            if let field {
                throw RecollectError.verificationFailed(session: scope.sessionId, message: message.id, field: field)
            }
        }
    }
}
