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
    /// The IDs of messages of the file about to be appended to the history.
    var pending: Set<ByteString> = []
    /// Hashes of earlier contents of messages, the latest last, and of earlier titles (with the ID `nil`). In a file,
    /// they are older states, and no changes.
    var replaced: [ByteString?: [String]] = [:]
    /// The end of the history's change feed, read before the session.
    var change: ChangeCursor

    /// The greatest number of earlier contents of a message.
    private static let mostReplaced = 32

    /// Whether two states are the same, at any position of the feed. A note of the earlier position is as good.
    func isSame(as other: SynchronizedChat) -> Bool {
        var other = other
        other.change = change
        return self == other
    }

    /// Whether a title or a content of a message is known to be replaced.
    func isReplaced(_ id: ByteString?, _ content: ByteString) -> Bool {
        replaced[id]?.contains(Self.hash(content)) ?? false
    }

    private mutating func noteReplaced(_ content: ByteString, of id: ByteString?) {
        let hash = Self.hash(content)
        replaced[id] = ((replaced[id] ?? []).filter { $0 != hash } + [hash]).suffix(Self.mostReplaced)
    }

    private static func hash(_ content: ByteString) -> String {
        String(ContentHash(of: content.string.utf8).rawValue.prefix(16))
    }
}

// MARK: - The history

extension SynchronizedChat {
    /// Creates the state of a session in a history.
    /// - Parameters:
    ///   - last: The state at the last synchronization; `nil` if there was none.
    ///   - messages: All messages of the session in order, with their agents.
    ///   - deleted: The missing IDs deleted since.
    ///   - change: The end of the change feed, read before the messages.
    init(
        _ session: SessionKey, title: String?, _ messages: [AgentMessage], after last: SynchronizedChat?,
        deleted: Set<ByteString>, change: ChangeCursor
    ) {
        let known = last?.chat.entriesByID ?? [:]
        self.init(
            userId: session.userId, chat: ChatProjection(session: session.sessionId, entries: []),
            deletions: last?.deletions ?? [:], replaced: last?.replaced ?? [:], change: change)
        var entries: [ChatProjection.Entry] = []
        var previous: String?
        for copies in messages.groupedByID {
            let message = copies[0].message
            let id = ByteString(message.id)
            // Copies with other content stay in the history alone.
            let agents = copies.filter { $0.message.json == message.json }.map(\.agentId)
            defer { previous = message.id }
            guard let old = known[id] else {
                let restores = deletions.removeValue(forKey: id).map { min($0 + 1, ChatProjection.mostRevisions) }
                entries.append(.init(agents: agents, after: previous, message: message, restores: restores ?? 0))
                continue
            }
            let isEdited = old.message.json != message.json
            if isEdited { noteReplaced(old.message.json, of: id) }
            entries.append(
                .init(
                    agents: agents, after: old.after, message: message,
                    revision: isEdited ? Self.next(old.revision) : old.revision, restores: old.restores))
        }
        for id in deleted {
            deletions[id] = max(deletions[id] ?? 0, known[id]?.restores ?? 0)
            if let old = known[id] { noteReplaced(old.message.json, of: id) }
        }
        pending = (last?.pending ?? []).subtracting(entries.map { ByteString($0.message.id) }).subtracting(deleted)
        var titleRevision = last?.chat.titleRevision ?? 0
        if let last, !last.chat.title.hasSameBytes(as: title) {
            titleRevision = Self.next(titleRevision)
            if let old = last.chat.title { noteReplaced(ByteString(old), of: nil) }
        }
        chat = ChatProjection(
            session: session.sessionId, title: title, titleRevision: titleRevision, entries: entries)
    }

    /// Returns the IDs that the history should have according to the last synchronization, and has not.
    static func missing(
        in messages: [AgentMessage], after last: SynchronizedChat?
    ) -> (published: Set<ByteString>, pending: Set<ByteString>) {
        guard let last else { return ([], []) }
        let held = Set(messages.map { ByteString($0.message.id) })
        let published = Set(last.chat.entries.map { ByteString($0.message.id) }).subtracting(held)
        return (published, last.pending.subtracting(held).subtracting(published))
    }

    private static func next(_ revision: Int) -> Int { min(revision + 1, ChatProjection.mostRevisions) }

    // MARK: The file

    /// Takes the positions from the session's file, and the numbers of messages unknown until now.
    mutating func place(as file: ChatProjection?, after last: SynchronizedChat?) {
        let (placed, known) = (file?.entriesByID ?? [:], last?.chat.entriesByID ?? [:])
        let entries = chat.entries.map { entry in
            let id = ByteString(entry.message.id)
            guard let there = placed[id] else { return entry }
            var entry = entry
            entry.after = there.after
            if known[id] == nil, there.restores >= entry.restores, there.message.json == entry.message.json {
                (entry.revision, entry.restores) = (there.revision, there.restores)
            }
            return entry
        }
        let takesRevision = last == nil && file?.title.hasSameBytes(as: chat.title) == true
        chat = ChatProjection(
            session: chat.session, title: chat.title,
            titleRevision: takesRevision ? file?.titleRevision ?? 0 : chat.titleRevision, entries: entries)
    }

    /// Returns the merge with the session's file.
    ///
    /// A change made without a new revision, by a person, gets one. A message stays with all its agents.
    func merged(with file: ChatProjection?, since last: SynchronizedChat?) -> ChatProjection {
        let deleted = ChatProjection(session: chat.session, entries: [], deletions: deletions)
        let merged = ChatProjection.merged(
            base: last?.chat, versions: [file, chat, deleted].compactMap { $0 }, session: chat.session)
        let (known, held) = (last?.chat.entriesByID ?? [:], chat.entriesByID)
        let entries = merged.entries.map { entry in
            let id = ByteString(entry.message.id)
            let old = known[id]
            let isEdited =
                old.map {
                    $0.restores == entry.restores && $0.revision == entry.revision
                        && $0.message.json != entry.message.json
                } ?? false
            return ChatProjection.Entry(
                agents: entry.agents + (held[id]?.agents ?? []), after: entry.after, message: entry.message,
                revision: isEdited ? Self.next(entry.revision) : entry.revision, restores: entry.restores)
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

    /// Whether a merge lacks changes of this state: made here since the last synchronization, or on two devices at once.
    func hasChangesMissing(in merged: ChatProjection, of file: ChatProjection?, since last: SynchronizedChat?) -> Bool {
        if merged.lacksChanges(of: chat, since: last?.chat) { return true }
        // Two devices gave different values the same number. A person's edit has no number of its own.
        guard let file, file.isIntact else { return false }
        if file.titleRevision == chat.titleRevision, let title = chat.title,
            ![file.title, merged.title].contains(where: { $0.hasSameBytes(as: title) })
        {
            return true
        }
        let (there, result) = (file.entriesByID, merged.entriesByID)
        return chat.entries.contains { entry in
            let id = ByteString(entry.message.id)
            guard let other = there[id], let merged = result[id] else { return false }
            return other.restores == entry.restores && other.revision == entry.revision
                && other.message.json != entry.message.json && merged.message.json != entry.message.json
        }
    }

    // MARK: Saving

    /// Notes messages of a merged chat as appended to the history.
    mutating func noteAppended(_ messages: some Sequence<AgentMessage>, of merged: ChatProjection) {
        let (there, held) = (merged.entriesByID, chat.entriesByID)
        let added = messages.map(\.self).groupedByID.compactMap { copies -> ChatProjection.Entry? in
            let id = ByteString(copies[0].message.id)
            pending.remove(id)
            deletions[id] = nil
            guard let entry = held[id] ?? there[id] else { return nil }
            return .init(
                agents: copies.map(\.agentId) + (held[id]?.agents ?? []), after: entry.after, message: entry.message,
                revision: entry.revision, restores: entry.restores)
        }
        replace(with: added)
    }

    /// Notes messages of a merged chat as edited in the history.
    mutating func noteEdited(_ ids: Set<ByteString>, of merged: ChatProjection) {
        let held = chat.entriesByID
        replace(
            with: merged.entries.filter { ids.contains(ByteString($0.message.id)) }.map { entry in
                let id = ByteString(entry.message.id)
                let old = held[id]
                if let old { noteReplaced(old.message.json, of: id) }
                return .init(
                    agents: old?.agents ?? entry.agents, after: entry.after, message: entry.message,
                    revision: entry.revision, restores: entry.restores)
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
            object.member("pending") { $0.write(list: pending.sorted()) { $0.write($1.string) } }
            object.member("replaced") { writer in
                let sorted = replaced.sorted { ($0.key ?? ByteString("")) < ($1.key ?? ByteString("")) }
                writer.write(list: sorted) { writer, item in
                    let id = item.key.map { JSONValue.string($0.string) } ?? .null
                    writer.write(list: [id] + item.value.map { .string($0) }) { $0.write($1) }
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
        let replaced = (head["replaced"]?.arrayValue ?? []).compactMap { item -> (ByteString?, [String])? in
            guard let fields = item.arrayValue, let id = fields.first else { return nil }
            return (id.stringValue.map { ByteString($0) }, fields.dropFirst().compactMap(\.stringValue))
        }
        self.init(
            userId: userId, chat: try ChatProjection(bytes: Array(bytes[(end + 1)...])),
            deletions: Dictionary(deletions, uniquingKeysWith: max),
            pending: Set((head["pending"]?.arrayValue ?? []).compactMap { $0.stringValue.map { ByteString($0) } }),
            replaced: Dictionary(replaced) { $1 }, change: ChangeCursor(sequence: change))
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

extension String? {
    /// Whether both are missing, or have the same bytes.
    func hasSameBytes(as other: String?) -> Bool {
        map { ByteString($0) } == other.map { ByteString($0) }
    }
}
