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
    /// The messages deleted here or on other devices: their IDs, and their restores before the deletion.
    var deletions: [ByteString: Int] = [:]
    /// The IDs of messages deleted here. They are restored if the history has them again.
    var deletedHere: Set<ByteString> = []
    /// The messages of the file about to be appended to the history.
    var pending: [ChatProjection.Entry] = []
    /// The hashes of earlier titles (with the ID `nil`), and of the contents of deleted messages. In a file, they are
    /// older states, and no changes.
    var replaced: [ByteString?: Set<String>] = [:]
    /// The end of the history's change feed, read before the session.
    var change: ChangeCursor

    /// Whether a note of an earlier state is as good as one of this state: the session has not changed since.
    func isNoted(by last: SynchronizedChat, _ feed: SessionChanges) -> Bool {
        var last = last
        let distance = change.sequence - last.change.sequence
        last.change = change
        return self == last && feed.isEmpty && (0..<10_000).contains(distance)
    }

    /// Returns whether a title or a content of a message is known to be replaced.
    func replacements() -> (_ id: ByteString?, _ content: ByteString) -> Bool {
        let held = chat.entriesByID
        return { id, content in
            hasReplaced(content, of: id) || id.flatMap { held[$0] }?.follows(content) ?? false
        }
    }

    private func hasReplaced(_ content: ByteString, of id: ByteString?) -> Bool {
        replaced[id]?.contains(ChatProjection.Entry.hash(content)) ?? false
    }

    private mutating func noteReplaced(_ content: ByteString, of id: ByteString?) {
        replaced[id, default: []].insert(ChatProjection.Entry.hash(content))
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
    ///   - messages: All messages of the session in order, with their agents.
    ///   - feed: The changes since the last synchronization.
    ///   - change: The end of the change feed, read before the messages.
    init(
        _ session: SessionKey, title: String?, _ messages: [AgentMessage], after last: SynchronizedChat?,
        _ feed: SessionChanges, change: ChangeCursor
    ) {
        let known = last?.known ?? [:]
        self.init(
            userId: session.userId, chat: ChatProjection(session: session.sessionId, entries: []),
            deletions: last?.deletions ?? [:], deletedHere: last?.deletedHere ?? [], replaced: last?.replaced ?? [:],
            change: change)
        var entries: [ChatProjection.Entry] = []
        var previous: String?
        for copies in messages.groupedByID {
            let message = copies[0].message
            let id = ByteString(message.id)
            // Copies with other content stay in the history alone.
            let agents = copies.filter { $0.message.json == message.json }.map(\.agentId)
            defer { previous = message.id }
            guard let old = known[id] else {
                var restores = 0
                if deletedHere.remove(id) != nil, let deleted = deletions.removeValue(forKey: id) {
                    restores = Self.next(deleted)
                }
                entries.append(
                    .init(
                        agents: agents, after: previous, message: message, restores: restores,
                        replaced: restores > 0 ? replaced[id] ?? [] : []))
                continue
            }
            var entry = ChatProjection.Entry(
                agents: agents, after: old.after, message: old.message, revision: old.revision, restores: old.restores,
                replaced: old.replaced)
            // An older content without a change in the feed is no edit.
            let content = message.json
            if old.content != content, feed.edited.contains(id) || !old.follows(content) {
                entry.replace(with: message, revision: Self.next(old.revision))
            }
            entries.append(entry)
        }
        let held = Set(entries.map { ByteString($0.message.id) })
        let published = last?.chat.entriesByID ?? [:]
        for (id, old) in known where !held.contains(id) && feed.deletes(id, isPending: published[id] == nil) {
            // A message deleted elsewhere may be moved into a branch here, and back.
            if deletions[id] == nil || feed.deleted.contains(id) { deletedHere.insert(id) }
            deletions[id] = max(deletions[id] ?? 0, old.restores)
            replaced[id, default: []].formUnion(old.replaced)
            noteReplaced(old.content, of: id)
        }
        pending = (last?.pending ?? []).filter { entry in
            let id = ByteString(entry.message.id)
            return !held.contains(id) && deletions[id].map { $0 < entry.restores } ?? true
        }
        var (newTitle, titleRevision) = (title, last?.chat.titleRevision ?? 0)
        if let last, !last.chat.title.hasSameBytes(as: title) {
            let isOlder = title.map { hasReplaced(ByteString($0), of: nil) } ?? true
            if isOlder, !feed.isUpdated {
                newTitle = last.chat.title
            } else {
                titleRevision = Self.next(titleRevision)
                if let old = last.chat.title { noteReplaced(ByteString(old), of: nil) }
            }
        }
        chat = ChatProjection(
            session: session.sessionId, title: newTitle, titleRevision: titleRevision, entries: entries)
    }

    /// The messages held by the history after the synchronization, if it was completed.
    private var known: [ByteString: ChatProjection.Entry] {
        chat.entriesByID.merging(pending.map { (ByteString($0.message.id), $0) }) { held, _ in held }
    }

    private static func next(_ revision: Int) -> Int { min(revision + 1, ChatProjection.mostRevisions) }

    // MARK: The file

    /// Takes the positions from the session's file, and the numbers of equal contents: the other device may have edited a
    /// message and undone that, or deleted and restored it.
    mutating func place(as file: ChatProjection?) {
        guard let file else { return }
        let placed = file.entriesByID
        let entries = chat.entries.map { entry in
            guard let there = placed[ByteString(entry.message.id)] else { return entry }
            var entry = entry
            entry.after = there.after
            if there.content == entry.content,
                (there.restores, there.revision) > (entry.restores, entry.revision)
            {
                (entry.revision, entry.restores) = (there.revision, there.restores)
                entry.replaced.formUnion(there.replaced)
            }
            return entry
        }
        let titleRevision = file.title.hasSameBytes(as: chat.title) ? file.titleRevision : 0
        chat = ChatProjection(
            session: chat.session, title: chat.title, titleRevision: max(chat.titleRevision, titleRevision),
            entries: entries)
    }

    /// Returns the merge with the session's file.
    ///
    /// An edit by a person in the file gets the next revision. A message stays with all its agents.
    func merged(with file: ChatProjection?, since last: SynchronizedChat?) -> ChatProjection {
        let deleted = ChatProjection(session: chat.session, entries: [], deletions: deletions)
        let merged = ChatProjection.merged(
            base: last?.chat, versions: [file, chat, deleted].compactMap { $0 }, session: chat.session)
        let (known, held) = (last?.chat.entriesByID ?? [:], chat.entriesByID)
        let entries = merged.entries.map { entry in
            let id = ByteString(entry.message.id)
            let old = known[id]
            var result = ChatProjection.Entry(
                agents: entry.agents + (held[id]?.agents ?? []), after: entry.after, message: entry.message,
                revision: entry.revision, restores: entry.restores, replaced: entry.replaced)
            if let old, file?.isIntact == false, old.restores == entry.restores, old.revision == entry.revision,
                old.content != entry.content
            {
                result.message = old.message
                result.replace(with: entry.message, revision: Self.next(entry.revision))
            }
            return result
        }
        let isRenamed =
            last.map {
                $0.chat.titleRevision == merged.titleRevision && !$0.chat.title.hasSameBytes(as: merged.title)
            } ?? false
        return ChatProjection(
            session: merged.session, title: merged.title,
            titleRevision: isRenamed ? Self.next(merged.titleRevision) : merged.titleRevision, entries: entries,
            deletions: merged.deletions, others: merged.others)
    }

    /// Whether a merge lacks contents or a title of this state that no one has replaced or deleted knowingly.
    func hasChangesMissing(in merged: ChatProjection, of file: ChatProjection?, since last: SynchronizedChat?) -> Bool {
        let isRenamedByPerson = file?.isIntact == false && last?.chat.title.hasSameBytes(as: chat.title) == true
        if let title = chat.title, !merged.title.hasSameBytes(as: title), !isRenamedByPerson,
            merged.titleRevision <= chat.titleRevision || last?.chat.title.hasSameBytes(as: title) != true
        {
            return true
        }
        let (known, result) = (last?.known ?? [:], merged.entriesByID)
        return chat.entries.contains { entry in
            let id = ByteString(entry.message.id)
            guard let merged = result[id] else {
                return last?.deletions[id] == nil && known[id]?.content != entry.content
            }
            return !merged.follows(entry.content)
        }
    }

    // MARK: Saving

    /// Notes messages of a merged chat as appended to the history.
    mutating func noteAppended(_ messages: [AgentMessage], of merged: ChatProjection) {
        let (there, held) = (merged.entriesByID, chat.entriesByID)
        let groups = messages.groupedByID
        let ids = Set(groups.map { ByteString($0[0].message.id) })
        pending.removeAll { ids.contains(ByteString($0.message.id)) }
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
        if let old = chat.title { noteReplaced(ByteString(old), of: nil) }
        (chat.title, chat.titleRevision) = (merged.title, merged.titleRevision)
    }

    private mutating func replace(with entries: [ChatProjection.Entry]) {
        // Of entries with the same ID, the first is kept.
        chat = ChatProjection(
            session: chat.session, title: chat.title, titleRevision: chat.titleRevision, entries: entries + chat.entries
        )
    }
}

// MARK: - Bytes

extension SynchronizedChat {
    private static let newline = UInt8(ascii: "\n")

    /// The bytes of the note: a line of JSON, and the session.
    var bytes: [UInt8] {
        var head = JSONWriter()
        head.object { object in
            object.member("user") { $0.write(userId) }
            object.member("change") { $0.write(change.sequence) }
            object.member("deletions") { writer in
                writer.write(list: deletions.sorted { $0.key < $1.key }) { writer, deletion in
                    writer.write(list: [JSONValue.string(deletion.key.string), .integer(Int64(deletion.value))]) {
                        $0.write($1)
                    }
                }
            }
            object.member("deletedHere") { $0.write(list: deletedHere.sorted()) { $0.write($1.string) } }
            object.member("pending") { writer in
                writer.write(String(decoding: ChatProjection(session: "", entries: pending).bytes, as: UTF8.self))
            }
            object.member("replaced") { writer in
                let sorted = replaced.sorted { ($0.key ?? ByteString("")) < ($1.key ?? ByteString("")) }
                writer.write(list: sorted) { writer, item in
                    let id = item.key.map { JSONValue.string($0.string) } ?? .null
                    writer.write(list: [id] + item.value.sorted().map { .string($0) }) { $0.write($1) }
                }
            }
        }
        return head.bytes + [Self.newline] + chat.bytes
    }

    /// Creates the state from the bytes of its note.
    /// - Throws: `unreadable` for any other bytes.
    init(bytes: [UInt8]) throws {
        guard let end = bytes.firstIndex(of: Self.newline) else {
            throw RecollectError(.unreadable, "the note of a synchronization has no line")
        }
        let head = try bytes[..<end].withUnsafeBytes { try JSONValue.parse(object: $0) }
        guard case .integer(let change) = head["change"], let userId = head["user"]?.stringValue else {
            throw RecollectError(.unreadable, "the note of a synchronization has no user or no change")
        }
        let deletions = (head["deletions"]?.arrayValue ?? []).compactMap { item -> (ByteString, Int)? in
            guard let fields = item.arrayValue, fields.count == 2, let id = fields[0].stringValue,
                case .integer(let restores) = fields[1]
            else { return nil }
            return (ByteString(id), Int(restores))
        }
        let replaced = (head["replaced"]?.arrayValue ?? []).compactMap { item -> (ByteString?, Set<String>)? in
            guard let fields = item.arrayValue, let id = fields.first else { return nil }
            return (id.stringValue.map { ByteString($0) }, Set(fields.dropFirst().compactMap(\.stringValue)))
        }
        let pending = try head["pending"]?.stringValue.map { try ChatProjection(bytes: Array($0.utf8)).entries }
        self.init(
            userId: userId, chat: try ChatProjection(bytes: Array(bytes[(end + 1)...])),
            deletions: Dictionary(deletions, uniquingKeysWith: max),
            deletedHere: Set(
                (head["deletedHere"]?.arrayValue ?? []).compactMap { $0.stringValue.map { ByteString($0) } }),
            pending: pending ?? [],
            replaced: Dictionary(replaced) { $1 }, change: ChangeCursor(sequence: change))
    }
}

/// The changes of a session in a history's change feed.
struct SessionChanges: Sendable {
    /// The IDs of deleted messages.
    private(set) var deleted: Set<ByteString> = []
    /// The IDs of edited and added messages.
    private(set) var edited: Set<ByteString> = []
    /// Whether messages were moved into a branch, or expired, or the session or its user was deleted.
    private var isRearranged = false
    /// Whether the details may have changed.
    private(set) var isUpdated = false
    /// Whether there are no changes.
    private(set) var isEmpty = true

    mutating func add(_ change: HistoryChange) {
        isEmpty = false
        let id = ByteString(change.messageId ?? "")
        switch change.kind {
        case .messageDeleted: deleted.insert(id)
        case .messageAdded, .messageEdited: edited.insert(id)
        case .sessionUpdated: isUpdated = true
        case .sessionRearranged, .sessionDeleted, .userDeleted: isRearranged = true
        default: break
        }
    }

    /// Whether a missing message was deleted.
    /// - Parameter isPending: Whether it may never have been appended.
    func deletes(_ id: ByteString, isPending: Bool) -> Bool {
        deleted.contains(id) || isRearranged && !isPending
    }
}

extension ChatProjection.Entry {
    /// The entry with other agents.
    fileprivate func of(_ agents: [String]) -> ChatProjection.Entry {
        .init(
            agents: agents, after: after, message: message, revision: revision, restores: restores, replaced: replaced)
    }
}

extension [AgentMessage] {
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
