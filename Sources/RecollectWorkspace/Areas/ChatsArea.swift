import Foundation
import RecollectCore

/// The chat projections of a workspace: sessions as files for people and other programs, `Chats/{sessionId}.json`.
/// The history remains the source of truth.
///
/// ```swift
/// let session = SessionKey(userId: "ana", sessionId: "trip")
/// let published = try await workspace.chats.synchronize(session, with: history)
/// print(published.new.count)  // The messages added to the file on other devices.
/// ```
public struct ChatsArea: Sendable {
    let workspace: SharedWorkspace

    /// Returns the path of a session's file.
    public func path(of sessionId: String) -> WorkspacePath {
        WorkspacePath(checked: ["Chats", FileNameEncoding.name(for: sessionId) + ".json"])
    }

    /// Returns a session's file; `nil` if it is missing.
    /// - Throws: `unreadable` for a file other than a chat projection; `newerSchema`; as
    ///   `SharedWorkspace.read(_:download:)`.
    public func read(_ sessionId: String) async throws -> ChatProjection? {
        do {
            return try ChatProjection(bytes: try await workspace.read(path(of: sessionId)).bytes)
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    /// Returns the IDs of the sessions with a file, sorted by file name, except IDs too long for a file name.
    public func sessions() async throws -> [String] {
        let items: [WorkspaceItem]
        do {
            items = try await workspace.list(WorkspacePath(checked: ["Chats"]))
        } catch let error as RecollectError where error.code == .notFound {
            return []
        }
        return items.filter { !$0.isFolder && $0.path.name.hasSuffix(".json") }.compactMap {
            FileNameEncoding.id(of: String($0.path.name.dropLast(".json".count)))
        }
    }

    /// Updates a session's file from a history, and returns the file's additions to the history.
    ///
    /// Changes by other devices and by people are preserved: messages missing in the history, and edited messages.
    /// The file of a different session is replaced. A message published by this device earlier and now missing in
    /// the history was deleted, and is marked as deleted in the file. If all published messages are missing, the
    /// history was lost, and the messages are returned as new. An unreadable file is archived and replaced. A file
    /// without changes is not written, so devices with the same messages stop writing.
    /// - Parameters:
    ///   - sessionId: The session's ID.
    ///   - title: The session's title; `nil` to preserve the file's.
    ///   - messages: All messages of the session in order, with their agents.
    /// - Throws: `newerSchema` for a file of a newer version; `notLocal`; `credential` for a message resembling a
    ///   credential; as `SharedWorkspace.write(_:to:replacing:by:)`.
    @discardableResult
    public func publish(
        _ sessionId: String, title: String?, messages: [AgentMessage]
    ) async throws -> PublishedChat {
        let path = path(of: sessionId)
        let result = Locked<PublishedChat?>(nil)
        try await workspace.update(path, by: .recollect) { [workspace] file in
            let current = try workspace.chat(in: file, of: sessionId)
            let last = try workspace.lastPublished(at: path)
            let local = ChatProjection(sessionId, title: title, messages, current: current, last: last)
            let merged = ChatProjection.merged(
                base: last, versions: [current, local].compactMap { $0 }, session: sessionId)
            result.withLock { $0 = PublishedChat(merged, of: local) }
            return merged.bytes
        }
        guard let result = result.withLock({ $0 }) else {
            throw RecollectError(.inputOutput, "\(path) was not written")
        }
        return result
    }

    /// Publishes a session of a history, and saves the file's additions in the history.
    ///
    /// New messages are appended to the scopes of their agents, and edited messages are updated. Messages deleted
    /// on another device are returned, but not deleted from the history, because anyone may have written the file.
    /// - Throws: As `publish(_:title:messages:)`, and errors of the history.
    @discardableResult
    public func synchronize(
        _ session: SessionKey, with history: some HistoryStore
    ) async throws -> PublishedChat {
        let stored = try await history.messages(of: session, agentId: nil, page: PageRequest(limit: .max)).elements
        let published = try await publish(
            session.sessionId, title: try await history.session(session)?.title,
            messages: stored.map { AgentMessage(agentId: $0.agentId, message: $0.message) })
        for item in published.new {
            let scope = Scope(userId: session.userId, sessionId: session.sessionId, agentId: item.agentId)
            try await history.append([item.message], to: scope)
        }
        try await history.edit(published.edited.map(\.message), in: session)
        return published
    }
}

extension SharedWorkspace {
    /// The chat projections of the workspace.
    public var chats: ChatsArea { ChatsArea(workspace: self) }

    /// Returns the chat in a session's file; `nil` if it is unreadable or belongs to another session. Posts
    /// `externalEdit` for these, and for an edited chat.
    fileprivate func chat(in file: WorkspaceFile?, of sessionId: String) throws -> ChatProjection? {
        guard let file else { return nil }
        do {
            let chat = try ChatProjection(bytes: file.bytes)
            let isItsOwn = chat.session.hasSameBytes(as: sessionId)
            if !chat.isIntact || !isItsOwn { events.post(StoreEvent(kind: .externalEdit, path: file.path.description)) }
            // The file is a copy of another session's file.
            return isItsOwn ? chat : nil
        } catch let error as RecollectError where error.code == .unreadable {
            // The replaced content is archived.
            events.post(StoreEvent(kind: .externalEdit, path: file.path.description, failure: error))
            return nil
        }
    }

    /// Returns the version last written by this device.
    fileprivate func lastPublished(at path: WorkspacePath) throws -> ChatProjection? {
        let own = try archive.index().files[path]?.versions.last { $0.author == .recollect && $0.kind == .written }
        // A content missing in the archive, or unreadable, is ignored.
        return try own.flatMap { try archive.wholeBytes(of: $0.hash) }.flatMap { try? ChatProjection(bytes: $0) }
    }
}

/// The result of publishing a session.
public struct PublishedChat: Sendable {
    /// The chat in the file.
    public let chat: ChatProjection
    /// The messages in the file and not in the history, in the file's order.
    public let new: [AgentMessage]
    /// The messages with different contents in the file and in the history, as in the file.
    public let edited: [AgentMessage]
    /// The IDs of messages in the history deleted on another device.
    public let deletedElsewhere: [String]

    fileprivate init(_ chat: ChatProjection, of local: ChatProjection) {
        let known = local.entriesByID
        self.chat = chat
        new = chat.messages.filter { known[ByteString($0.message.id)] == nil }
        edited = chat.messages.filter { item in
            known[ByteString(item.message.id)].map { $0.message != item.message } ?? false
        }
        deletedElsewhere = chat.deleted.filter { known[ByteString($0)] != nil }
    }
}

extension ChatProjection {
    /// Creates a projection from a history.
    fileprivate init(
        _ sessionId: String, title: String?, _ messages: [AgentMessage],
        current: ChatProjection?, last: ChatProjection?
    ) {
        let placed = (last?.entriesByID ?? [:]).merging(current?.entriesByID ?? [:]) { $1 }
        var previous: String?
        let entries = messages.map { item in
            let id = item.message.id
            defer { previous = id }
            let after = placed[ByteString(id)].map(\.after) ?? previous
            return Entry(agentId: item.agentId, after: after, message: item.message)
        }
        let held = Set(messages.map { ByteString($0.message.id) })
        let published = last?.entries.map(\.message.id) ?? []
        let missing = published.filter { !held.contains(ByteString($0)) }
        // A history without any of the published messages was lost, not emptied.
        let deleted = missing.count < published.count ? missing : []
        self.init(session: sessionId, title: title, entries: entries, deleted: deleted)
    }
}
