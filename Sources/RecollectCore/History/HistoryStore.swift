import Foundation

/// A history of messages, the common base of chat stores, the session library, the command line and sync.
///
/// ```swift
/// let scope = Scope(userId: "ana", sessionId: "trip", agentId: "planner")
/// try await history.append([ConversationMessage(role: .user, text: "Plan a trip.")], to: scope)
/// try await history.update(scope.session, with: SessionDetails(title: "Tromsø", isPinned: true))
/// let newest = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 50, before: nil))
/// ```
///
/// All methods can be called from any task at any time, and never block the calling thread. Writes are atomic and,
/// as far as the store declares it, durable when they return. A task canceled before its write was accepted has
/// written nothing and gets `CancellationError`. After that point, cancellation has no effect, and the method
/// returns or throws the real result. All other errors are `RecollectError`s.
///
/// An ID identifies one message of an agent; several agents of a session can each have a message with the same ID.
/// `edit` and `deleteMessages` apply to all of them. `message`, `fork` and `branch` also take the agent; without
/// one they use the first message in the session's order.
public protocol HistoryStore: Sendable {
    /// The events of this store, about its own actions.
    var events: StoreEvents { get }

    // MARK: Writing

    /// Appends a batch to a scope in order, completely or not at all. `options` can exclude messages. In the session, the
    /// messages are put between those of other agents by their timestamps.
    ///
    /// A message whose ID is already in the scope keeps its first content and its position. The same message can be
    /// appended for several agents of a session; each of them then has its own copy.
    /// - Throws: `tooLarge` for a value nested deeper than `JSONValue.depthLimit`; so do `update`, `edit` and
    ///   streaming replies.
    @discardableResult
    func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome

    /// Sets details of a session; fields with `nil` stay unchanged.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - details: The new details.
    ///   - createIfMissing: Whether to create a missing session. User interfaces should pass `false`: a session deleted by
    ///     another process would otherwise come back, empty.
    /// - Returns: Whether the session exists.
    @discardableResult
    func update(
        _ session: SessionKey, with details: SessionDetails, createIfMissing: Bool
    ) async throws -> Bool

    /// Copies a session up to and including a message into a new session of the same user.
    ///
    /// Copies keep their IDs, so a search shows a copied message once.
    /// - Parameters:
    ///   - session: The session to copy.
    ///   - messageId: The ID of the last message to copy.
    ///   - agentId: The agent of the message; `nil` means the first message with this ID.
    ///   - newSessionId: The ID of the new session.
    /// - Throws: `notFound` for an unknown message, `invalidArgument` if the new session already has messages.
    func fork(
        _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws

    /// Replaces the content of messages in a session. They keep their positions, agents and IDs; unknown IDs are
    /// ignored.
    ///
    /// If several agents have a message with an ID, each of them gets the content. A message with identical content
    /// is left unchanged. The previous content is deleted permanently; `branch` preserves it.
    /// - Returns: The number of messages found.
    @discardableResult
    func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int

    /// Replaces the content of messages, unless it was changed since it was read.
    ///
    /// An edit applies to each agent with a message of its ID and content. As `edit(_:in:)` otherwise; all edits are made
    /// in one step.
    /// - Returns: The edits with at least one message.
    @discardableResult
    func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit]

    /// Moves a session to another session ID, with its messages, attachments, details and branches.
    ///
    /// If a session with the new ID exists, the two are merged. The messages of the old session come first, and each ID
    /// of an agent occurs once. A message with different content in both keeps that of the new session; the old content
    /// follows it under a new ID (`ConversationMessage.copyId`). Details missing in the new session are taken from the
    /// old one, and tags are combined. An agent's window continues to begin after the last message outside the windows of
    /// both sessions, so it may begin after all messages of the old one. Nothing happens if there is no session with the
    /// old ID, or if both IDs are equal.
    /// - Returns: Whether a session was moved.
    @discardableResult
    func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool

    /// Moves the messages from one message on out of a session into a branch, before an edit or a retry.
    ///
    /// A branch is a separate session with the returned ID, hidden from all lists. It contains only the different
    /// messages; its `branchPoint` is the point at which it left its session. Search includes branches. Streaming replies
    /// follow all messages, so those of the moved messages' agents move with them.
    /// - Parameters:
    ///   - session: The session.
    ///   - messageId: The ID of the first message to move.
    ///   - agentId: The agent of the message; `nil` means the first message with this ID.
    /// - Throws: `notFound` for an unknown message.
    func branch(
        _ session: SessionKey, from messageId: String, agentId: String?
    ) async throws -> SessionKey

    /// Returns the branches of a session, the oldest first.
    func branches(of session: SessionKey) async throws -> [Session]

    /// Restores a branch in one step; the session's messages after the branch point become a branch themselves.
    ///
    /// If the message at the branch point was deleted, all messages positioned after the branch's first message are
    /// replaced. Messages of the branch get new IDs where the session has used theirs since for the same agents, as
    /// in a merge of sessions.
    /// - Throws: `notFound` if it is not a branch of the session, or if the message at the branch point is in
    ///   another branch.
    func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws

    /// Removes a session from all lists and searches.
    ///
    /// The store's `retention` decides for how long it can be restored: without a limit, or for some days after the
    /// discard. With a retention of windows only, it is deleted permanently at once. Appending a new
    /// message to a discarded session also restores it.
    /// - Returns: Whether the session existed.
    @discardableResult
    func discardSession(_ session: SessionKey) async throws -> Bool

    /// Restores a discarded session.
    /// - Returns: Whether there was such a discarded session.
    @discardableResult
    func restoreSession(_ session: SessionKey) async throws -> Bool

    /// Begins a streaming reply: see `StreamingReply`. A missing session or scope is created.
    ///
    /// - Parameters:
    ///   - message: The reply as far as it is known: its ID, role, timestamp, metadata and first text.
    ///   - scope: The scope of the finished message.
    ///   - maxMessages: The budget for the scope's window. The window is trimmed in the same step in which the
    ///     reply becomes a message; `nil` trims nothing. A reply whose process has ended trims nothing either.
    /// - Throws: `invalidArgument` if the scope has a streaming reply with this ID, a complete one with any content, an
    ///   interrupted one with content not at the beginning of `message`, or a message of another role. Streaming
    ///   replies and messages without an agent count for every agent.
    func beginReply(_ message: ConversationMessage, in scope: Scope, maxMessages: Int?) async throws -> StreamingReply

    /// Returns the saved state of a session's streaming replies, of this and other processes, the oldest first.
    ///
    /// They have `isStreaming` set and follow all messages.
    func streamingReplies(in session: SessionKey) async throws -> [AgentMessage]

    /// Deletes messages permanently, including their index entries, for every agent with a message of that ID.
    /// Unknown IDs are ignored.
    /// - Returns: The number of messages found.
    @discardableResult
    func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int

    /// Deletes messages permanently, unless they were changed since they were read.
    ///
    /// Applies to each agent with a message of this ID and content. All messages are deleted in one step, with their index
    /// entries, and with attachments without other uses.
    /// - Returns: The messages deleted for at least one agent.
    @discardableResult
    func delete(_ messages: [ConversationMessage], in session: SessionKey) async throws -> [ConversationMessage]

    /// Deletes a session permanently: its messages, index entries, and attachments without other uses.
    /// - Returns: Whether the session existed.
    @discardableResult
    func deleteSession(_ session: SessionKey) async throws -> Bool

    /// Deletes all data of a user permanently, and erases files set aside as damaged.
    func deleteUser(_ userId: String) async throws

    // MARK: Windows for agents

    /// Returns the last messages of a scope's window in order, as `ChatStorage.fetch` does. `maxMessages` means the
    /// same as there.
    func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage]

    /// Returns the last messages of a scope without incomplete exchanges: a result is left out if its call is
    /// outside the window.
    func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage]

    /// Returns the messages of a scope for a model within a budget of tokens: the instructions, the summary of the
    /// compaction in effect, the turns with pinned messages, and the newest turns; see `ChatStorage.window`. By default, this
    /// reads all messages of the scope.
    /// - Parameters:
    ///   - tokens: The maximum sum of the messages' tokens. 0 or less returns an empty array.
    ///   - counter: Counts the tokens of a message.
    func window(of scope: Scope, tokens: Int, counter: TokenCounter) async throws -> [ConversationMessage]

    /// Returns the windows of all agents of a session, for merging by `ChatStorage.fetchAllChats`.
    func windows(of session: SessionKey) async throws -> [AgentMessages]

    /// Returns the version of a session's windows, for a chat store over this history: see `ChatStorage`.
    /// - Returns: `nil` if the history has no versions, as by default.
    func version(of session: SessionKey) async throws -> ChatVersion?

    // MARK: Turns

    /// Waits for the lease of a session, after all earlier ones: see `TurnLease`. `withLease` is the usual way to run a turn.
    ///
    /// A canceled call gets no lease.
    /// - Parameters:
    ///   - session: The session. It need not exist.
    ///   - duration: The time after which the lease of a process that renews nothing is lost: a second to an hour.
    /// - Returns: `nil` if the store does not support leases, as by default.
    /// - Throws: `invalidArgument` inside a turn with a lease of the session, which would wait for itself, and for another
    ///   duration; `timedOut` after the duration inside a turn of another session, because both may wait for each other; errors of
    ///   the store.
    func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease?

    // MARK: Compactions

    /// Saves a summary in place of the first messages not covered by a compaction: see `Compaction`. The messages stay
    /// unchanged. The check of the messages and the save are one step.
    ///
    /// A compaction follows its last covered message: a branch from one of its messages takes it out of the session until the
    /// branch is restored, a moved session keeps it, and a fork copies it with this message. It is removed for good
    /// if a covered message is deleted permanently, or edited in its role or parts. So is each one of an agent with messages
    /// in both sessions of a merge. A trim keeps it.
    /// - Parameters:
    ///   - messages: The summarized messages: the first ones of `compacted`, without gaps. They may begin with the
    ///     instructions, which are not covered.
    ///   - scope: The scope of the messages.
    ///   - summary: The text in place of these and of all messages covered before.
    ///   - author: The writer of the summary: the name of a model or a program.
    ///   - previousId: The ID of the compaction in effect when the messages were read; `nil` for none.
    /// - Throws: `invalidArgument` for an empty summary or no messages, or if the last one is inside a tool exchange;
    ///   `notFound` without the last message; `conflict` if the other messages or the compaction have changed.
    @discardableResult
    func compact(
        _ messages: [ConversationMessage], of scope: Scope, into summary: String, by author: String,
        after previousId: String?
    ) async throws -> Compaction

    /// Returns the messages of a scope's window with the compaction in effect, in one step.
    func compactedMessages(of scope: Scope) async throws -> CompactedMessages

    /// Returns the compactions of a scope, the oldest first. The last one is in effect.
    func compactions(of scope: Scope) async throws -> [Compaction]

    /// Removes a compaction permanently. If it was in effect, the one before is in effect again.
    /// - Returns: Whether there was such a compaction.
    @discardableResult
    func removeCompaction(_ id: String, of scope: Scope) async throws -> Bool

    // MARK: Lists and search

    /// Returns a page of a user's sessions in any order, without reading messages.
    func sessions(_ query: SessionQuery, page: PageRequest<SessionCursor>) async throws
        -> Page<Session, SessionCursor>

    /// Returns a session, including discarded ones and branches; `nil` if there is none.
    func session(_ session: SessionKey) async throws -> Session?

    /// Returns at most `limit` sessions of a user whose session ID begins with the bytes of `prefix`, ordered by
    /// ID.
    func sessions(of userId: String, sessionIdPrefix prefix: String, limit: Int) async throws -> [Session]

    /// Returns a page of a session's messages in its order, of one agent or all, in either direction.
    ///
    /// An agent's messages are in the order of saving. Those of several agents are merged by timestamp (rule 5), so a message
    /// saved later may come before the cursor: see `changes(after:)`.
    func messages(of session: SessionKey, agentId: String?, page: PageRequest<MessageCursor>) async throws
        -> Page<StoredMessage, MessageCursor>

    /// Returns the message of an agent, or without one the first in the session's order; `nil` if there is none.
    func message(_ id: String, in session: SessionKey, agentId: String?) async throws -> StoredMessage?

    /// Returns the bytes of an attachment of a user's messages or streaming replies by hash.
    /// - Throws: `notFound` if the bytes are missing, or if no message of the user has the attachment; `damaged` if their hash
    ///   is different.
    func attachment(sha256: String, userId: String) async throws -> Data

    /// Searches a user's messages in all sessions, for all agents, the best matches first. Any text is a valid
    /// query.
    ///
    /// Messages of several agents in a session with the same ID, role and content count as one.
    func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor>

    // MARK: Changes

    /// Returns the current end of the change feed.
    func latestChangeCursor() async throws -> ChangeCursor

    /// Returns at most `limit` changes after a cursor, in order. A cursor stays valid across restarts. Changes of messages have
    /// the positions of their additions: two messages of one ID have different ones.
    func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange]

    /// Returns a stream of the changes after a cursor: this process's at once, other processes' within a second.
    func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error>
}
