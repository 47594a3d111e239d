import Foundation
import RecollectCore

/// A session in the history at its last synchronization on this device: the base of the next one.
///
/// It is saved in the state folder before the file is written, and again before and after the file's changes are saved
/// in the history. So a synchronization killed in between makes no message look deleted or edited.
struct SynchronizedChat: Equatable, Sendable {
    /// The session's user. Another user's session of the same ID is a different one.
    var userId: String
    /// The session in the history, including messages deleted on other devices.
    var chat: ChatProjection
    /// The messages deleted here or on other devices, by ID.
    var deletions: [ByteString: ChatProjection.Deletion] = [:]
    /// The IDs of messages deleted here. They are restored if they are added to the history again.
    var deletedHere: Set<ByteString> = []
    /// The IDs of new messages not yet merged with the file. A deleted message of the file with this ID is another one.
    var unpublished: Set<ByteString> = []
    /// The IDs of messages with edits not yet merged with the file.
    var edited: Set<ByteString> = []
    /// The messages, edits and title of the file about to be saved in the history.
    var pending = ChatProjection(session: "", entries: [])
    /// The states of deleted messages. In a file, they are older states, and no changes.
    var replaced: [ByteString: Set<String>] = [:]
    /// The positions of the history's messages.
    var additionCursors: MessagePositions = [:]
    /// The end of the history's change feed, read before the session.
    var change: ChangeCursor

    /// Whether a note of an earlier state is as good as one of this state: the session has not changed since.
    func isNoted(by last: SynchronizedChat, _ feed: SessionChanges) -> Bool {
        var last = last
        let distance = change.sequence - last.change.sequence
        last.change = change
        return self == last && feed.isEmpty && (0..<10_000).contains(distance)
    }
}

// MARK: - The history

extension SynchronizedChat {
    /// Creates the state of a session in a history.
    ///
    /// A history can be behind, after a restore from a backup. An older content or title without a change in the feed is no
    /// edit: the state has the later one, and the history gets it.
    /// - Parameters:
    ///   - last: The state at the last synchronization; `nil` if there was none.
    ///   - title: The session's title; `nil` if it has none, or if there is no session.
    ///   - messages: All messages of the session in order.
    ///   - feed: The changes since the last synchronization.
    ///   - change: The end of the change feed, read before the messages.
    init(
        _ session: SessionKey, title: String?, _ messages: [MessageCopies], after last: SynchronizedChat?,
        _ feed: SessionChanges, change: ChangeCursor
    ) {
        let known = last?.known ?? [:]
        self.init(
            userId: session.userId, chat: ChatProjection(session: session.sessionId, entries: []),
            deletions: last?.deletions ?? [:], deletedHere: last?.deletedHere ?? [], replaced: last?.replaced ?? [:],
            additionCursors: messages.positions, change: change)
        let (published, pendings) = (last?.chat.entriesByID ?? [:], last?.pending.entriesByID ?? [:])
        var entries: [ChatProjection.Entry] = []
        var previous: String?
        for copies in messages {
            let (id, message, content) = (copies.id, copies.message, copies.content)
            defer { previous = message.id }
            if copies.areOthers { continue }
            let isBack = deletions[id] != nil && feed.hasBroughtBack(copies)
            if isBack {
                deletedHere.insert(id)
                if let old = published[id] { replaced[id, default: []].formUnion(old.revision.states) }
            }
            guard let base = isBack ? nil : published[id] ?? pendings[id] else {
                let revision = added(content, of: id, isBack: isBack, feed)
                // With the ID of a message deleted here, it stays in the history alone.
                if !deletedHere.contains(id) {
                    unpublished.insert(id)
                    entries.append(.init(agents: copies.agents, after: previous, message: message, revision: revision))
                }
                continue
            }
            if last?.unpublished.contains(id) == true { unpublished.insert(id) }
            if last?.edited.contains(id) == true { edited.insert(id) }
            // A state about to be saved may never have been in the history, so its replacement may be different text. Without a
            // change in the feed, it was never saved.
            let isUnchanged = content == published[id]?.content && !feed.rewritten.contains(id)
            let pending = isUnchanged ? nil : pendings[id]
            var entry = (pending ?? base).of(copies.agents)
            if content != entry.content,
                feed.edited.contains(id) || feed.isRearranged || !entry.revision.has(content)
            {
                let isKnown = !feed.isBehind && pending == nil && !feed.isNew(copies, after: base)
                entry.replace(with: message, isKnown: isKnown)
                edited.insert(id)
            }
            entries.append(entry)
        }
        let held = Set(entries.map { ByteString($0.message.id) })
        for (id, old) in known
        where !held.contains(id) && feed.deletes(old, isPending: published[id] == nil) {
            // A message deleted elsewhere may be moved into a branch here, and back.
            let isByUser = feed.isByUser(deletionOf: old)
            if deletions[id] == nil || isByUser { deletedHere.insert(id) }
            deletions[id, default: .init(restores: 0)].join(.init(restores: old.revision.restores))
            // A message about to be saved may never have been in the history: its deletion may concern different text.
            guard published[id] != nil else { continue }
            replaced[id, default: []].formUnion(old.revision.states)
            if isByUser {
                deletions[id]?.join(.init(restores: old.revision.restores, states: old.revision.states))
            }
        }
        pending = ChatProjection(
            session: "",
            entries: (last?.pending.entries ?? []).filter { entry in
                let id = ByteString(entry.message.id)
                return !held.contains(id) && deletions[id].map { $0.restores < entry.revision.restores } ?? true
            })
        let content = ByteString(title ?? "")
        var newTitle = last?.chat.titleRevision ?? ChatRevision(content: content)
        let isPending = last.map { $0.pending.titleRevision != ChatRevision(content: ByteString("")) } == true
        let pendingTitle = newTitle.content == content || !isPending ? nil : last?.pending.titleRevision
        if let pendingTitle { newTitle = pendingTitle }
        if newTitle.content != content, feed.isUpdated || !(title == nil || newTitle.has(content)) {
            newTitle.replace(with: content, isKnown: !feed.isBehind && pendingTitle == nil)
        }
        chat = ChatProjection(session: session.sessionId, title: newTitle, entries: entries)
    }

    /// Returns the revision of a message that the history did not have at the last synchronization.
    ///
    /// A message deleted here is restored if the feed shows its return. A history that is behind still has it.
    /// - Parameter isBack: Whether it was deleted and brought back since.
    private mutating func added(
        _ content: ByteString, of id: ByteString, isBack: Bool, _ feed: SessionChanges
    ) -> ChatRevision {
        let states = replaced[id] ?? []
        let isReturned =
            isBack || feed.edited.contains(id)
            || feed.isRearranged && ChatRevision.hasState(of: content, in: states)
        guard isReturned, deletedHere.remove(id) != nil, let deleted = deletions.removeValue(forKey: id) else {
            return ChatRevision(content: content)
        }
        // The text of a message that expired or moved into a branch was not replaced by another one of its ID.
        let isReplaced = !deleted.states.isEmpty || ChatRevision.hasState(of: content, in: states)
        return ChatRevision(
            content: content, restores: ChatRevision.next(deleted.restores), replaced: isReplaced ? states : [])
    }

    /// The messages held by the history after the synchronization, if it was completed.
    var known: [ByteString: ChatProjection.Entry] {
        chat.entriesByID.merging(pending.entriesByID) { held, _ in held }
    }

    // MARK: The file

    /// Takes the positions from the session's file, and the numbers of equal contents: the other device may have edited a
    /// message and undone that, or deleted and restored it. A message with the ID of other agents' message in the file stays
    /// in the history alone.
    mutating func place(as file: ChatProjection?) {
        guard let file else { return }
        let placed = file.entriesByID
        var title = chat.titleRevision
        title.join(file.titleRevision)
        chat = ChatProjection(
            session: chat.session, title: title,
            entries: chat.entries.compactMap { entry in
                guard let there = placed[ByteString(entry.message.id)] else { return entry }
                guard there.isVersion(of: entry) else { return nil }
                var entry = entry
                entry.after = there.after
                entry.join(there.revision)
                return entry
            })
    }

    /// Returns the merge with the session's file. An agent whose message expired here since the last synchronization, or was
    /// moved into a branch, is removed from the file's message.
    func merged(with file: ChatProjection?, since last: SynchronizedChat?) -> ChatProjection {
        let deleted = ChatProjection(session: chat.session, entries: [], deletions: deletions)
        let merged = ChatProjection.merged(
            base: last?.chat, versions: [file, chat, deleted].compactMap { $0 }, session: chat.session)
        let (held, published) = (chat.entriesByID, last?.chat.entriesByID ?? [:])
        let entries = merged.entries.map { entry -> ChatProjection.Entry in
            let id = ByteString(entry.message.id)
            guard let here = held[id], let before = published[id], !here.hasAgents(of: before) else { return entry }
            let gone = Set(before.agents.map { ByteString($0) }).subtracting(here.agents.map { ByteString($0) })
            return entry.of(entry.agents.filter { !gone.contains(ByteString($0)) } + here.agents)
        }
        return ChatProjection(
            session: merged.session, title: merged.titleRevision, entries: entries, deletions: merged.deletions,
            others: merged.others)
    }

    /// Returns the messages and the title of this state missing in a merge, unless someone has replaced or deleted them
    /// knowingly; `nil` if there are none.
    func changesMissing(in merged: ChatProjection, since last: SynchronizedChat?) -> ChatProjection? {
        let hasTitle = chat.title == nil || merged.titleRevision.follows(chat.titleRevision)
        let (known, result) = (last?.known ?? [:], merged.entriesByID)
        let missing = chat.entries.filter { entry in
            let id = ByteString(entry.message.id)
            if let merged = result[id] { return !merged.revision.follows(entry.revision) }
            return last?.deletions[id] == nil
                && (unpublished.contains(id) || edited.contains(id) || known[id]?.content != entry.content)
        }
        guard !hasTitle || !missing.isEmpty else { return nil }
        return ChatProjection(session: chat.session, title: chat.titleRevision, entries: missing)
    }

    /// Leaves out new messages missing in the merge: they have the IDs of messages deleted on other devices, and stay in the
    /// history alone. Otherwise they would count as these messages. A message with a state of the deleted one came back.
    mutating func leaveOutNew(missingIn merged: ChatProjection) {
        let there = merged.entriesByID
        chat = ChatProjection(
            session: chat.session, title: chat.titleRevision,
            entries: chat.entries.filter { entry in
                let id = ByteString(entry.message.id)
                return there[id] != nil || !unpublished.contains(id)
                    || ChatRevision.hasState(of: entry.content, in: replaced[id] ?? [])
            })
        unpublished = []
        edited = []
    }

    // MARK: Saving

    /// Notes messages of a merged chat as appended to the history.
    /// - Parameter positions: The positions of messages added to the history since it was read.
    mutating func noteAppended(_ messages: [AgentMessage], at positions: MessagePositions, of merged: ChatProjection) {
        let (there, held) = (merged.entriesByID, chat.entriesByID)
        for item in messages {
            let (id, agent) = (ByteString(item.message.id), ByteString(item.agentId))
            additionCursors[id, default: [:]][agent] = positions[id]?[agent]
        }
        let groups = messages.grouped { ByteString($0.message.id) }
        let ids = Set(groups.map { ByteString($0[0].message.id) })
        deletedHere.subtract(ids)
        for id in ids { deletions[id] = nil }
        let added = groups.compactMap { copies -> ChatProjection.Entry? in
            let id = ByteString(copies[0].message.id)
            return (held[id] ?? there[id])?.of(copies.map(\.agentId) + (held[id]?.agents ?? []))
        }
        replace(with: added)
    }

    /// Notes messages of a merged chat as edited in the history.
    mutating func noteEdited(_ ids: Set<ByteString>, of merged: ChatProjection) {
        let held = chat.entriesByID
        replace(
            with: merged.entries.filter { ids.contains(ByteString($0.message.id)) }.map { entry in
                entry.of(held[ByteString(entry.message.id)]?.agents ?? entry.agents)
            })
    }

    /// Notes the title of a merged chat as saved in the history.
    mutating func noteRenamed(as merged: ChatProjection) {
        chat.titleRevision = merged.titleRevision
    }

    private mutating func replace(with entries: [ChatProjection.Entry]) {
        // Of entries with the same ID, the first is kept.
        chat = ChatProjection(
            session: chat.session, title: chat.titleRevision, entries: entries + chat.entries)
    }
}
