import RecollectCore

/// Saves the increments of one streaming reply in its history. The lock is released at the end of the
/// reply, or with the last copy of this writer.
struct HistoryReplyWriter: ReplyWriter {
    let history: SQLiteHistoryStore
    let reply: ReplyRowID
    let scope: Scope
    /// The budget for trimming the scope's window at the end of the reply.
    let maxMessages: Int?
    /// `nil` in memory, because other processes cannot find the reply.
    let lock: ReplyWriterLock?
    /// Called at the end of the reply with the message as saved and as given, before `finish` returns.
    var onEnd: (@Sendable ([SavedReply]) -> Void)?
    /// Runs the end of the reply, with `onEnd`, in its order among other operations on the session.
    var runEnd: @Sendable (_ end: @Sendable () async throws -> Void) async throws -> Void = { try await $0() }

    func save(_ text: String?, behind parts: [ContentPart]?) async throws {
        try parts?.checkSavable()
        try await history.write { [reply] in try StreamingReplies.save(text, behind: parts, of: reply, $0) }
    }

    func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
        try await runEnd {
            let saved = try await history.endReply(
                reply, begunIn: scope, as: message, isAppended: isAppended, maxMessages: maxMessages)
            onEnd?(saved)
        }
        await lock?.end()
    }
}
