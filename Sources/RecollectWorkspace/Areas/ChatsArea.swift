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

    /// Publishes a session of a history in its file, and saves the file's additions in the history.
    ///
    /// The changes since the last synchronization are merged: in the history, by people in the file, and by other
    /// devices. New messages of the file are appended to the scopes of their agents. Edited messages and the title are
    /// updated. If both sides changed a message or the title, or one side edited a message deleted by the other, the
    /// version with the losing change is kept beside the file.
    ///
    /// A message synchronized earlier and now missing in the history was deleted, and is marked as deleted in the file.
    /// If all of them are missing, the history was lost, and the messages are appended to it again. Messages deleted on
    /// another device are returned, but not deleted from the history, because anyone may have written the file.
    ///
    /// The file of a different session is replaced. An unreadable file is archived and replaced. A file without changes
    /// is not written, so devices with the same messages stop writing. An interrupted synchronization is completed by the
    /// next one.
    /// - Throws: `newerSchema` for a file of a newer version; `notLocal`; `credential` for a message resembling a
    ///   credential; as `SharedWorkspace.write(_:to:replacing:by:)`; and errors of the history.
    @discardableResult
    public func synchronize(
        _ session: SessionKey, with history: some HistoryStore
    ) async throws -> PublishedChat {
        // Read before the history: a message missing there was deleted, not added meanwhile.
        let last = try await lastSynchronized(session.sessionId)
        let stored = try await history.messages(of: session, agentId: nil, page: PageRequest(limit: .max)).elements
        let (published, local) = try await publish(
            session.sessionId, title: try await history.session(session)?.title,
            messages: stored.map { AgentMessage(agentId: $0.agentId, message: $0.message) }, last: last)
        try await save(published, over: local, in: session, of: history)
        return published
    }

    /// Saves the changes of a session's file in the history, and notes them as synchronized.
    /// - Parameter local: The session in the history, as published.
    func save(
        _ published: PublishedChat, over local: ChatProjection, in session: SessionKey, of history: some HistoryStore
    ) async throws {
        for item in published.new {
            let scope = Scope(userId: session.userId, sessionId: session.sessionId, agentId: item.agentId)
            try await history.append([item.message], to: scope)
        }
        let known = local.entriesByID
        var edited: [AgentMessage] = []
        for item in published.edited {
            // If the history has another edit by now, the next synchronization merges both.
            let current = try await history.message(item.message.id, in: session)?.message
            if current == known[ByteString(item.message.id)]?.message { edited.append(item) }
        }
        try await history.edit(edited.map(\.message), in: session)
        let isRenamed = published.chat.title != local.title
        if isRenamed, let title = published.chat.title, try await history.session(session)?.title == local.title {
            try await history.update(session, with: SessionDetails(title: title), makesNew: false)
        }
        let saved = published.new + edited
        if isRenamed || !saved.isEmpty { try await note(local.asSaved(with: saved, as: published.chat)) }
    }

    /// Returns the session in the history at the last synchronization on this device; `nil` if there was none.
    func lastSynchronized(_ sessionId: String) async throws -> ChatProjection? {
        let path = path(of: sessionId)
        let bytes = try await workspace.reading { [archive = workspace.archive] in
            try archive.synchronizedChat(at: path)
        }
        // Without a readable note, nothing counts as deleted, and of two texts, both are kept.
        return bytes.flatMap { try? ChatProjection(bytes: $0) }
    }

    /// Writes the merge of a session's file and its messages in the history.
    /// - Parameters:
    ///   - title: The session's title; `nil` to preserve the file's.
    ///   - messages: All messages of the session in order, with their agents.
    ///   - last: The session in the history at the last synchronization, read before `messages`.
    /// - Returns: The result, and the session in the history.
    func publish(
        _ sessionId: String, title: String?, messages: [AgentMessage], last: ChatProjection?
    ) async throws -> (PublishedChat, local: ChatProjection) {
        let path = path(of: sessionId)
        return try await workspace.writing { [workspace] in
            var result: (PublishedChat, local: ChatProjection)?
            _ = try workspace.writer.update(path, by: .recollect) { file in
                let current = try workspace.chat(in: file, of: sessionId)
                let local = ChatProjection(sessionId, title: title, messages, current: current, last: last)
                let merged = ChatProjection.merged(
                    base: last, versions: [current, local].compactMap { $0 }, session: sessionId)
                if let file, let current, merged.lacksChanges(of: current, since: last) {
                    _ = try workspace.writer.keep(file.bytes, beside: path)
                }
                if merged.lacksChanges(of: local, since: last) {
                    // Written here: the content is checked for credentials.
                    _ = try workspace.writer.keep(local.bytes, beside: path, as: .written)
                }
                result = (PublishedChat(merged, of: local), local)
                return merged.bytes
            }
            guard let result else { throw RecollectError(.inputOutput, "\(path) was not written") }
            // Noted after the file is written: before, the file's older texts would count as edits of others.
            let synchronized = result.local.asSaved()
            if synchronized != last { try workspace.archive.note(synchronized: synchronized.bytes, at: path) }
            return result
        }
    }

    /// Notes the session in the history, for the next synchronization.
    private func note(_ chat: ChatProjection) async throws {
        let path = path(of: chat.session)
        try await workspace.writing { [archive = workspace.archive] in
            try archive.note(synchronized: chat.bytes, at: path)
        }
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
}

/// The result of synchronizing a session.
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

    /// Returns this session in the history, after messages of the file were saved there.
    fileprivate func asSaved(with messages: [AgentMessage] = [], as chat: ChatProjection? = nil) -> ChatProjection {
        let saved = Set(messages.map { ByteString($0.message.id) })
        let new = chat?.entries.filter { saved.contains(ByteString($0.message.id)) } ?? []
        // Of entries with the same ID, the first is kept.
        return ChatProjection(session: session, title: chat?.title ?? title, entries: new + entries)
    }
}
