import Foundation
import RecollectCore

/// Brings transcripts into a history: files and folders of Claude Code, exports of a history, folders of Agent Squad's file
/// storage, and whatever other kinds it is given (`ClaudeCodeUIKind` of RecollectSQLite).
///
/// Each line that is conversation becomes one message, in the order of its file; files are taken in the order of their
/// paths, a session's own before its sub-agents'. Importing again adds only what is new, also while a file is still being
/// written: a message whose id its scope holds already stays as it is. What cannot be read is reported and never stops the
/// rest. Files are not trusted: links are not followed, and sizes, depths and counts are bounded.
///
/// A session gets the title of a `summary` line whose last message it holds, the working directory and branch of its first
/// message, and from an export what that says of it; tags, pin and archive only where the session comes new, as its file says before
/// the first message. A session without such a title whose first words are not its user's but Claude Code's gets the command
/// that was typed, or the first thing that was said. What a person set themselves is never replaced. Sessions that come new, and
/// those in which all was read before, count as read: old transcripts are no news.
///
/// A folder of Agent Squad's names the users itself: theirs the sessions become, whatever `userId` says.
///
/// One batch is read and decoded while the one before it is saved, so two cores are busy and at most two batches are held.
public struct TranscriptImporter: Sendable {
    /// Where the messages go.
    public let history: any HistoryStore
    /// The user whose sessions they become.
    public let userId: String
    /// The kinds of history that are looked for beside files of lines; the first that knows a path reads it.
    public let kinds: [any TranscriptKind]
    /// Whether every new message is read back and compared after it was saved.
    public var verifies = false
    /// The most messages that are saved at once.
    public var batchSize = 500

    /// Makes an importer.
    public init(history: any HistoryStore, userId: String, kinds: [any TranscriptKind] = [AgentSquadKind()]) {
        self.history = history
        self.userId = userId
        self.kinds = kinds
    }

    /// Imports all that is below the paths; `progress` is called after each batch, on any thread.
    ///
    /// Cancelling the task ends the import after the batch under way; what was saved stays. Importing again ends with the same
    /// sessions as an import that was not interrupted, however this one was.
    /// - Throws: `notFound`, `permissionDenied`, `unreadable` or `invalidArgument` for a path that cannot be imported, before
    ///   anything is saved; `notKept` where `verifies` finds a difference; what the history throws.
    public func run(
        _ paths: [String], progress: @Sendable (ImportProgress) -> Void = { _ in }
    ) async throws -> ImportReport {
        let source = TranscriptSource(paths: paths, kinds: kinds, userId: userId, batchSize: batchSize)
        var report = ImportReport()
        var sessions = ImportedSessions()
        var batch = try await source.next()
        while let current = batch {
            try Task.checkCancellation()
            async let following = source.next()
            sessions.note(current)
            try await sessions.prepare(current, in: history)
            for outcome in try await save(current) {
                report.added += outcome.added
                report.unchanged += outcome.known
            }
            report.count(current)
            progress(
                ImportProgress(
                    bytesRead: current.bytesRead, bytesTotal: current.bytesTotal, messages: report.messages))
            batch = try await following
        }
        report.sessions = sessions.count
        report.users = sessions.users
        try await sessions.update(history)
        return report
    }

    /// Saves a batch: each session's messages in order, different sessions at once, so that they share their commits.
    private func save(_ batch: TranscriptBatch) async throws -> [AppendOutcome] {
        try await withThrowingTaskGroup(of: AppendOutcome.self) { group in
            for session in batch.sessions {
                group.addTask { [history, verifies] in
                    var total = AppendOutcome()
                    for (scope, messages) in session {
                        let outcome = try await history.append(
                            messages, to: scope, options: AppendOptions(staysRead: true))
                        // Of a batch that was known in part nobody can tell what is new.
                        if verifies, outcome.known == 0 { try await history.verify(messages, in: scope) }
                        total.added += outcome.added
                        total.known += outcome.known
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
        messages += batch.messageCount
        unfinished += batch.unfinished
        batch.unreadable.forEach { add($0) }
        batch.others.forEach { add(notConversation: $0) }
    }
}
