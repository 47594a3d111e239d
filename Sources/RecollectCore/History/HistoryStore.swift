import Foundation

/// The engine's interface: one history that chat storage, the session library, the command line and sync are views of.
///
/// All methods may be called from any task at any time; none blocks the thread it is called on. Writes are atomic and, as
/// far as the store declares it, durable when they return. A task that is cancelled before its write was taken has written
/// nothing and gets `CancellationError`; after that it gets the true result. Failures are `RecollectError`s.
///
/// An id is one message of an agent; several agents of a conversation may each hold a message of the same id. `edit` and
/// `deleteMessages` apply to all of them. `message`, `fork` and `branch` take the agent, too; without one they take the first in the
/// conversation's order.
public protocol HistoryStore: Sendable {
    /// Where the store tells what it did of its own accord.
    var events: StoreEvents { get }

    // MARK: Writing

    /// Appends a batch to a scope in order, whole or not at all; every message is kept unless `options` say otherwise.
    ///
    /// A message whose id the scope already holds keeps its first content and its place. The same message may be appended for
    /// several agents of a session; each of them holds it under its own id.
    /// - Throws: `tooLarge` for a value nested deeper than the history keeps (`JSONValue.depthLimit`), as `update`, `edit` and replies do.
    @discardableResult
    func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome

    /// Sets what is known of a conversation beside its messages; `nil` fields stay as they are. Returns whether there is such a
    /// conversation.
    ///
    /// - Parameter makesNew: whether one that is not there is made. Who shows conversations says no: one that another process has
    ///   deleted meanwhile would come back, empty.
    @discardableResult
    func update(
        _ conversation: ConversationID, with details: ConversationDetails, makesNew: Bool
    ) async throws -> Bool

    /// Copies a conversation up to and including a message into a new session of the same user.
    ///
    /// Copies keep their ids, so that a search shows a copied message once.
    /// - Parameter agentId: the agent of the message; `nil` means the first message of that id.
    /// - Throws: `notFound` for an unknown message, `invalidArgument` where the new session already has messages.
    func fork(
        _ conversation: ConversationID, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws

    /// Gives messages that the conversation holds new content; they keep their places, agents and ids. Unknown ids are passed
    /// over. Returns how many messages there were.
    ///
    /// Where several agents hold a message of an id, each gets the content. A message that already has it is left alone. What was there before is gone for good; `branch` keeps it.
    @discardableResult
    func edit(_ messages: [ConversationMessage], in conversation: ConversationID) async throws -> Int

    /// Gives a conversation another session id; its messages, attachments, details and branches move along.
    ///
    /// If there is a session of the new id, the two become one: the old one's messages first, each id of an agent once. A message
    /// that an agent has in both with different content stays as the new session has it, and the old content follows it under
    /// an id of its own (`ConversationMessage.copyId`). Details that the new session lacks are taken from the old one, tags united.
    /// Nothing happens if there is no session of the old id, or both are the same. Returns whether anything moved.
    @discardableResult
    func moveConversation(_ conversation: ConversationID, to newSessionId: String) async throws -> Bool

    /// Takes the messages from one on out of a conversation and keeps them as a branch: before a message is edited and what
    /// follows it said anew, or a reply is regenerated.
    ///
    /// A branch is a conversation of its own, a session of the id that is returned, that no list shows; it holds only what
    /// differs, and tells in `branchOf` where it left. Search finds what is in it.
    /// - Parameter agentId: the agent of the message; `nil` means the first message of that id.
    /// - Throws: `notFound` for an unknown message.
    func branch(
        _ conversation: ConversationID, from messageId: String, agentId: String?
    ) async throws -> ConversationID

    /// The branches of a conversation, the oldest first.
    func branches(of conversation: ConversationID) async throws -> [Conversation]

    /// Brings a branch back: what the conversation has said since that place becomes a branch in its turn, in one step.
    ///
    /// Where the message after which it left was deleted, what was said after the branch's first message makes way. Messages of
    /// the branch whose ids the conversation has taken since for the same agents get ids of their own, as when sessions become one.
    /// - Throws: `notFound` where it is no branch of the conversation, or the message after which it left is in another branch.
    func restoreBranch(_ branch: ConversationID, in conversation: ConversationID) async throws

    /// Takes a conversation out of every list and search, so that it can be restored as long as `retention` keeps it: for ever,
    /// for some days after it was discarded, or, where only windows are kept, not at all: then it is deleted for good.
    ///
    /// Appending to it brings it back. Returns whether there was one.
    @discardableResult
    func discardConversation(_ conversation: ConversationID) async throws -> Bool

    /// Undoes `discardConversation`. Returns whether there was a discarded one.
    @discardableResult
    func restoreConversation(_ conversation: ConversationID) async throws -> Bool

    /// Begins a reply that is kept while it streams: see `ReplyDraft`. Its conversation and scope are made if they are new.
    ///
    /// - Parameters:
    ///   - message: the reply as far as it is known: its id, role, timestamp, metadata and what has already been said.
    ///   - scope: where it becomes a message.
    ///   - maxMessages: the budget that the scope's window is trimmed to in the step that makes it a message; `nil` moves nothing.
    ///     A reply whose process ended trims nothing.
    /// - Throws: `invalidArgument` where a reply of that id is in flight in that scope.
    func beginReply(_ message: ConversationMessage, in scope: Scope, maxMessages: Int?) async throws -> ReplyDraft

    /// The replies in flight of a conversation, the oldest first, as far as they are kept, with `isInFlight` set; of this and
    /// of other processes. They follow all messages.
    func repliesInFlight(in conversation: ConversationID) async throws -> [(
        agentId: String, message: ConversationMessage
    )]

    /// Deletes messages for good, from every index too, each id for every agent that holds it; unknown ids are passed over. Returns
    /// how many messages there were.
    @discardableResult
    func deleteMessages(_ ids: [String], in conversation: ConversationID) async throws -> Int

    /// Deletes a conversation for good: messages, attachments that nothing else uses, index entries.
    @discardableResult
    func deleteConversation(_ conversation: ConversationID) async throws -> Bool

    /// Deletes all that is kept of a user for good, and erases what was set aside as damaged.
    func deleteUser(_ userId: String) async throws

    // MARK: What an agent is given

    /// The last messages of a scope's window in order: what `ChatStorage.fetch` gives. The budget is `ChatStorage`'s.
    func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage]

    /// The last messages of a scope without any half of a tool exchange: a result whose call was cut goes with it.
    func wholeWindow(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage]

    /// The windows of all agents of a conversation: what `ChatStorage.fetchAllChats` merges.
    func windows(of conversation: ConversationID) async throws -> [(agentId: String, messages: [ConversationMessage])]

    // MARK: What a library shows

    /// Conversations of a user in any order, by pages. A page reads no messages.
    func conversations(_ query: ConversationQuery, page: PageRequest<ConversationCursor>) async throws
        -> Page<Conversation, ConversationCursor>

    /// One conversation, a discarded one or a branch too; `nil` if there is none.
    func conversation(_ conversation: ConversationID) async throws -> Conversation?

    /// Conversations of a user whose session id begins with `prefix` in bytes, at most `limit`, in order of their ids.
    func conversations(of userId: String, sessionIdPrefix prefix: String, limit: Int) async throws -> [Conversation]

    /// Messages of a conversation in the order of saving, those of one agent or of all, by pages in either direction.
    func messages(of conversation: ConversationID, agentId: String?, page: PageRequest<MessageCursor>) async throws
        -> Page<StoredMessage, MessageCursor>

    /// One message: that of an agent, or without one the first in the conversation's order; `nil` if there is none.
    func message(_ id: String, in conversation: ConversationID, agentId: String?) async throws -> StoredMessage?

    /// The bytes of an attachment that a message names by hash.
    /// - Throws: `notFound` where the bytes are gone, `damaged` where they no longer have that hash.
    func attachment(sha256: String) async throws -> Data

    /// Searches a user's messages over all sessions and agents, best first. Any text is a valid query.
    ///
    /// A message that several agents of a conversation hold with the same role and content is found once.
    func search(_ query: SearchQuery) async throws -> Page<SearchHit, SearchCursor>

    // MARK: What has changed

    /// Where the change feed stands now.
    func latestChange() async throws -> ChangeCursor

    /// Changes after a cursor in order, at most `limit`; a cursor stays good across restarts.
    func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange]

    /// Changes after a cursor as they come, this process's at once and other processes' within a second.
    func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error>
}

extension HistoryStore {
    /// Appends a batch, keeping every message.
    @discardableResult
    public func append(_ messages: [ConversationMessage], to scope: Scope) async throws -> AppendOutcome {
        try await append(messages, to: scope, options: AppendOptions())
    }

    /// Sets what is known of a conversation beside its messages; `nil` fields stay as they are. Makes it if it is new.
    public func update(_ conversation: ConversationID, with details: ConversationDetails) async throws {
        try await update(conversation, with: details, makesNew: true)
    }

    /// Begins a reply that is kept while it streams and whose end trims nothing.
    public func beginReply(_ message: ConversationMessage, in scope: Scope) async throws -> ReplyDraft {
        try await beginReply(message, in: scope, maxMessages: nil)
    }

    /// Copies a conversation up to and including the first message of that id into a new session of the same user.
    public func fork(_ conversation: ConversationID, at messageId: String, into newSessionId: String) async throws {
        try await fork(conversation, at: messageId, agentId: nil, into: newSessionId)
    }

    /// Takes the messages from the first of that id on out of a conversation and keeps them as a branch.
    public func branch(_ conversation: ConversationID, from messageId: String) async throws -> ConversationID {
        try await branch(conversation, from: messageId, agentId: nil)
    }

    /// One message; of those that several agents hold under that id the first. `nil` if there is none.
    public func message(_ id: String, in conversation: ConversationID) async throws -> StoredMessage? {
        try await message(id, in: conversation, agentId: nil)
    }

    /// A user's conversations, the latest activity first, by pages.
    public func conversations(
        of userId: String, page: PageRequest<ConversationCursor>
    ) async throws -> Page<Conversation, ConversationCursor> {
        try await conversations(ConversationQuery(userId: userId), page: page)
    }
}

extension HistoryStore {
    /// Changes from now on as they come, other processes' writes included: what is saved after this returned is told.
    ///
    /// ```swift
    /// for try await change in try await history.changes() { await list.reload(change.conversation) }
    /// ```
    public func changes() async throws -> AsyncThrowingStream<HistoryChange, any Error> {
        changes(after: try await latestChange())
    }
}

/// How a batch is appended.
public struct AppendOptions: Hashable, Sendable {
    /// What happens to a message that repeats the last stored role. The engine keeps, `ChatStorage` views drop.
    public var sameRole: SameRole
    /// The budget that the scope's window is trimmed to afterwards, in messages; `nil` moves nothing.
    public var maxMessages: Int?
    /// Whether a message that the session holds already under the empty agent id, where a UI that knows no agents saved it, becomes
    /// one of this scope. The engine leaves it there and keeps the appended one beside it, `ChatStorage` views take it.
    ///
    /// It keeps its id and content, and its place in the conversation unless the scope has gone on behind that; then it goes to the
    /// end. The same-role rule is for it as for any other: one that it drops stays where it is.
    public var adoptsUnassigned: Bool
    /// Whether a fully read conversation stays read, for imported messages. An unread conversation stays unread.
    public var staysRead: Bool

    /// Makes options.
    public init(
        sameRole: SameRole = .keep, maxMessages: Int? = nil, adoptsUnassigned: Bool = false, staysRead: Bool = false
    ) {
        self.sameRole = sameRole
        self.maxMessages = maxMessages
        self.adoptsUnassigned = adoptsUnassigned
        self.staysRead = staysRead
    }
}

/// What became of a batch.
public struct AppendOutcome: Hashable, Sendable {
    /// Messages that are new in the scope.
    public var added: Int
    /// Messages whose ids the scope already held, or took over.
    public var known: Int
    /// Messages dropped by the same-role rule.
    public var dropped: Int

    /// Makes an outcome.
    public init(added: Int = 0, known: Int = 0, dropped: Int = 0) {
        self.added = added
        self.known = known
        self.dropped = dropped
    }
}
