import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// The expected content of a history, in plain arrays. Each operation implements its documentation and nothing more.
struct LibraryModel {
    struct Message: Equatable {
        var agent: String
        var message: ConversationMessage

        static func == (left: Message, right: Message) -> Bool {
            left.agent == right.agent && left.message.id.hasSameBytes(as: right.message.id)
                && left.message.asKept.hasSameContent(as: right.message.asKept)
        }
    }

    struct ModelSession: Equatable {
        var messages: [Message] = []
        var title: String?
        var tags: Set<String> = []
        var isPinned = false
        var isDiscarded = false
        /// The session that this one is a branch of, and the last message common to both.
        var origin: String?
        var anchor: Anchor?

        /// The index of the message with that ID, of one agent or of any.
        func index(of id: String, agent: String? = nil) -> Int? {
            messages.firstIndex { held in
                held.message.id.hasSameBytes(as: id) && agent.map { held.agent == $0 } ?? true
            }
        }
    }

    struct Anchor: Equatable {
        var id: String
        var agent: String
    }

    var sessions: [String: ModelSession] = [:]

    /// Returns the IDs of the adopted messages. They had no agent before and are now at the end.
    @discardableResult
    mutating func append(
        _ messages: [ConversationMessage], to session: String, as agent: String, adopting: Bool = false
    ) -> Set<String> {
        sessions[session, default: ModelSession()].isDiscarded = false
        var adopted: Set<String> = []
        for message in messages {
            var new = Message(agent: agent, message: message)
            if sessions[session]?.index(of: message.id, agent: agent) != nil { continue }
            if adopting, let known = sessions[session]?.index(of: message.id, agent: ""),
                let held = sessions[session]?.messages[known]
            {
                new.message = held.message
                sessions[session]?.messages.remove(at: known)
                adopted.insert(message.id)
            }
            sessions[session]?.messages.append(new)
        }
        return adopted
    }

    mutating func delete(_ session: String) {
        guard sessions.removeValue(forKey: session) != nil else { return }
        for (branch, _) in sessions.filter({ $0.value.origin == session }) { delete(branch) }
    }

    mutating func fork(_ session: String, at index: Int, into new: String) {
        let source = sessions[session] ?? ModelSession()
        var copy = sessions[new] ?? ModelSession()
        copy.messages = Array(source.messages[...index])
        copy.title = copy.title ?? source.title
        copy.tags.formUnion(source.tags)
        copy.isDiscarded = false
        sessions[new] = copy
    }

    mutating func cut(_ session: String, from index: Int, into branch: String) {
        guard let source = sessions[session] else { return }
        let last = index > 0 ? source.messages[index - 1] : nil
        let anchor = last.map { Anchor(id: $0.message.id, agent: $0.agent) }
        sessions[branch] = ModelSession(
            messages: Array(source.messages[index...]), origin: session, anchor: anchor)
        sessions[session]?.messages.removeSubrange(index...)
    }

    /// The index at which a session and its branch diverge, or `nil` if the branch cannot be restored.
    func position(of branch: String, in session: String) -> Int? {
        guard let anchor = sessions[branch]?.anchor else { return 0 }
        // A message without an agent may have been adopted.
        let position =
            sessions[session]?.index(of: anchor.id, agent: anchor.agent)
            ?? (anchor.agent.isEmpty ? sessions[session]?.index(of: anchor.id) : nil)
        return position.map { $0 + 1 }
    }

    mutating func restore(_ branch: String, in session: String, cutInto other: String?) {
        guard let position = position(of: branch, in: session), let source = sessions[branch] else { return }
        if let other { cut(session, from: position, into: other) }
        sessions[branch] = nil
        sessions[session]?.messages += source.messages
        for (name, value) in sessions where value.origin == branch { sessions[name]?.origin = session }
    }

    private func isBranch(_ session: String, under other: String) -> Bool {
        guard let origin = sessions[session]?.origin else { return false }
        return origin == other || isBranch(origin, under: other)
    }

    mutating func move(_ session: String, to new: String) {
        guard session != new, let source = sessions[session] else { return }
        guard var target = sessions[new] else {
            sessions[session] = nil
            sessions[new] = source
            for (name, value) in sessions where value.origin == session { sessions[name]?.origin = new }
            return
        }
        var messages: [Message] = []
        // The messages of the new session that already have a position.
        var taken: [Message] = []
        old: for old in source.messages {
            guard let known = target.index(of: old.message.id, agent: old.agent) else {
                messages.append(old)
                continue
            }
            let saved = target.messages.remove(at: known)
            messages.append(saved)
            taken.append(saved)
            var copy = old.message
            while let same = (taken + target.messages + (copy.id == old.message.id ? [] : source.messages)).first(
                where: { $0.message.id == copy.id && $0.agent == old.agent })
            {
                if same.message.asKept.hasSameContent(as: old.message.asKept) { continue old }
                copy = copy.under(id: copy.copyId(from: session))
            }
            messages.append(Message(agent: old.agent, message: copy))
        }
        target.messages = messages + target.messages
        target.title = target.title ?? source.title
        target.tags.formUnion(source.tags)
        target.isPinned = target.isPinned || source.isPinned
        target.isDiscarded = false
        if isBranch(new, under: session) {
            target.origin = source.origin
            target.anchor = source.anchor
        }
        sessions[session] = nil
        sessions[new] = target
        for (name, value) in sessions where value.origin == session { sessions[name]?.origin = new }
    }

    /// Saves a transcript for a storage that has shown or saved `known`. Only entries changed by the storage change.
    /// - Parameter owners: The owners of shown entries that are not identified by their IDs.
    mutating func save(
        _ transcript: [ChatMessage], known: [ChatMessage], owners: [UUID: Transcript.Owner], to session: String,
        as agent: String
    ) {
        sessions[session, default: ModelSession()].isDiscarded = false
        let ids = Set(transcript.map(\.id))
        let removed = known.map(\.id).filter { !ids.contains($0) }
        let before = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let touched = transcript.filter { before[$0.id] != $0 }
        let old = sessions[session]?.messages ?? []
        let positions = LibraryEntries(old, owners: owners)
        var entries = old.map { $0.message.chatMessages() }
        var new: [ChatMessage] = []
        var whole: [Int: ConversationMessage] = [:]
        /// The new entries whose IDs belong to other messages.
        var withTakenIDs: Set<UUID> = []
        for entry in touched {
            guard let position = positions.find(entry.id) else {
                new.append(entry)
                continue
            }
            for (number, message) in position.messages.enumerated() {
                if let index = entries[message].firstIndex(where: { $0.id == position.entryId }) {
                    entries[message][index] = entry.applied(to: entries[message][index], since: before[entry.id])
                    entries[message][index].id = position.entryId
                } else if UUID(uuidString: old[message].message.id) == entry.id {
                    // An entry with the message's ID edits the message. Text replaces the texts of the message.
                    let texts = entries[message].indices.filter { entries[message][$0].messageType == .text }
                    if entry.messageType != .text || texts.count == entries[message].count {
                        whole[message] = ConversationMessage(entry).under(id: old[message].message.id)
                    } else if let first = texts.first {
                        guard texts.map({ entries[message][$0].content }).joined() != entry.content else { continue }
                        let id = entries[message][first].id
                        entries[message][first] = entry.applied(to: entries[message][first], since: before[entry.id])
                        entries[message][first].id = id
                        for index in texts.dropFirst().reversed() { entries[message].remove(at: index) }
                    } else if number == 0 {
                        withTakenIDs.insert(entry.id)
                        new.append(entry)
                    }
                } else if number == 0 {
                    new.append(entry)
                }
            }
        }
        for id in removed {
            guard let position = positions.find(id) else { continue }
            for message in position.messages { entries[message].removeAll { $0.id == position.entryId } }
        }
        let saved = old.indices.compactMap { index in
            (whole[index] ?? old[index].message.replacing(entries[index])).map {
                Message(agent: old[index].agent, message: $0)
            }
        }
        var all = saved
        for entry in new {
            var message = ConversationMessage(entry)
            if withTakenIDs.contains(entry.id) {
                repeat {
                    message = message.under(id: ConversationMessage.copyId(of: message.id, from: session))
                } while all.contains { $0.message.id == message.id }
            }
            all.append(Message(agent: agent, message: message))
        }
        sessions[session]?.messages = all
    }

    /// The hashes of the attachments in use.
    var attachments: Set<String> { Set(sessions.values.flatMap { $0.messages.flatMap(\.message.storedHashes) }) }
}

/// The messages of a session to which a storage's entries belong.
private struct LibraryEntries {
    private let messages: [LibraryModel.Message]
    private let shown: [[ChatMessage]]
    private let owners: [UUID: Transcript.Owner]
    private let current: [UUID: Transcript.Owner]

    init(_ messages: [LibraryModel.Message], owners: [UUID: Transcript.Owner]) {
        self.messages = messages
        self.owners = owners
        shown = messages.map { $0.message.asKept.chatMessages() }
        current =
            Transcript(
                messages.map { AgentMessage(agentId: $0.agent, message: $0.message.asKept) }
            ).owners
    }

    /// The messages shown by an entry, the first one first, and the entry's ID in them, or `nil` for a new entry.
    func find(_ id: UUID) -> (messages: [Int], entryId: UUID)? {
        if let owner = owners[id] {
            if let found = find(owner) { return found }
            if owner.agentId.isEmpty, let found = find(owner.messageId, where: { !isKnown(owner.messageId, of: $0) }) {
                return (found, owner.entryId)
            }
        }
        for name in [id.uuidString, id.uuidString.lowercased()] {
            if let found = find(name, where: { _ in true }) { return (found, id) }
        }
        return current[id].flatMap(find)
    }

    private func find(_ owner: Transcript.Owner) -> (messages: [Int], entryId: UUID)? {
        find(owner.messageId) { $0 == owner.agentId }.map { ($0, owner.entryId) }
    }

    private func find(_ id: String, where isMeant: (String) -> Bool) -> [Int]? {
        let held = messages.indices.filter { messages[$0].message.id.hasSameBytes(as: id) }
        guard let own = held.first(where: { isMeant(messages[$0].agent) }) else { return nil }
        return [own]
            + held.filter { other in
                other != own && !isKnown(id, of: messages[other].agent) && shown[other].show(theSameAs: shown[own])
            }
    }

    private func isKnown(_ id: String, of agent: String) -> Bool {
        owners.values.contains { $0.messageId.hasSameBytes(as: id) && $0.agentId == agent }
    }
}

extension ConversationMessage {
    /// The message with its attachments named by their hashes, as stored in a history.
    var asKept: ConversationMessage {
        var message = self
        message.parts = parts.map { part in
            guard case .attachment(var attachment) = part, case .inline(let bytes) = attachment.content else {
                return part
            }
            attachment.content = .stored(sha256: Attachment.sha256(of: bytes), byteCount: bytes.count)
            return .attachment(attachment)
        }
        return message
    }

    /// The message with another ID.
    func under(id: String) -> ConversationMessage {
        ConversationMessage(
            id: id, role: role, parts: parts, timestamp: timestamp, metadata: metadata, unknownFields: unknownFields)
    }

    fileprivate var storedHashes: [String] {
        asKept.parts.compactMap { part in
            if case .stored(let hash, _) = part.attachment?.content { hash } else { nil }
        }
    }
}

extension ChatMessage {
    /// Returns a stored entry with the fields changed since the storage has shown or saved this entry.
    fileprivate func applied(to stored: ChatMessage, since known: ChatMessage?) -> ChatMessage {
        guard let known else { return added(to: stored) }
        var entry = self
        if timestamp == known.timestamp { entry.timestamp = stored.timestamp }
        if isError == known.isError { entry.isError = stored.isError }
        if wasCancelled == known.wasCancelled { entry.wasCancelled = stored.wasCancelled }
        if isTaskContainer == known.isTaskContainer { entry.isTaskContainer = stored.isTaskContainer }
        if taskGroupId == known.taskGroupId { entry.taskGroupId = stored.taskGroupId }
        if attachments == known.attachments { entry.attachments = stored.attachments }
        if metadata == known.metadata { entry.metadata = stored.metadata }
        return entry
    }

    /// Returns a stored entry with the text and the additions of this one, which the storage has neither shown nor saved.
    fileprivate func added(to stored: ChatMessage) -> ChatMessage {
        var entry = self
        entry.timestamp = stored.timestamp
        entry.attachments = stored.attachments + attachments.filter { !stored.attachments.contains($0) }
        entry.metadata = stored.metadata.merging(metadata) { $1 }
        entry.isError = isError || stored.isError
        entry.wasCancelled = wasCancelled || stored.wasCancelled
        entry.isTaskContainer = isTaskContainer || stored.isTaskContainer
        entry.taskGroupId = taskGroupId ?? stored.taskGroupId
        entry.isComplete = isComplete || stored.isComplete
        return entry
    }
}
