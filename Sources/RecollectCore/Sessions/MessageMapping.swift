import Foundation

/// The two message models as one: a message of a history is what a chat UI shows as one entry, or as several.
///
/// | Part | Entry |
/// |---|---|
/// | `.text`, `.audioTranscript` | the message's role, text |
/// | `.thinking` | thinking |
/// | `.toolCall` | toolUse, with `toolName` and `toolInputData`; its id is `toolCallId` in the metadata |
/// | `.toolResult` | toolResult, or toolError where the importer noted `is_error`; `toolCallId` as above |
/// | `.attachment` | one of the `attachments` of the entry before it, or, first in a message, of the entry after it |
/// | `.unknown` | the message's role, without text |
///
/// Every entry shows its message's metadata; the last one shows whether it is in flight or was interrupted. A message without
/// parts is one empty entry. What a UI said of an entry and the parts have no place for is kept in the message's metadata under
/// `chat`, by the index of the part; that key is not shown, nor is `partFields`, where importers keep fields of parts.
///
/// Reading and saving back changes nothing, and what was saved is read with every field.
extension ConversationMessage {
    /// The message as a chat UI shows it, in the order of its parts; at least one entry.
    ///
    /// One entry alone has the message's id where that is a UUID. The ids of all others are made of the message's id and the
    /// index of their part, the same on every machine, and stay with them when others are removed.
    public func chatMessages() -> [ChatMessage] {
        chatEntries().map(\.chat)
    }

    /// Makes a message of what a chat UI made, under the same id.
    ///
    /// A tool's call or result without a string `toolCallId` in its metadata has the entry's own id for it.
    /// - Parameters:
    ///   - chat: the entry.
    ///   - callId: for a tool's result that does not say so itself: the call that it answers.
    public init(_ chat: ChatMessage, answering callId: String? = nil) {
        let kind = ChatEntry.Kind(of: chat)
        let attachments = chat.attachments.map { ContentPart.attachment($0) }
        // Models refuse empty prose beside a file.
        let isFilesAlone = kind == .text && chat.content.isEmpty && !attachments.isEmpty
        let head = isFilesAlone ? [] : [ContentPart(kind, of: chat, answering: callId)]
        self.init(
            id: chat.id.uuidString, role: kind.role(of: chat), parts: head + attachments, timestamp: chat.timestamp)
        setMetadata(from: [:], to: chat.metadata)
        if chat.wasCancelled { isInterrupted = true }
        noteWhatHasNoPlace(in: [chat])
    }

    /// The message after a chat UI has changed its entries; `nil` where none of them is left.
    ///
    /// Entries are known by their ids and stand in the order given; those that are missing are removed with their parts, and those
    /// of other messages are passed over. A part whose entry shows it unchanged stays exactly as it is.
    public func replacing(_ chats: [ChatMessage]) -> ConversationMessage? {
        let entries = chatEntries()
        let places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.chat.id, $0) })
        let kept = chats.eachIdOnce().compactMap { chat in places[chat.id].map { (entry: entries[$0], chat: chat) } }
        guard let last = kept.last else { return nil }
        if kept.count == entries.count, zip(kept, entries).allSatisfy({ $0.chat == $1.chat }) { return self }

        var message = self
        let parts = kept.enumerated().flatMap { $1.entry.parts(showing: $1.chat, isFirst: $0 == 0) }
        message.parts = parts.map(\.part)
        message.movePartFields(to: parts.map(\.index))
        if kept.count == 1 { message.take(last.chat, insteadOf: last.entry.chat) }
        if last.chat.isComplete, message.isInFlight { message.isInFlight = false }
        if last.chat.wasCancelled != last.entry.chat.wasCancelled { message.isInterrupted = last.chat.wasCancelled }
        message.noteWhatHasNoPlace(in: kept.map(\.chat), before: kept.map(\.entry))
        return message
    }
}

extension [ChatMessage] {
    /// The entries with each id once: where it first stands, as it is last given.
    package func eachIdOnce() -> [ChatMessage] {
        var places: [UUID: Int] = [:]
        places.reserveCapacity(count)
        var entries: [ChatMessage] = []
        entries.reserveCapacity(count)
        for entry in self {
            if let place = places[entry.id] {
                entries[place] = entry
            } else {
                places[entry.id] = entries.count
                entries.append(entry)
            }
        }
        return entries
    }
}

extension ConversationMessage {
    /// Under this key of the metadata lies what parts have no place for.
    private static let notes = "chat"
    /// Where importers keep fields of parts, by the index of the part.
    private static let partFields = "partFields"
    private static let hidden = [notes, partFields]
    private static let states = ["interrupted", "inFlight"]

    /// The entries that the message's parts are shown as, with what was noted of them.
    func chatEntries() -> [ChatEntry] {
        let plain = plainEntries()
        guard let notes = metadata[Self.notes]?.objectValue else { return plain }
        var ids: Set<UUID> = []
        return plain.map { entry in
            var entry = entry
            entry.note(notes[String(entry.index)]?.objectValue ?? [:])
            // Whoever added parts without regard to the notes must not make two entries of one id.
            while !ids.insert(entry.chat.id).inserted {
                entry.chat.id = ChatEntry.id(of: entry.chat.id.uuidString, at: entry.index)
            }
            return entry
        }
    }

    /// The entries that the parts are shown as, without what was noted of them.
    private func plainEntries() -> [ChatEntry] {
        let shown = shownMetadata
        let fields = metadata[Self.partFields]
        let groups = ChatEntry.groups(of: parts)
        return groups.enumerated().map { number, group in
            var entry = ChatEntry(group, of: self, isAlone: groups.count == 1, metadata: shown)
            if fields?[String(entry.index)]?["is_error"] == true { entry.tellOfError() }
            if number == groups.count - 1 {
                entry.chat.isComplete = !isInFlight
                entry.chat.wasCancelled = isInterrupted
            }
            return entry
        }
    }

    private var shownMetadata: [String: JSONValue] {
        guard !metadata.isEmpty else { return metadata }
        var shown = metadata
        for key in Self.hidden { shown[key] = nil }
        for key in Self.states where shown[key] == true { shown[key] = nil }
        return shown
    }

    /// Takes what belongs to the message as a whole from the entry that alone is left of it.
    private mutating func take(_ chat: ChatMessage, insteadOf shown: ChatMessage) {
        let kind = ChatEntry.Kind(of: chat)
        if chat.role != shown.role || kind != ChatEntry.Kind(of: shown) { role = kind.role(of: chat) }
        if chat.timestamp != shown.timestamp { timestamp = chat.timestamp }
        setMetadata(from: shown.metadata, to: chat.metadata)
    }

    /// Sets what has changed between two states of an entry's metadata, but for what lies elsewhere: the id of a call, and states.
    private mutating func setMetadata(from old: [String: JSONValue], to new: [String: JSONValue]) {
        // The new keys first: a dictionary takes keys for equal that are other bytes (`é` in one code point and in two).
        for key in Set(new.keys).union(old.keys) where !Self.hidden.contains(key) {
            if let index = old.index(forKey: key), old[index].key.hasSameBytes(as: key), let new = new[key],
                old[index].value.hasSameBytes(as: new)
            {
                continue
            }
            if key == ChatEntry.toolCallId, parts.contains(where: \.belongsToToolExchange) { continue }
            if Self.states.contains(key), new[key] == true || metadata[key] == true { continue }
            // Taken out first: else the old key's bytes would stay.
            metadata[key] = nil
            metadata[key] = new[key]
        }
    }

    /// Notes in the metadata what the entries of these parts are to show beside what the parts tell.
    private mutating func noteWhatHasNoPlace(in chats: [ChatMessage], before: [ChatEntry] = []) {
        metadata[Self.notes] = nil
        var notes: [String: JSONValue] = [:]
        for (number, (entry, chat)) in zip(plainEntries(), chats).enumerated() {
            var note = before.isEmpty ? [:] : before[number].unknownNotes
            note.merge(ChatNote.difference(from: entry.chat, to: chat)) { _, known in known }
            if !note.isEmpty { notes[String(entry.index)] = .object(note) }
        }
        if !notes.isEmpty { metadata[Self.notes] = .object(notes) }
    }

    /// Lets the fields of parts follow their parts, which now stand in the order of these old indices.
    private mutating func movePartFields(to order: [Int?]) {
        guard let fields = metadata[Self.partFields]?.objectValue else { return }
        var moved: [String: JSONValue] = [:]
        for (index, old) in order.enumerated() {
            guard let old, let value = fields[String(old)] else { continue }
            moved[String(index)] = value
        }
        metadata[Self.partFields] = moved.isEmpty ? nil : .object(moved)
    }
}
