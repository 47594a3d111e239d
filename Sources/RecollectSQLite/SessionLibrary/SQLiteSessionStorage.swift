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
/// The library shows the sessions of one user with the messages of all agents, and writes as one agent. It lists
/// sessions saved by an orchestrator through `DeviceChatStorage(history:userId:)`. Messages saved here are in the
/// window of the agent with this storage's agent ID.
///
/// Messages of several agents with the same ID, role and content are shown once, and edited and removed for all of
/// them. With different content, each one is shown: the first under its own ID, the others under IDs derived from
/// it and from their agents. A message of several parts is shown as several entries (see
/// `ConversationMessage.chatMessages()`). A streaming reply is the last entry, with `isComplete` false.
///
/// `updateSessionMessages` writes the difference from the transcript last saved or read by this storage. A transcript is
/// whole: a UI that keeps only the last entries of a session in memory adds the others before it saves, or they are removed.
/// - Appending costs the same for long and short sessions.
/// - It removes only messages shown or saved by this storage, so messages added by an agent meanwhile stay. An entry removed
///   by the UI is removed with later edits by other writers.
///   Messages read from a list do not count as shown: a window may have an older transcript. Two windows with one
///   session need two storages over the same history.
///   After a merge of two shown sessions, a transcript of one of them removes no messages of the other, until a transcript
///   has messages of both, or `getSession` reads them. A rename is no merge: the next transcript under the new ID removes
///   the shown messages that it lacks. Messages moved into a branch are not removed from the session after another window
///   has restored it.
/// - It writes only new entries and entries edited by the UI, so an entry deleted or edited elsewhere meanwhile
///   stays deleted or edited. An entry edited by the UI is saved again even if it was deleted elsewhere.
/// - If both have edited an entry, only the fields changed by the UI are replaced, metadata and attachments one by one. If
///   both have edited its text, the later save wins.
/// - An entry belongs to the message shown or saved as this entry, also after a merge gave the message a new ID. Another
///   message with the entry's ID is edited or removed only if it has the known content. Otherwise the edited entry becomes
///   a message of its own. The entry of a streaming reply has no known message and is found by its ID alone. A part that
///   another writer has made a message of its own is edited and removed there.
/// - A UI without tools may show a message of several parts as one entry. The changed text of this entry replaces the texts
///   that it showed, or the first one if other writers have changed all of them. Tool calls, results and other texts stay,
///   also if the entry is removed. Their own entries are removed if `getSession` returned them and a saved transcript lacks
///   them, so such a UI must save these entries, too.
/// - A removed entry saved again replaces no part of its message. Unless parts have its content, it becomes a message of its
///   own.
/// - The entry of a streaming reply is saved by the reply. Before the end, a removed one is shown again, and removed
///   fields come back: interrupt the reply first. After the end, its text counts as saved by the storage that began it
///   in a known session, also before a transcript has it. Its removal needs a transcript with the entry first.
/// - These rules hold for every session shown or saved by this storage and take 60 bytes of memory per entry.
/// - Each save is one transaction, durable at its return.
///
/// The operations of one storage on one session, except reads of lists and pages, run one after another, in the order of
/// the calls of one actor. The last transcript wins. Canceling a task while it waits for its turn throws
/// `CancellationError` and changes nothing.
///
/// Listing reads no messages. The messages of a listed session are read on first access, and a failure of this read
/// is reported only by `history.events`.
///
/// All methods may be called from any task. Only `messages` of a listed session blocks its caller.
public final class SQLiteSessionStorage: SessionStorageProtocol, Sendable {
    /// The underlying history, for operations beyond session storages: pins, tags, branches, search, changes.
    public let history: SQLiteHistoryStore
    /// The user of these sessions.
    public let userId: String
    /// The agent of new messages.
    public let agentId: String

    private let known = KnownTranscripts()
    let operations = SessionOperationQueue()

    /// Creates a library in a database of its own. Nothing is read or created before the first call.
    /// - Parameters:
    ///   - databasePath: The path of the database file. A foreign file is refused with `foreignStore` and left
    ///     untouched.
    ///   - userId: The user of these sessions.
    ///   - agentId: The agent of new messages.
    /// - Throws: `invalidArgument` for an empty path.
    public convenience init(databasePath: String, userId: String = "local", agentId: String = "") throws {
        guard !databasePath.isEmpty else {
            throw RecollectError(.invalidArgument, "the session library requires a file path for its database")
        }
        let path = NSString(string: databasePath).expandingTildeInPath
        self.init(
            history: SQLiteHistoryStore(databaseURL: URL(fileURLWithPath: path, isDirectory: false)), userId: userId,
            agentId: agentId)
    }

    /// Creates a user's library in a history shared with other views.
    public init(history: SQLiteHistoryStore, userId: String = "local", agentId: String = "") {
        self.history = history
        self.userId = userId
        self.agentId = agentId
    }

    /// Returns the identifier of a session in the history.
    public func session(_ id: String) -> SessionKey {
        SessionKey(userId: userId, sessionId: id)
    }

    // MARK: SessionStorageProtocol

    /// Saves a new session, or records the opening of a known one: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        let details = SessionDetails(isRead: true, firstMessage: firstMessage)
        try await operations.run(on: [id]) { try await touch(id, details, makes: true) }
    }

    /// Returns all sessions, the most recently accessed first: see `SessionStorageProtocol`. Reads no messages.
    ///
    /// Saves can add to messages read from the list, and edit them. Removals need `getSession` first.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        var sessions: [StoredSession] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await history.sessions(
                SessionQuery(userId: userId, order: .lastAccess), page: PageRequest(limit: 1000, after: cursor))
            sessions += page.elements.map(listed)
            cursor = page.next
        } while cursor != nil
        return sessions
    }

    /// Returns one session with its messages: see `SessionStorageProtocol`.
    ///
    /// Includes the saves and deletions called before its return: it reads again after one called meanwhile. If every
    /// read overlaps one, it returns the third one. A session moved meanwhile by this storage is returned under its new
    /// ID.
    ///
    /// The result counts as shown for the saves called after its return. So call it on the actor that saves, and show the
    /// result before the next `await`. After `nil`, a save writes its whole transcript.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        var (id, lastMove) = (id, known.beginRead())
        defer { known.endRead() }
        var count = 0
        while true {
            count += 1
            let isLast = count >= 3
            let (call, current, move) = (known.lastCall, id, lastMove)
            let (session, isCurrent) = try await operations.run(on: [current]) {
                try await read(current, since: call, lastMove: move, isLast: isLast)
            }
            if session == nil, let move = known.move(of: id, after: lastMove) {
                (id, lastMove) = (move.newId, move.call)
            } else if isCurrent || isLast {
                return session
            }
        }
    }

    /// Reads a session. Returns whether no save, move or deletion was called since.
    nonisolated(nonsending) private func read(
        _ id: String, since call: Int, lastMove: Int, isLast: Bool
    ) async throws -> (session: StoredSession?, isCurrent: Bool) {
        let key = session(id)
        guard let session = try await history.session(key), session.discardedAt == nil else {
            return (nil, known.note(nil, of: id, since: call, lastMove: lastMove, isLast: isLast))
        }
        let (messages, sequences) = try await history.transcript(of: key)
        let transcript = Transcript(messages, sequences: sequences)
        let isCurrent = known.note(transcript, of: id, since: call, lastMove: lastMove, isLast: isLast)
        return (stored(session, transcript.entries), isCurrent)
    }

    /// Records the opening of a session: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        try await operations.run(on: [id]) { try await touch(id, SessionDetails(isRead: true), makes: false) }
    }

    /// Permanently deletes a session and its branches: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        let call = known.beginCall(on: [id])
        defer { known.endCall(call, on: [id]) }
        try await operations.run(on: [id]) {
            try await history.deleteSession(session(id))
            known.forget(id)
        }
    }

    /// Permanently deletes all sessions of the user, and damaged files set aside earlier: see
    /// `SessionStorageProtocol`.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        let call = known.beginCall(on: nil)
        defer { known.endCall(call, on: nil) }
        try await operations.run(on: nil) {
            try await history.deleteUser(userId)
            known.forgetAll()
        }
    }

    /// Saves a transcript: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        try Task.checkCancellation()
        let session = session(id)
        let call = known.beginCall(on: [id])
        defer { known.endCall(call, on: [id]) }
        try await operations.run(on: [id]) {
            let entries = known.entries(of: id, beforeCall: call, saving: messages)
            let difference = TranscriptDifference(from: entries.base, to: messages)
            let kept = try await history.savingAttachments(of: Array(difference.transcript[difference.changed]))
            let now = Date().millisecondsSince1970
            let outcome = try await history.write(keeping: kept) { [agentId] changed, db, cache in
                let outcome = try SaveTranscriptOperation(
                    session: session, agentId: agentId, difference: difference, changed: changed, known: entries,
                    now: now
                ).run(db, cache.pending)
                return (outcome, outcome.orphans)
            }
            known.note(difference, outcome, of: id)
        }
        history.maintenance.noteSave()
    }

    /// Moves a session to another ID: see `SessionStorageProtocol`.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        let call = known.beginCall(on: [oldId, newId])
        defer { known.endCall(call, on: [oldId, newId]) }
        try await operations.run(on: [oldId, newId]) {
            // Without a session to move, the entries shown under the old ID may be in another session by now.
            let entries = known.entriesWithoutMessage(in: oldId)
            switch try await history.move(session(oldId), to: newId, finding: entries) {
            case .nothing: break
            case .renamed: known.rename(oldId, to: newId, call: call)
            case .merged(let replies, let found):
                known.merge(oldId, into: newId, replies: replies, found: found, call: call)
            }
        }
    }

    // MARK: Beyond the protocol

    /// Returns entries of a session by pages, with all entries of a message on one page. For UIs opening a long
    /// session at its end.
    ///
    /// These entries do not count as shown, so a save without them does not remove them. Once saved in a transcript, they
    /// count as saved like all others, and a later transcript without them removes them. To edit or remove some of them, read
    /// the session by `getSession` first.
    /// - Parameters:
    ///   - id: The session's ID.
    ///   - page: The page, counted in messages. Pass `PageRequest(limit: 100, before: nil)` for the end.
    /// - Returns: The entries in order, and the cursor of the next page.
    nonisolated(nonsending) public func messages(
        in id: String, page: PageRequest<MessageCursor>
    ) async throws -> Page<ChatMessage, MessageCursor> {
        let page = try await history.messages(of: session(id), agentId: nil, page: page)
        return Page(elements: try await history.entries(of: page.elements, in: session(id)), next: page.next)
    }

    /// Begins a streaming reply as the agent of this storage: see `StreamingReply`.
    ///
    /// The reply is shown with `isComplete` false until it ends, regardless of the value in `message`.
    nonisolated(nonsending) public func beginReply(
        in id: String, _ message: ChatMessage = ChatMessage(role: .assistant, content: "")
    ) async throws -> StreamingReply {
        var message = message
        message.isComplete = true
        let reply = ConversationMessage(message)
        let scope = session(id).scope(agentId: agentId)
        // A move called later can wait for this operation.
        let call = known.lastCall
        return try await operations.run(on: [id]) {
            var writer = try await history.saveReply(reply, in: scope)
            writer.onEnd = { [known] replies in
                for reply in replies { known.note(ended: reply.message, in: reply.scope.sessionId, begunAfter: call) }
            }
            // A save must not run between the end and its note: it would take the reply for another writer's. Nothing cancels
            // the task of the end.
            writer.runEnd = { [known, operations] end in
                var ids = [id]
                var hasEnded = false
                while !hasEnded {
                    hasEnded = try await operations.run(on: ids) {
                        // The session may have been moved before this turn.
                        let current = known.currentID(of: id, after: call)
                        guard ids.contains(where: current.hasSameBytes) else {
                            ids.append(current)
                            return false
                        }
                        try await end()
                        return true
                    }
                }
            }
            return StreamingReply(reply, scope: scope, writer: writer)
        }
    }

    /// Copies a session up to and including an entry into a new session: see `HistoryStore.fork`.
    nonisolated(nonsending) public func fork(_ id: String, at entry: UUID, into newId: String) async throws {
        try await operations.run(on: [id, newId]) {
            let (agentId, messageId) = try await message(of: entry, in: id)
            try await history.fork(session(id), at: messageId, agentId: agentId, into: newId)
        }
    }

    /// Moves an entry and all entries after it from a session into a branch. Call it before saving the transcript
    /// of an edited message or of a regenerated reply. See `HistoryStore.branch`.
    ///
    /// A branch has whole messages: it includes earlier entries of the same message.
    @discardableResult
    nonisolated(nonsending) public func branch(_ id: String, from entry: UUID) async throws -> SessionKey {
        try await operations.run(on: [id]) {
            let (agentId, messageId) = try await message(of: entry, in: id)
            let cut = try await history.cut(session(id), from: messageId, agentId: agentId)
            known.note(BranchChange(moved: Set(cut.moved), entry: entry), in: id)
            return cut.branch
        }
    }

    /// Returns the branches of a session, the oldest first: see `HistoryStore.branches`.
    nonisolated(nonsending) public func branches(of id: String) async throws -> [Session] {
        try await history.branches(of: session(id))
    }

    /// Restores a branch, and turns the messages it replaces into another branch: see `HistoryStore.restoreBranch`.
    nonisolated(nonsending) public func restoreBranch(_ branch: SessionKey, in id: String) async throws {
        try await operations.run(on: [id]) {
            known.note(try await history.restore(branch, in: session(id)), in: id)
        }
    }

    /// Removes a session from the list until it is restored: see `HistoryStore.discardSession`. Returns
    /// whether there was one.
    @discardableResult
    nonisolated(nonsending) public func discard(_ id: String) async throws -> Bool {
        try await operations.run(on: [id]) { try await history.discardSession(session(id)) }
    }

    /// Undoes `discard`. Returns whether there was a discarded session.
    @discardableResult
    nonisolated(nonsending) public func restore(_ id: String) async throws -> Bool {
        try await operations.run(on: [id]) { try await history.restoreSession(session(id)) }
    }

    /// Sets a session's title, tags, pin and other details: see `SessionDetails`. Creates the session if it is
    /// new.
    nonisolated(nonsending) public func update(_ id: String, with details: SessionDetails) async throws {
        try await operations.run(on: [id]) { try await history.update(session(id), with: details) }
    }

    private nonisolated(nonsending) func message(
        of entry: UUID, in id: String
    ) async throws -> (agentId: String, id: String) {
        let session = session(id)
        let known = known.entries(of: id)
        let owner = try await history.write { db, cache -> StoredMessage? in
            guard let number = try MessageQueries.number(of: session, db) else { return nil }
            var locations = try ChatMessageLocations(session: number, known: known, pending: cache.pending, db)
            return try locations.find(entry, db).flatMap { try MessageQueries.stored($0.message, db) }
        }
        guard let owner else {
            throw RecollectError(.notFound, "there is no message \(entry.uuidString) in session \(id)")
        }
        return (owner.agentId, owner.message.id)
    }

    // MARK: -

    nonisolated(nonsending) private func touch(_ id: String, _ details: SessionDetails, makes: Bool) async throws {
        let now = Date().millisecondsSince1970
        let session = session(id)
        try await history.write { db in
            guard let number = try MessageQueries.number(of: session, db) else {
                guard makes else { return }
                try SessionEdits.update(session, with: details, now: now, db)
                return try SessionEdits.access(session, now: now, db)
            }
            if try db.integer("SELECT discarded_at FROM session WHERE id = ?", number) != nil {
                guard makes else { return }
                try SessionRow.restore(number, db)
            }
            try SessionEdits.update(session, with: details, now: now, db)
            try SessionEdits.access(session, now: now, db)
        }
    }

    private func listed(_ session: Session) -> StoredSession {
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

    private func stored(_ session: Session, _ messages: [ChatMessage]) -> StoredSession {
        StoredSession(
            id: session.id.sessionId, createdAt: session.createdAt,
            firstUserMessage: session.firstMessage ?? session.preview,
            lastAccessedAt: session.lastAccessedAt, messages: messages, workingDirectory: session.workingDirectory,
            branchName: session.branchName)
    }
}
