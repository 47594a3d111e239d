import Foundation
import GRDB
import RecollectCore

/// The session library of a chat UI over a SQLite history: the `SessionStorageProtocol` view.
///
/// ```swift
/// let history = SQLiteHistoryStore()
/// let sessions = SQLiteSessionStorage(history: history, userId: user.id)
/// ```
///
/// It shows the conversations of one user with the messages of all agents, and writes as one agent: what an orchestrator saves
/// through `DeviceChatStorage(history:userId:)` is listed here, and what a UI saves here an agent of that id is given. What
/// several agents hold under one id is shown once where role and content are equal, edited and removed for all of them; where
/// they differ each is shown, the first under its own id and the others under ids derived from that and their agents. A
/// message of several parts is shown as several entries (see `ConversationMessage.chatMessages()`); a reply in flight is the
/// last entry, not complete.
///
/// `updateSessionMessages` writes the difference to what this storage has saved or read before: appending to a long session
/// costs what appending to a short one does. It removes only messages that this storage has shown or saved, so what an agent
/// added meanwhile stays. Messages read from a list do not count as shown: a window may have
/// an older transcript. Two windows with one session need two storages over the same history. It writes only new entries and those edited by the UI, so an entry deleted or edited elsewhere
/// meanwhile stays deleted or edited. An entry edited by the UI is saved again even if it was deleted elsewhere. This holds for
/// every session shown or saved by this storage and takes 24 bytes of memory for each entry. Each save is one transaction, durable when it returns; saves of one session that overlap lose
/// nothing. Listing reads no messages; those of a listed session are read when they are asked for, and a failure of that is
/// told by `history.events` alone.
///
/// May be called from any task. Nothing blocks the caller but `messages` of a listed session.
public final class SQLiteSessionStorage: SessionStorageProtocol, Sendable {
    /// The history below, for everything that a session storage has no method for: pins, tags, branches, search, changes.
    public let history: SQLiteHistoryStore
    /// The user whose sessions these are.
    public let userId: String
    /// The agent that new messages are saved as.
    public let agentId: String

    private let known = KnownTranscripts()

    /// Opens a library in a database of its own; nothing is read or made before the first call.
    /// - Parameters:
    ///   - databasePath: the database's file; a file that Recollect did not write is refused with `foreignStore` and left untouched.
    ///   - userId: the user whose sessions these are.
    ///   - agentId: the agent that new messages are saved as.
    /// - Throws: `invalidArgument` for an empty path.
    public convenience init(databasePath: String, userId: String = "local", agentId: String = "") throws {
        guard !databasePath.isEmpty else {
            throw RecollectError(.invalidArgument, "the session library needs the path of a file for its database")
        }
        let path = NSString(string: databasePath).expandingTildeInPath
        self.init(
            history: SQLiteHistoryStore(databaseURL: URL(fileURLWithPath: path, isDirectory: false)), userId: userId,
            agentId: agentId)
    }

    /// A user's library in a history that other views share.
    public init(history: SQLiteHistoryStore, userId: String = "local", agentId: String = "") {
        self.history = history
        self.userId = userId
        self.agentId = agentId
    }

    /// The conversation that a session is.
    public func conversation(_ id: String) -> ConversationID {
        ConversationID(userId: userId, sessionId: id)
    }

    // MARK: SessionStorageProtocol

    /// Saves a new session, or notes that a known one was opened: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        let details = ConversationDetails(isRead: true, firstMessage: firstMessage)
        try await touch(id, details, makes: true)
    }

    /// All sessions, the last accessed first: see `SessionStorageProtocol`. Reads no messages.
    ///
    /// Saves can add to messages read from the list, and edit them. Removals need `getSession` first.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        var sessions: [StoredSession] = []
        var cursor: ConversationCursor?
        repeat {
            let page = try await history.conversations(
                ConversationQuery(userId: userId, order: .lastAccess), page: PageRequest(limit: 1000, after: cursor))
            sessions += page.elements.map(listed)
            cursor = page.next
        } while cursor != nil
        return sessions
    }

    /// One session with its messages: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        let conversation = conversation(id)
        let reading = known.beginReading(id)
        guard let session = try await history.conversation(conversation), session.discardedAt == nil else {
            // Who is shown no session and then saves one of that id takes nothing away: a discarded one keeps its messages.
            known.forget(id)
            return nil
        }
        let messages = try await history.transcript(of: conversation)
        let transcript = Transcript(try await history.restoringAttachments(of: messages))
        known.finish(reading, with: transcript)
        return stored(session, transcript.entries)
    }

    /// Notes that a session was opened: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        try await touch(id, ConversationDetails(isRead: true), makes: false)
    }

    /// Deletes a session for good, its branches too: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        known.forget(id)
        try await history.deleteConversation(conversation(id))
    }

    /// Deletes all sessions of the user for good: see `SessionStorageProtocol`. Damaged files that were set aside go too.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        known.forgetAll()
        try await history.deleteUser(userId)
    }

    /// Saves a transcript: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try Task.checkCancellation()
        let saving = known.beginSaving(id, messages)
        let difference = saving.difference
        let kept = try await history.keepingAttachments(of: Array(difference.transcript[difference.changed]))
        let conversation = conversation(id)
        let now = Date().millisecondsSince1970
        let outcome = try await history.write(keeping: kept) { [agentId] changed, db, cache in
            let outcome = try TranscriptSaving(
                conversation: conversation, agentId: agentId, difference: difference, changed: changed,
                owners: saving.owners, now: now
            ).run(db, cache.unsettled)
            return (outcome, outcome.orphans)
        }
        known.finish(saving, owners: outcome.owners)
        history.upkeep.noteSave()
    }

    /// Gives a session another id: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        try await history.moveConversation(conversation(oldId), to: newId)
        known.move(oldId, to: newId)
    }

    // MARK: Beyond the protocol

    /// Entries of a session by pages, those of a message together: for a UI that opens a long session at its end.
    ///
    /// - Parameters:
    ///   - id: the session's id.
    ///   - page: counts messages. Give `PageRequest(limit: 100, before: nil)` for the end.
    /// - Returns: the entries in order, and where the next page goes on.
    nonisolated(nonsending) public func messages(
        in id: String, page: PageRequest<MessageCursor>
    ) async throws -> Page<ChatMessage, MessageCursor> {
        let page = try await history.messages(of: conversation(id), agentId: nil, page: page)
        return Page(elements: try await history.entries(of: page.elements, in: conversation(id)), next: page.next)
    }

    /// Begins a reply that is kept while it streams, as the agent of this storage: see `ReplyDraft`.
    ///
    /// It is shown with `isComplete` false until it ends, and so need not say it itself.
    nonisolated(nonsending) public func beginReply(
        in id: String, _ message: ChatMessage = ChatMessage(role: .assistant, content: "")
    ) async throws -> ReplyDraft {
        var message = message
        message.isComplete = true
        return try await history.beginReply(ConversationMessage(message), in: conversation(id).scope(agentId: agentId))
    }

    /// Copies a session up to and including an entry into a new session: see `HistoryStore.fork`.
    nonisolated(nonsending) public func fork(_ id: String, at entry: UUID, into newId: String) async throws {
        let (agentId, messageId) = try await message(of: entry, in: id)
        try await history.fork(conversation(id), at: messageId, agentId: agentId, into: newId)
    }

    /// Takes an entry and all that follows it out of a session and keeps them as a branch: call it before the transcript of an
    /// edited message, or of a reply that is generated anew, is saved. See `HistoryStore.branch`.
    ///
    /// What is kept are whole messages: the entries before it that belong to the same message go along.
    @discardableResult
    nonisolated(nonsending) public func branch(_ id: String, from entry: UUID) async throws -> ConversationID {
        let (agentId, messageId) = try await message(of: entry, in: id)
        return try await history.branch(conversation(id), from: messageId, agentId: agentId)
    }

    /// The branches of a session, the oldest first: see `HistoryStore.branches`.
    nonisolated(nonsending) public func branches(of id: String) async throws -> [Conversation] {
        try await history.branches(of: conversation(id))
    }

    /// Brings a branch back, and keeps what makes way for it as another: see `HistoryStore.restoreBranch`.
    nonisolated(nonsending) public func restoreBranch(_ branch: ConversationID, in id: String) async throws {
        try await history.restoreBranch(branch, in: conversation(id))
    }

    /// Takes a session out of the list so that it can be restored: see `HistoryStore.discardConversation`. Returns whether there
    /// was one.
    @discardableResult
    nonisolated(nonsending) public func discard(_ id: String) async throws -> Bool {
        try await history.discardConversation(conversation(id))
    }

    /// Undoes `discard`. Returns whether there was a discarded one.
    @discardableResult
    nonisolated(nonsending) public func restore(_ id: String) async throws -> Bool {
        try await history.restoreConversation(conversation(id))
    }

    /// Sets a title, tags, pin and what else a list shows of a session: see `ConversationDetails`. Makes it if it is new.
    nonisolated(nonsending) public func update(_ id: String, with details: ConversationDetails) async throws {
        try await history.update(conversation(id), with: details)
    }

    private nonisolated(nonsending) func message(
        of entry: UUID, in id: String
    ) async throws -> (agentId: String, id: String) {
        let conversation = conversation(id)
        let owner = try await history.write { db, cache -> StoredMessage? in
            guard let number = try MessageQueries.number(of: conversation, db) else { return nil }
            var places = try EntryPlaces(conversation: number, owners: nil, unsettled: cache.unsettled, db)
            return try places.find(entry, db).flatMap { try MessageQueries.stored($0.message, db) }
        }
        guard let owner else {
            throw RecollectError(.notFound, "there is no entry \(entry.uuidString) in session \(id)")
        }
        return (owner.agentId, owner.message.id)
    }

    // MARK: -

    nonisolated(nonsending) private func touch(_ id: String, _ details: ConversationDetails, makes: Bool) async throws {
        let now = Date().millisecondsSince1970
        let conversation = conversation(id)
        try await history.write { db in
            guard let number = try MessageQueries.number(of: conversation, db) else {
                guard makes else { return }
                try ConversationEdits.update(conversation, with: details, now: now, db)
                return try ConversationEdits.access(conversation, now: now, db)
            }
            if try db.integer("SELECT discarded_at FROM conversation WHERE id = ?", number) != nil {
                guard makes else { return }
                try ConversationEdits.restore(number, db)
            }
            try ConversationEdits.update(conversation, with: details, now: now, db)
            try ConversationEdits.access(conversation, now: now, db)
        }
    }

    private func listed(_ session: Conversation) -> StoredSession {
        StoredSession(
            id: session.id.sessionId, createdAt: session.createdAt,
            firstUserMessage: session.firstMessage ?? session.preview,
            lastAccessedAt: session.lastAccessedAt, workingDirectory: session.workingDirectory,
            branchName: session.branchName
        ) { [history] in
            do {
                return Transcript(try history.transcriptNow(of: session.id)).entries
            } catch {
                history.configuration.logger.error("the messages of a listed session cannot be read: \(error)")
                history.events.post(StoreEvent(kind: .unreadableSession, scope: session.id.scope(agentId: "")))
                return []
            }
        }
    }

    private func stored(_ session: Conversation, _ messages: [ChatMessage]) -> StoredSession {
        StoredSession(
            id: session.id.sessionId, createdAt: session.createdAt,
            firstUserMessage: session.firstMessage ?? session.preview,
            lastAccessedAt: session.lastAccessedAt, messages: messages, workingDirectory: session.workingDirectory,
            branchName: session.branchName)
    }
}
