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
            change: change)
        let (published, pendings) = (last?.chat.entriesByID ?? [:], last?.pending.entriesByID ?? [:])
        var entries: [ChatProjection.Entry] = []
        var previous: String?
        for copies in messages {
            let (id, message, content) = (copies.id, copies.message, copies.content)
            defer { previous = message.id }
            if copies.areOthers { continue }
            let isBack = deletions[id] != nil && feed.hasBroughtBack(id, of: copies.agents)
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
            // A state about to be saved may never have been in the history, so its replacement may be another text. Without a
            // change in the feed, it was never saved.
            let isUnchanged = content == published[id]?.content && !feed.rewritten.contains(id)
            let pending = isUnchanged ? nil : pendings[id]
            var entry = (pending ?? base).of(copies.agents)
            if content != entry.content,
                feed.edited.contains(id) || feed.isRearranged || !entry.revision.has(content)
            {
                entry.replace(with: message, isKnown: !feed.isBehind && pending == nil)
                edited.insert(id)
            }
            entries.append(entry)
        }
        let held = Set(entries.map { ByteString($0.message.id) })
        for (id, old) in known
        where !held.contains(id) && feed.deletes(id, of: old.agents, isPending: published[id] == nil) {
            // A message deleted elsewhere may be moved into a branch here, and back.
            let isByUser = feed.isByUser(deletionOf: id, of: old.agents)
            if deletions[id] == nil || isByUser { deletedHere.insert(id) }
            deletions[id, default: .init(restores: 0)].join(.init(restores: old.revision.restores))
            // A message about to be saved may never have been in the history: its deletion may concern another text.
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
    fileprivate var known: [ByteString: ChatProjection.Entry] {
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
    mutating func noteAppended(_ messages: [AgentMessage], of merged: ChatProjection) {
        let (there, held) = (merged.entriesByID, chat.entriesByID)
        let groups = messages.groupedByID
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

/// The changes of a session in a history's change feed.
struct SessionChanges: Sendable {
    /// The agents of each deleted message.
    private var deletedAgents: [ByteString: Set<ByteString>] = [:]
    /// The IDs of edited and added messages.
    private(set) var edited: Set<ByteString> = []
    /// The IDs of edited messages.
    private(set) var rewritten: Set<ByteString> = []
    /// The agents of each message deleted, or added after the deletion of the session, before the messages were read.
    private var deletedBefore: [ByteString: Set<ByteString>] = [:]
    /// Whether the session was deleted, and continues anew.
    private var isSessionDeleted = false
    /// Whether messages were moved into a branch, or expired, or the session was moved, or it or its user was deleted.
    private(set) var isRearranged = false
    /// Whether all of these changes are deletions of the session by a user.
    private var areDeletions = true
    /// Whether the details may have changed.
    private(set) var isUpdated = false
    /// Whether there are no changes.
    private(set) var isEmpty = true
    /// Whether the history ends before the last synchronization: it was restored from a backup, and its changes since then
    /// are unknown.
    var isBehind = false

    /// Adds a change.
    /// - Parameter end: The end of the feed before the messages were read. The messages may be without the effect of a later
    ///   change.
    mutating func add(_ change: HistoryChange, to end: ChangeCursor) {
        isEmpty = false
        let (id, agent) = (ByteString(change.messageId ?? ""), ByteString(change.agentId ?? ""))
        switch change.kind {
        case .messageDeleted:
            deletedAgents[id, default: []].insert(agent)
            if change.cursor <= end { deletedBefore[id, default: []].insert(agent) }
        case .messageAdded:
            edited.insert(id)
            if isSessionDeleted, change.cursor <= end { deletedBefore[id, default: []].insert(agent) }
        case .messageEdited:
            edited.insert(id)
            rewritten.insert(id)
        case .sessionUpdated: isUpdated = true
        case .sessionDeleted, .userDeleted:
            isRearranged = true
            isSessionDeleted = true
        case .sessionRearranged:
            isRearranged = true
            areDeletions = false
        default: break
        }
    }

    /// Whether a missing message of these agents was deleted.
    /// - Parameter isPending: Whether it may never have been appended.
    func deletes(_ id: ByteString, of agents: [String], isPending: Bool) -> Bool {
        agents.contains { isDeleted(id, of: $0) } || isRearranged && !isPending
    }

    /// Whether a message of these agents, present now, was deleted before: it was added again, or a branch with it was restored.
    func hasBroughtBack(_ id: ByteString, of agents: [String]) -> Bool {
        guard let deleted = deletedBefore[id] else { return false }
        return agents.contains { deleted.contains(ByteString($0)) }
    }

    /// Whether a user deleted a deleted message of these agents. Otherwise it may be in a branch or in another session.
    func isByUser(deletionOf id: ByteString, of agents: [String]) -> Bool {
        agents.allSatisfy { isDeleted(id, of: $0) } || isRearranged && areDeletions
    }

    /// Whether a user deleted an agent's message. If it is missing, it was deleted last: one added again and then expired, for
    /// example, has no deletion in the feed any more. A message without an agent may have been assigned to one before.
    private func isDeleted(_ id: ByteString, of agent: String) -> Bool {
        guard let agents = deletedAgents[id] else { return false }
        return agent.isEmpty ? !agents.isEmpty : agents.contains(ByteString(agent))
    }
}

/// The messages of one ID in a history. Agents may have different ones; one of them is in the session's file.
struct MessageCopies: Sendable {
    let id: ByteString
    /// The messages of all agents, in order; at least one.
    let all: [AgentMessage]
    /// The message in the file. The others stay in the history alone.
    let message: ConversationMessage
    /// The canonical JSON text of the message.
    let content: ByteString
    /// The agents with the message.
    let agents: [String]
    /// Whether the file has the message of another agent, missing in the history. None of these is an edit of it.
    let areOthers: Bool

    /// Creates the messages of one ID.
    /// - Parameters:
    ///   - old: The message in the file at the last synchronization.
    ///   - replaced: The states of the deleted message, which may come back.
    fileprivate init(_ all: [AgentMessage], after old: ChatProjection.Entry?, replaced: Set<String>) {
        let contents = all.map(\.message.json)
        var index = contents.firstIndex { ChatRevision.hasState(of: $0, in: replaced) }
        if let old {
            // An earlier state may be another agent's, as in a restored branch. It is no edit.
            index =
                contents.firstIndex(of: old.content)
                ?? all.indices.first { old.concerns([all[$0].agentId]) && !old.revision.has(contents[$0]) }
                ?? contents.firstIndex(where: old.revision.has)
        }
        areOthers = old != nil && index == nil
        id = ByteString(all[0].message.id)
        self.all = all
        message = all[index ?? 0].message
        let content = contents[index ?? 0]
        self.content = content
        agents = zip(all, contents).filter { $0.1 == content }.map(\.0.agentId)
    }
}

extension [AgentMessage] {
    /// Returns the messages of a history by ID, in the order of their first ones.
    /// - Parameter last: The state at the last synchronization; `nil` if there was none.
    func copies(after last: SynchronizedChat?) -> [MessageCopies] {
        let (known, replaced) = (last?.known ?? [:], last?.replaced ?? [:])
        return groupedByID.map { all in
            let id = ByteString(all[0].message.id)
            return MessageCopies(all, after: known[id], replaced: replaced[id] ?? [])
        }
    }

    /// The messages of the same ID together, in the order of their first ones.
    fileprivate var groupedByID: [[AgentMessage]] {
        var groups: [[AgentMessage]] = []
        var positions: [ByteString: Int] = [:]
        for item in self {
            let id = ByteString(item.message.id)
            if let position = positions[id] {
                groups[position].append(item)
            } else {
                positions[id] = groups.count
                groups.append([item])
            }
        }
        return groups
    }
}
