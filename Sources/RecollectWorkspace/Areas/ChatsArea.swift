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
    /// updated, unless the history has another edit by then. If both sides changed a message or the title, or one side
    /// edited a message deleted by the other, the version with the losing change is kept beside the file.
    ///
    /// Messages deleted from the history since the last synchronization, moved into a branch or expired, are marked as
    /// deleted in the file, and so are all messages of a deleted session. A restored message is no longer marked. A
    /// message missing for any other reason, as in a lost history or in one restored from a backup, is appended again. After a
    /// migration to another history, synchronize before messages are deleted there: their deletions are unknown before.
    /// Messages deleted by a user on another device are returned (`PublishedChat.deletedElsewhere`), but not deleted from the
    /// history, because anyone may have written the file. Those with text unknown there, moved into a branch or expired stay
    /// in this history alone, with their later edits. To a session discarded, or deleted during the call, the file's changes
    /// are not saved: they would restore it.
    ///
    /// The file of a different session is replaced. An unreadable file is archived and replaced. A file without changes
    /// is not written, so devices with the same messages stop writing. Calls for one session run one after the other,
    /// also in several processes with this state folder. An interrupted or canceled synchronization is completed by the
    /// next one. If several agents have a message with one ID and different contents, only the first one is published, and
    /// remains the published one until it is deleted. Of an attachment, only the hash is in the file. If an edit of the file
    /// removes an attachment from the history, its bytes are kept beside the file. If they are larger than the workspace's
    /// limit, the message stays as it is in this history.
    /// - Throws: `newerSchema` for a file of a newer version; `notLocal`; `credential` for a message resembling a
    ///   credential; `invalidArgument` if another user's session of the same ID is synchronized here, or if the file has
    ///   another session because the disk does not distinguish the letter case of their IDs; as
    ///   `SharedWorkspace.write(_:to:replacing:by:)`; and errors of the history.
    @discardableResult
    public func synchronize(
        _ session: SessionKey, with history: some HistoryStore
    ) async throws -> PublishedChat {
        let lock = try await lock(session.sessionId)
        defer { withExtendedLifetime(lock) {} }
        let last = try await lastSynchronized(session.sessionId)
        if let last, !last.userId.hasSameBytes(as: session.userId) {
            throw RecollectError(
                .invalidArgument,
                "\(path(of: session.sessionId)) belongs to the user \(last.userId); use a workspace for each user")
        }
        // Read before the messages: later changes are found by the next synchronization.
        let change = try await history.latestChangeCursor()
        let details = try await history.session(session)
        let stored = try await history.messages(of: session, agentId: nil, page: PageRequest(limit: .max)).elements
        let messages = stored.copies(after: last)
        let feed = try await changes(of: session, in: history, after: last, to: change)
        // A missing session has not removed its title.
        let title = details == nil ? last?.chat.title : details?.title
        let state = SynchronizedChat(session, title: title, messages, after: last, feed, change: change)
        let (published, local) = try await publishing(attachmentsOf: history, userId: session.userId) { attachments in
            try await publish(state, of: messages, since: last, feed, attachments)
        }
        // A session discarded or deleted by now must not come back.
        let now = try await history.session(session)
        if now?.discardedAt == nil, now != nil || details == nil {
            try await save(published, over: local, in: session, of: history, title: details?.title)
        }
        return published
    }

    /// Returns the changes of a session since the last synchronization.
    /// - Parameter end: The end of the feed.
    func changes(
        of session: SessionKey, in history: some HistoryStore, after last: SynchronizedChat?, to end: ChangeCursor
    ) async throws -> SessionChanges {
        var changes = SessionChanges(after: last, to: end)
        guard var cursor = last?.change else { return changes }
        while true {
            let page = try await history.changes(after: cursor, limit: 10_000)
            guard let next = page.last?.cursor else { return changes }
            cursor = next
            for change in page where change.concerns(session) { changes.add(change) }
        }
    }

    /// Saves the changes of a session's file in the history, and notes them as synchronized.
    /// - Parameters:
    ///   - local: The session in the history, as published.
    ///   - title: The title in the history.
    func save(
        _ published: PublishedChat, over local: SynchronizedChat, in session: SessionKey, of history: some HistoryStore,
        title: String?
    ) async throws {
        var (local, noted) = (local, local)
        let isRenamed = !published.chat.title.hasSameBytes(as: title)
        let ids = Set((published.new + published.edited).map { ByteString($0.message.id) })
        if !ids.isEmpty || isRenamed {
            // Noted before: a change of what was just saved is known as one, also without the next note.
            local.pending = ChatProjection(
                session: "", title: isRenamed ? published.chat.titleRevision : ChatRevision(content: ByteString("")),
                entries: published.chat.entries.filter { ids.contains(ByteString($0.message.id)) })
            try await note(local)
            noted = local
        }
        if !published.new.isEmpty {
            let appended = try await append(published.new, to: session, of: history)
            let feed = try await changes(of: session, in: history, after: local, to: local.change)
            local.noteAppended(appended, at: feed.additionCursors, of: published.chat)
        }
        if !published.edits.isEmpty {
            let edits = try await keepingAttachments(removedBy: published.edits, in: session, of: history)
            // If the history has another edit by now, the next synchronization merges both.
            let edited = try await history.edit(edits, in: session)
            local.noteEdited(Set(edited.map { ByteString($0.new.id) }), of: published.chat)
        }
        if isRenamed, try await history.session(session)?.title.hasSameBytes(as: title) ?? (title == nil) {
            try await history.update(
                session, with: SessionDetails(title: published.chat.title ?? ""), createIfMissing: false)
            local.noteRenamed(as: published.chat)
        }
        local.pending = ChatProjection(session: "", entries: [])
        if local != noted { try await note(local) }
    }

    /// Appends messages to the scopes of their agents.
    /// - Returns: The messages held by the history now. The app may have appended others with their IDs in the meantime.
    private func append(
        _ messages: [AgentMessage], to session: SessionKey, of history: some HistoryStore
    ) async throws -> [AgentMessage] {
        var appended: [AgentMessage] = []
        for batch in messages.chunkedByAgent {
            let scope = Scope(userId: session.userId, sessionId: session.sessionId, agentId: batch[0].agentId)
            let outcome = try await history.append(batch.map(\.message), to: scope)
            guard outcome.added < batch.count else {
                appended += batch
                continue
            }
            for item in batch {
                let stored = try await history.message(item.message.id, in: session, agentId: item.agentId)
                if stored?.message.json == item.message.json { appended.append(item) }
            }
        }
        return appended
    }

    /// Returns the session in the history at the last synchronization on this device; `nil` if there was none.
    func lastSynchronized(_ sessionId: String) async throws -> SynchronizedChat? {
        let path = path(of: sessionId)
        let bytes = try await workspace.reading { [archive = workspace.archive] in
            try archive.synchronizedChat(at: path)
        }
        // Without a readable note, nothing counts as deleted, and of two texts, both are kept.
        return bytes.flatMap { try? SynchronizedChat(bytes: $0) }
    }

    /// Writes the merge of a session's file and its messages in the history.
    /// - Parameters:
    ///   - state: The session in the history.
    ///   - messages: All messages of the session in order.
    ///   - last: The session in the history at the last synchronization.
    ///   - feed: The changes since then.
    ///   - attachments: The bytes of attachments by hash, for those to be kept beside the file.
    /// - Returns: The result, and the session in the history.
    /// - Throws: `UnreadAttachments`.
    func publish(
        _ state: SynchronizedChat, of messages: [MessageCopies], since last: SynchronizedChat?, _ feed: SessionChanges,
        _ attachments: [String: [UInt8]] = [:]
    ) async throws -> (PublishedChat, local: SynchronizedChat) {
        let sessionId = state.chat.session
        let path = path(of: sessionId)
        // Noted before the file is written: otherwise a later edit would count as another one of the same number.
        if last.map({ state.isNoted(by: $0, feed) }) != true { try await note(state) }
        return try await workspace.writing { [workspace] in
            var result: (PublishedChat, local: SynchronizedChat)?
            _ = try workspace.writer.update(path, by: .recollect) { file in
                let current = try workspace.chat(in: file, of: sessionId).map { chat in
                    guard chat.isEdited else { return chat }
                    let versions = try intactVersions(of: path)
                    let base = versions.first { _ in true }
                    let earlier = base.map(chat.hasEdits) == true ? AnySequence(versions) : AnySequence([])
                    // The note may have changes that never reached the file.
                    return chat.numbered(since: base, among: earlier).numbered(since: last?.chat, isKnown: false)
                }
                var local = state
                local.place(as: current)
                let merged = local.merged(with: current, since: last)
                // A history that is behind has not had the last contents.
                let base = feed.isBehind ? nil : last?.chat
                if let file, let current,
                    merged.lacksChanges(of: current, since: base, replaced: local.replaced)
                {
                    _ = try workspace.writer.keep(file.bytes, beside: path)
                }
                if let missing = local.changesMissing(in: merged, since: last) {
                    try keep(attachments, of: missing, missingIn: merged)
                    // Written here: the content is checked for credentials.
                    do {
                        _ = try workspace.writer.keep(local.chat.bytes, beside: path, as: .written)
                    } catch let error as RecollectError where error.code == .tooLarge {
                        // With messages deleted elsewhere, the session may be larger than its file.
                        _ = try workspace.writer.keep(missing.bytes, beside: path, as: .written)
                    }
                }
                local.deletions.merge(merged.deletions, uniquingKeysWith: ChatProjection.Deletion.joined)
                local.leaveOutNew(missingIn: merged)
                result = (PublishedChat(merged, over: local, of: messages), local)
                return merged.bytes
            }
            guard let result else { throw RecollectError(.inputOutput, "\(path) was not written") }
            if result.local != state { try workspace.archive.note(synchronized: result.local.bytes, at: path) }
            return result
        }
    }

    /// Returns the newest versions of a session's file written by a synchronization, the latest first: the bases of people's
    /// edits. They are read one after the other. Damaged versions are ignored.
    private func intactVersions(of path: WorkspacePath) throws -> some Sequence<ChatProjection> {
        let archive = workspace.archive
        return try archive.versions(of: path).lazy.filter { $0.kind != .begun && !$0.kind.isAbsence }
            .compactMap { version in
                (try? archive.bytes(of: version.hash)).flatMap { try? ChatProjection(bytes: $0) }
            }
            .filter { !$0.isEdited }.prefix(32)
    }

    /// Notes the session in the history, for the next synchronization.
    private func note(_ chat: SynchronizedChat) async throws {
        let path = path(of: chat.chat.session)
        try await workspace.writing { [archive = workspace.archive] in
            try archive.note(synchronized: chat.bytes, at: path)
        }
    }

    /// Waits for other synchronizations of a session, also in other processes, and holds them back until the returned
    /// lock is released.
    private func lock(_ sessionId: String) async throws -> SynchronizationLock {
        let path = path(of: sessionId)
        var pause = Duration.milliseconds(1)
        while true {
            let lock = try await workspace.reading { [archive = workspace.archive] in
                try archive.lockSynchronization(of: path)
            }
            if let lock { return lock }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}

extension HistoryChange {
    /// Whether a change may concern messages of a session.
    fileprivate func concerns(_ key: SessionKey) -> Bool {
        session.userId.hasSameBytes(as: key.userId)
            && (kind == .userDeleted || kind == .sessionRearranged && session.sessionId.isEmpty
                || session.sessionId.hasSameBytes(as: key.sessionId))
    }
}

extension [AgentMessage] {
    /// The messages in batches of one agent, in order.
    fileprivate var chunkedByAgent: [[AgentMessage]] {
        var batches: [[AgentMessage]] = []
        for item in self {
            if let last = batches.last?.last, last.agentId.hasSameBytes(as: item.agentId) {
                batches[batches.count - 1].append(item)
            } else {
                batches.append([item])
            }
        }
        return batches
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
            let (other, path) = (chats.path(of: chat.session), chats.path(of: sessionId))
            if other != path, other.key == path.key {
                throw RecollectError(
                    .invalidArgument,
                    "\(path) contains the session \(chat.session): this disk does not distinguish the IDs; change one of them"
                )
            }
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
    /// The messages in the file and not in the history, in the file's order. A message of several agents is listed once
    /// for each agent without it.
    public let new: [AgentMessage]
    /// The messages with different contents in the file and in the history, as in the file.
    public let edited: [AgentMessage]
    /// The messages of the history deleted by a user on another device, as they were at the beginning of the synchronization, in
    /// the byte order of their IDs. Not among them are messages with text that the user did not have, and messages moved into
    /// a branch or to another session there, or expired: these stay in this history.
    ///
    /// `HistoryStore.delete(_:in:)` deletes them, except those edited since. Call it before the next synchronization: by then, a
    /// message may have been brought back. The bytes of their attachments may be on this device alone.
    public let deletedElsewhere: [ConversationMessage]
    /// The edits of the messages in the history.
    let edits: [MessageEdit]

    fileprivate init(_ chat: ChatProjection, over local: SynchronizedChat, of messages: [MessageCopies]) {
        let held = Dictionary(uniqueKeysWithValues: messages.map { ($0.id, $0) })
        let published = local.chat.entriesByID
        self.chat = chat
        new = chat.entries.flatMap { entry -> [AgentMessage] in
            let agents = Set((held[ByteString(entry.message.id)]?.all ?? []).map { ByteString($0.agentId) })
            // A message not yet assigned to an agent is assigned in the history.
            guard agents != [ByteString("")] else { return [] }
            return entry.agentMessages.filter { !agents.contains(ByteString($0.agentId)) }
        }
        let changed = chat.entries.compactMap { entry -> (MessageCopies, ConversationMessage)? in
            let id = ByteString(entry.message.id)
            guard published[id] != nil, let copies = held[id], copies.content != entry.content else { return nil }
            return (copies, entry.message)
        }
        edited = changed.map { AgentMessage(agentId: $0.agents[0], message: $1) }
        edits = changed.map { MessageEdit(of: $0.message, to: $1) }
        deletedElsewhere = chat.deletions.sorted { $0.key < $1.key }.compactMap { id, deletion in
            guard let copies = held[id] else { return nil }
            // An edit back to a deleted text is another state.
            let isDeleted =
                published[id].map { deletion.states.contains($0.revision.state) }
                ?? deletion.states.intersection(local.replaced[id] ?? []).contains {
                    ChatRevision.hasState(of: copies.content, in: [$0])
                }
            return isDeleted ? copies.message : nil
        }
    }
}
