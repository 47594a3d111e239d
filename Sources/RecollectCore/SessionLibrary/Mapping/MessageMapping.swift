import Foundation

/// The mapping between the two message models: a message of a history is one or more entries of a chat UI.
///
/// | Part | Entry |
/// |---|---|
/// | `.text`, `.audioTranscript` | the message's role, text |
/// | `.thinking` | thinking |
/// | `.toolCall` | toolUse, with `toolName` and `toolInputData`; its ID is `toolCallId` in the metadata |
/// | `.toolResult` | toolResult, or toolError if the importer noted `is_error`; `toolCallId` as above |
/// | `.attachment` | one of the `attachments` of the previous entry, or, first in a message, of the next one |
/// | `.unknown` | the message's role, without text |
///
/// Every entry has its message's metadata; the last one shows whether the message is streaming or was interrupted.
/// A message without parts is one empty entry. Fields of an entry without a counterpart in the parts are stored in
/// the message's metadata under `chat`, by the index of the part. Entries show neither this key nor `partFields`,
/// used by importers for fields of parts.
///
/// Reading and saving back changes nothing, and saved entries are read with all their fields.
extension ConversationMessage {
    /// Returns the message as shown by a chat UI, in the order of its parts; at least one entry.
    ///
    /// A single entry has the message's ID if it is a UUID. All other IDs are derived from the message's ID and the
    /// index of the part. They are the same on every machine, and do not change when other entries are removed.
    public func chatMessages() -> [ChatMessage] {
        chatEntries().map(\.chat)
    }

    /// Creates a message from an entry of a chat UI, with the same ID.
    ///
    /// A tool call or result without a string `toolCallId` in its metadata gets the entry's ID as its call ID,
    /// unless `callId` names the call.
    /// - Parameters:
    ///   - chat: The entry.
    ///   - callId: The ID of the answered call, for a tool result without one.
    public init(_ chat: ChatMessage, answering callId: String? = nil) {
        let kind = ChatMessageGroup.Kind(of: chat)
        let attachments = chat.attachments.map { ContentPart.attachment($0) }
        // Models refuse empty text beside a file.
        let isFilesAlone = kind == .text && chat.content.isEmpty && !attachments.isEmpty
        let head = isFilesAlone ? [] : [ContentPart(kind, of: chat, answering: callId)]
        self.init(
            id: chat.id.uuidString, role: kind.role(of: chat), parts: head + attachments, timestamp: chat.timestamp)
        setMetadata(from: [:], to: chat.metadata)
        if chat.wasCancelled { isInterrupted = true }
        noteUnmappedFields(in: [chat])
    }

    /// Returns the message after a chat UI changed its entries; `nil` if none of them is left.
    ///
    /// Entries are identified by ID, and their new order is the given one. Missing entries are removed with their
    /// parts; entries of other messages are ignored. The part of an unchanged entry stays exactly the same.
    public func replacing(_ chats: [ChatMessage]) -> ConversationMessage? {
        let entries = chatEntries()
        let positions = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.chat.id, $0) })
        let kept = chats.eachIdOnce().compactMap { chat in positions[chat.id].map { (entry: entries[$0], chat: chat) } }
        guard let last = kept.last else { return nil }
        if kept.count == entries.count, zip(kept, entries).allSatisfy({ $0.chat == $1.chat }) { return self }

        var message = self
        let parts = kept.enumerated().flatMap { $1.entry.parts(showing: $1.chat, isFirst: $0 == 0) }
        message.parts = parts.map(\.part)
        message.move(Self.partFields, to: parts.map(\.index))
        if kept.count == 1 { message.take(last.chat, insteadOf: last.entry.chat) }
        if last.chat.isComplete, message.isStreaming { message.isStreaming = false }
        if last.chat.wasCancelled != last.entry.chat.wasCancelled { message.isInterrupted = last.chat.wasCancelled }
        message.noteUnmappedFields(in: kept.map(\.chat), before: kept.map(\.entry))
        return message
    }
}

extension [ChatMessage] {
    /// Returns the entries with each ID once: at its first position, with its last content.
    package func eachIdOnce() -> [ChatMessage] {
        var positions: [UUID: Int] = [:]
        positions.reserveCapacity(count)
        var entries: [ChatMessage] = []
        entries.reserveCapacity(count)
        for entry in self {
            if let position = positions[entry.id] {
                entries[position] = entry
            } else {
                positions[entry.id] = entries.count
                entries.append(entry)
            }
        }
        return entries
    }
}

extension ConversationMessage {
    /// The metadata key for notes, the fields without a counterpart in the parts.
    private static let notes = "chat"
    /// The metadata key used by importers for fields of parts, by the index of the part.
    private static let partFields = "partFields"
    private static let hidden = [notes, partFields]
    private static let states = ["interrupted", "streamingReply"]

    /// Returns the entries for the message's parts, including their notes.
    func chatEntries() -> [ChatMessageGroup] {
        let plain = plainEntries()
        guard let notes = metadata[Self.notes]?.objectValue else { return plain }
        var ids: Set<UUID> = []
        return plain.map { entry in
            var entry = entry
            entry.note(notes[String(entry.index)]?.objectValue ?? [:])
            // Parts added without regard to the notes must not lead to two entries with one ID.
            while !ids.insert(entry.chat.id).inserted {
                entry.chat.id = ChatMessageGroup.id(of: entry.chat.id.uuidString, at: entry.index)
            }
            return entry
        }
    }

    /// Returns the entries for the parts, without their notes.
    private func plainEntries() -> [ChatMessageGroup] {
        let shown = shownMetadata
        let fields = metadata[Self.partFields]
        let groups = ChatMessageGroup.groups(of: parts)
        return groups.enumerated().map { number, group in
            var entry = ChatMessageGroup(group, of: self, isAlone: groups.count == 1, metadata: shown)
            if fields?[String(entry.index)]?["is_error"] == true { entry.describeError() }
            if number == groups.count - 1 {
                entry.chat.isComplete = !isStreaming
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

    /// Sets the fields of the whole message from its only remaining entry.
    private mutating func take(_ chat: ChatMessage, insteadOf shown: ChatMessage) {
        let kind = ChatMessageGroup.Kind(of: chat)
        if chat.role != shown.role || kind != ChatMessageGroup.Kind(of: shown) { role = kind.role(of: chat) }
        if chat.timestamp != shown.timestamp { timestamp = chat.timestamp }
        setMetadata(from: shown.metadata, to: chat.metadata)
    }

    /// Applies the changes between two states of an entry's metadata, except for call IDs and states, stored
    /// elsewhere.
    private mutating func setMetadata(from old: [String: JSONValue], to new: [String: JSONValue]) {
        // New keys first: dictionary keys can be equal with different bytes (`é` as one code point or two).
        for key in Set(new.keys).union(old.keys) where !Self.hidden.contains(key) {
            if let new = new[key], old.hasMember(key, new) { continue }
            if key == ChatMessageGroup.toolCallId, parts.contains(where: \.belongsToToolExchange) { continue }
            if Self.states.contains(key), new[key] == true || metadata[key] == true { continue }
            // Removed first; otherwise the bytes of the old key would stay.
            metadata[key] = nil
            metadata[key] = new[key]
        }
    }

    /// Saves notes in the metadata for the differences between the entries and the parts.
    private mutating func noteUnmappedFields(in chats: [ChatMessage], before: [ChatMessageGroup] = []) {
        metadata[Self.notes] = nil
        var notes: [String: JSONValue] = [:]
        for (number, (entry, chat)) in zip(plainEntries(), chats).enumerated() {
            var note = before.isEmpty ? [:] : before[number].unknownNotes
            note.merge(ChatNote.difference(from: entry.chat, to: chat)) { _, known in known }
            if !note.isEmpty { notes[String(entry.index)] = .object(note) }
        }
        if !notes.isEmpty { metadata[Self.notes] = .object(notes) }
    }

    /// Moves the notes or the fields of parts to the new positions of their parts, given as old indices in the new order.
    private mutating func move(_ key: String, to order: [Int?]) {
        guard let fields = metadata[key]?.objectValue else { return }
        var moved: [String: JSONValue] = [:]
        for (index, old) in order.enumerated() {
            guard let old, let value = fields[String(old)] else { continue }
            moved[String(index)] = value
        }
        metadata[key] = moved.isEmpty ? nil : .object(moved)
    }

    /// Returns the message as an edit of another one, with unchanged notes and fields of parts moved with their parts.
    /// Writers of parts need not know them.
    package func movingNotes(from old: ConversationMessage) -> ConversationMessage {
        let unchanged = Self.hidden.filter { key in metadata[key].map { old.metadata.hasMember(key, $0) } ?? false }
        guard !unchanged.isEmpty, parts != old.parts else { return self }
        var message = self
        let order = parts.order(from: old.parts)
        for key in unchanged {
            // The note of attachments alone is that of the first entry.
            if key == Self.notes, old.parts.allSatisfy({ $0.attachment != nil }) { continue }
            message.move(key, to: order)
        }
        return message
    }
}
