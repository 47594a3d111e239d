import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// What a history must hold, kept as plain arrays: each operation is what its documentation says, and nothing more.
struct LibraryModel {
    struct Message: Equatable {
        var agent: String
        var message: ConversationMessage

        static func == (left: Message, right: Message) -> Bool {
            left.agent == right.agent && left.message.id.hasSameBytes(as: right.message.id)
                && left.message.asKept.hasSameContent(as: right.message.asKept)
        }
    }

    struct Session: Equatable {
        var messages: [Message] = []
        var title: String?
        var tags: Set<String> = []
        var isPinned = false
        var isDiscarded = false
        /// The session that this one is a branch of, and the last message that both have.
        var origin: String?
        var anchor: String?

        func index(of id: String) -> Int? { messages.firstIndex { $0.message.id.hasSameBytes(as: id) } }
    }

    var sessions: [String: Session] = [:]

    /// Returns the ids of the messages that were nobody's and are the agent's now; they stand at the end.
    @discardableResult
    mutating func append(
        _ messages: [ConversationMessage], to session: String, as agent: String, adopting: Bool = false
    ) -> Set<String> {
        sessions[session, default: Session()].isDiscarded = false
        var adopted: Set<String> = []
        for message in messages {
            var new = Message(agent: agent, message: message)
            if let known = sessions[session]?.index(of: message.id), let held = sessions[session]?.messages[known] {
                guard adopting, held.agent.isEmpty, !agent.isEmpty else { continue }
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
        let source = sessions[session] ?? Session()
        var copy = sessions[new] ?? Session()
        copy.messages = Array(source.messages[...index])
        copy.title = source.title
        copy.tags.formUnion(source.tags)
        copy.isDiscarded = false
        sessions[new] = copy
    }

    mutating func cut(_ session: String, from index: Int, into branch: String) {
        guard let source = sessions[session] else { return }
        let anchor = index > 0 ? source.messages[index - 1].message.id : nil
        sessions[branch] = Session(
            messages: Array(source.messages[index...]), origin: session, anchor: anchor)
        sessions[session]?.messages.removeSubrange(index...)
    }

    /// Where a session differs from its branch; `nil` where the branch cannot be restored.
    func place(of branch: String, in session: String) -> Int? {
        guard let anchor = sessions[branch]?.anchor else { return 0 }
        return sessions[session]?.index(of: anchor).map { $0 + 1 }
    }

    mutating func restore(_ branch: String, in session: String, cutInto other: String?) {
        guard let place = place(of: branch, in: session), let source = sessions[branch] else { return }
        if let other { cut(session, from: place, into: other) }
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
        // What the new session has already given a place.
        var taken: [Message] = []
        old: for old in source.messages {
            guard let known = target.index(of: old.message.id) else {
                messages.append(old)
                continue
            }
            let kept = target.messages.remove(at: known)
            messages.append(kept)
            taken.append(kept)
            var copy = old.message
            while let same = (taken + target.messages + (copy.id == old.message.id ? [] : source.messages)).first(
                where: { $0.message.id == copy.id })
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

    /// What a storage saves that has shown or saved `known`: only what it changed changes.
    /// - Parameter owners: of the entries that it has shown, those whose ids do not tell their messages.
    mutating func save(
        _ transcript: [ChatMessage], known: [ChatMessage], owners: [UUID: Transcript.Owner], to session: String,
        as agent: String
    ) {
        sessions[session, default: Session()].isDiscarded = false
        let ids = Set(transcript.map(\.id))
        let removed = known.map(\.id).filter { !ids.contains($0) }
        let before = Dictionary(known.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let touched = transcript.filter { before[$0.id] != $0 }
        let old = sessions[session]?.messages ?? []
        let current = Transcript(old.map(\.message)).owners
        var entries = old.map { $0.message.chatMessages() }
        /// Which entry of which message an entry is that the storage knows.
        func place(of id: UUID) -> (message: Int, entryId: UUID)? {
            for owner in [
                owners[id], .init(messageId: id.uuidString, entryId: id),
                .init(messageId: id.uuidString.lowercased(), entryId: id), current[id],
            ].compactMap({ $0 }) {
                if let index = old.firstIndex(where: { $0.message.id.hasSameBytes(as: owner.messageId) }) {
                    return (index, owner.entryId)
                }
            }
            return nil
        }
        var new: [ChatMessage] = []
        var whole: [Int: ConversationMessage] = [:]
        for entry in touched {
            if let place = place(of: entry.id), UUID(uuidString: old[place.message].message.id) == entry.id,
                !entries[place.message].contains(where: { $0.id == place.entryId })
            {
                // The same id edits, whatever the message has become.
                whole[place.message] = ConversationMessage(entry).under(id: old[place.message].message.id)
                continue
            }
            guard let place = place(of: entry.id),
                let index = entries[place.message].firstIndex(where: { $0.id == place.entryId })
            else {
                new.append(entry)
                continue
            }
            var own = entry
            own.id = place.entryId
            entries[place.message][index] = own
        }
        for id in removed {
            if let place = place(of: id) { entries[place.message].removeAll { $0.id == place.entryId } }
        }
        let kept = old.indices.compactMap { index in
            (whole[index] ?? old[index].message.replacing(entries[index])).map {
                Message(agent: old[index].agent, message: $0)
            }
        }
        sessions[session]?.messages =
            kept + new.map { Message(agent: agent, message: ConversationMessage($0)) }
    }

    /// The attachments that messages use.
    var attachments: Set<String> { Set(sessions.values.flatMap { $0.messages.flatMap(\.message.storedHashes) }) }
}

extension ConversationMessage {
    /// The message with its attachments named by their hashes, as a history keeps it.
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

    /// The message under another id.
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
