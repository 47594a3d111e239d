import Foundation
import RecollectCore

/// The conversations as files that people and other programs read, `Chats/{conversationId}.json`, written from a history that stays what
/// counts.
public struct ChatsPlace: Sendable {
    let workspace: SharedWorkspace

    /// Where a conversation's file lies.
    public func path(of sessionId: String) -> WorkspacePath {
        WorkspacePath(checked: ["Chats", PlaceName.name(for: sessionId) + ".json"])
    }

    /// A conversation's file; `nil` where there is none.
    /// - Throws: `unreadable` for what is no chat; `newerSchema`; what reading a file throws.
    public func read(_ sessionId: String) async throws -> ChatProjection? {
        do {
            return try ChatProjection(bytes: try await workspace.read(path(of: sessionId)).bytes)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// The sessions that have a file, in the order of the files' names; one whose id is too long for a name is left out.
    public func sessions() async throws -> [String] {
        let items: [WorkspaceItem]
        do {
            items = try await workspace.list(WorkspacePath(checked: ["Chats"]))
        } catch let error as RecollectError where error.code == .notFound {
            return []
        }
        return items.filter { !$0.isFolder && $0.path.name.hasSuffix(".json") }.compactMap {
            PlaceName.id(of: String($0.path.name.dropLast(".json".count)))
        }
    }

    /// Brings a conversation's file up to date with what a history holds, and says what the file knew beyond that.
    ///
    /// What other devices and people wrote into the file is taken in, never written over: a message that the history lacks, and one whose text
    /// somebody changed in the file, unless the file is another conversation's. A message that the history had when this device last published, and has no more, was deleted, and
    /// is marked so in the file. A file that cannot be read any more is in the archive and written anew; a history that has
    /// none of the published messages was lost, and gets them back. Nothing is written where
    /// nothing changed, so that devices that know the same come to rest.
    /// - Parameters:
    ///   - sessionId: Which conversation.
    ///   - title: Its title; `nil` leaves the file's.
    ///   - messages: All its messages in order, each with its agent.
    /// - Throws: `newerSchema` where a newer Recollect wrote the file; `notLocal`; `credential` where something said has the shape of one; what
    ///   writing a file throws.
    @discardableResult
    public func publish(
        _ sessionId: String, title: String?, messages: [(agentId: String, message: ConversationMessage)]
    ) async throws -> PublishedChat {
        let path = path(of: sessionId)
        let result = Locked<PublishedChat?>(nil)
        try await workspace.update(path, by: .recollect) { [workspace] file in
            let current = try workspace.chat(in: file, of: sessionId)
            let last = try workspace.lastPublished(at: path)
            let local = ChatProjection(sessionId, title: title, messages, current: current, last: last)
            let merged = ChatProjection.merged(
                base: last, versions: [current, local].compactMap { $0 }, conversation: sessionId)
            result.withLock { $0 = PublishedChat(merged, of: local) }
            return merged.bytes
        }
        guard let result = result.withLock({ $0 }) else {
            throw RecollectError(.inputOutput, "\(path) was not written")
        }
        return result
    }

    /// Publishes a conversation of a history, and takes into the history what the file knew beyond it.
    ///
    /// New messages are appended to the scopes of their agents, edited ones edited. What was deleted on another device is told, not
    /// deleted here: a file that anybody can write is no reason to delete from a history.
    /// - Throws: as `publish`, and what the history throws.
    @discardableResult
    public func synchronize(
        _ conversation: ConversationID, with history: some HistoryStore
    ) async throws -> PublishedChat {
        let stored = try await history.messages(of: conversation, agentId: nil, page: PageRequest(limit: .max)).elements
        let published = try await publish(
            conversation.sessionId, title: try await history.conversation(conversation)?.title,
            messages: stored.map { ($0.agentId, $0.message) })
        for entry in published.new {
            let scope = Scope(
                userId: conversation.userId, sessionId: conversation.sessionId, agentId: entry.agentId)
            try await history.append([entry.message], to: scope)
        }
        try await history.edit(published.edited.map(\.message), in: conversation)
        return published
    }
}

extension SharedWorkspace {
    /// The conversations as files.
    public var chats: ChatsPlace { ChatsPlace(workspace: self) }

    /// The chat that a conversation's file holds; `nil` where it cannot be read or is another one's, which is told.
    fileprivate func chat(in file: WorkspaceFile?, of sessionId: String) throws -> ChatProjection? {
        guard let file else { return nil }
        do {
            let chat = try ChatProjection(bytes: file.bytes)
            let isItsOwn = chat.conversation.hasSameBytes(as: sessionId)
            if !chat.isIntact || !isItsOwn { events.post(StoreEvent(kind: .handEdited, path: file.path.description)) }
            // Somebody has copied a file over another one.
            return isItsOwn ? chat : nil
        } catch let error as RecollectError where error.code == .unreadable {
            // What is replaced is in the archive.
            events.post(StoreEvent(kind: .handEdited, path: file.path.description, failure: error))
            return nil
        }
    }

    /// What this device wrote last into a chat's file.
    fileprivate func lastPublished(at path: WorkspacePath) throws -> ChatProjection? {
        let own = try archive.index().files[path]?.versions.last { $0.author == .recollect && $0.kind == .written }
        // What is not kept any more, or cannot be read, tells nothing.
        return try own.flatMap { try archive.wholeBytes(of: $0.hash) }.flatMap { try? ChatProjection(bytes: $0) }
    }
}

/// What came of publishing a conversation.
public struct PublishedChat: Sendable {
    /// The conversation as the file has it.
    public let chat: ChatProjection
    /// Messages that the file has and the history had not, in the file's order.
    public let new: [ChatProjection.Entry]
    /// Messages that the file has with another content than the history.
    public let edited: [ChatProjection.Entry]
    /// The ids of messages of the history that were deleted on another device.
    public let deletedElsewhere: [String]

    fileprivate init(_ chat: ChatProjection, of local: ChatProjection) {
        let known = local.entriesByID
        self.chat = chat
        new = chat.entries.filter { known[ByteString($0.message.id)] == nil }
        edited = chat.entries.filter { entry in
            known[ByteString(entry.message.id)].map { $0.message != entry.message } ?? false
        }
        deletedElsewhere = chat.deleted.filter { known[ByteString($0)] != nil }
    }
}

extension ChatProjection {
    /// What a history holds, as a file would have it.
    fileprivate init(
        _ sessionId: String, title: String?, _ messages: [(agentId: String, message: ConversationMessage)],
        current: ChatProjection?, last: ChatProjection?
    ) {
        let placed = (last?.entriesByID ?? [:]).merging(current?.entriesByID ?? [:]) { $1 }
        var previous: String?
        let entries = messages.map { agentId, message in
            defer { previous = message.id }
            let after = placed[ByteString(message.id)].map(\.after) ?? previous
            return Entry(agentId: agentId, after: after, message: message)
        }
        let held = Set(messages.map { ByteString($0.message.id) })
        let published = last?.entries.map(\.message.id) ?? []
        let missing = published.filter { !held.contains(ByteString($0)) }
        // A history that has nothing of it any more was lost rather than emptied.
        let deleted = missing.count < published.count ? missing : []
        self.init(conversation: sessionId, title: title, entries: entries, deleted: deleted)
    }
}
