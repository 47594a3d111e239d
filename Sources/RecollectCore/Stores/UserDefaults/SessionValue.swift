import Foundation

/// A session as stored in user defaults: a JSON object in the first line, followed by the messages in the format of
/// chat stores.
///
/// Unknown data of other versions is preserved, and unchanged messages are not encoded again.
struct SessionValue {
    private enum Field: String {
        case createdAt, firstUserMessage, lastAccessedAt, workingDirectory, branchName
    }

    private var fields: [String: JSONValue]
    /// The JSON array of messages as it was stored.
    private var array: Data

    /// Creates a session without messages.
    init(createdAt: Date, firstUserMessage: String) {
        fields = [
            Field.createdAt.rawValue: .integer(createdAt.millisecondsSince1970),
            Field.firstUserMessage.rawValue: .string(firstUserMessage),
            Field.lastAccessedAt.rawValue: .integer(createdAt.millisecondsSince1970),
        ]
        array = Data(MessageArray.joined([]))
    }

    /// Creates a session by reading the first line; `nil` if it is invalid.
    init?(_ data: Data) {
        guard let end = data.firstIndex(of: Byte.newline) else { return nil }
        // The error is ignored: `nil` leads to a salvage, and the salvage posts an event.
        guard let fields = try? data[..<end].withUnsafeBytes({ try JSONValue.parse(object: $0) }),
            fields[Field.createdAt.rawValue]?.integerValue != nil,
            fields[Field.lastAccessedAt.rawValue]?.integerValue != nil,
            fields[Field.firstUserMessage.rawValue]?.stringValue != nil
        else { return nil }
        self.fields = fields
        array = data[(end + 1)...]
    }

    /// The stored bytes.
    var data: Data {
        Data(JSONValue.write(object: fields).utf8) + [Byte.newline] + array
    }

    /// The date of the last write or opening.
    var lastAccessedAt: Date {
        get { date(.lastAccessedAt) }
        set { fields[Field.lastAccessedAt.rawValue] = .integer(newValue.millisecondsSince1970) }
    }

    /// The user's first message.
    var firstUserMessage: String {
        get { fields[Field.firstUserMessage.rawValue]?.stringValue ?? "" }
        set { fields[Field.firstUserMessage.rawValue] = .string(newValue) }
    }

    /// Returns the session, with messages read at their first use.
    func session(id: String, reading messages: @escaping @Sendable () -> [ChatMessage]) -> StoredSession {
        StoredSession(
            id: id, createdAt: date(.createdAt), firstUserMessage: firstUserMessage, lastAccessedAt: lastAccessedAt,
            workingDirectory: fields[Field.workingDirectory.rawValue]?.stringValue,
            branchName: fields[Field.branchName.rawValue]?.stringValue, reading: messages)
    }

    private func date(_ field: Field) -> Date {
        Date(millisecondsSince1970: fields[field.rawValue]?.integerValue ?? 0)
    }
}

extension SessionValue {
    /// Returns the messages; `nil` if they are damaged.
    func messages() -> [EncodedMessage]? {
        let bytes = Array(array)
        guard let ranges = MessageArray.layout(of: bytes)?.messages else { return nil }
        let messages = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        return messages.count == ranges.count ? messages : nil
    }

    /// Replaces the transcript. Unchanged messages keep their stored bytes; changed ones keep the data not shown in
    /// an entry.
    /// - Parameter stored: The result of `messages`.
    /// - Throws: `tooLarge` for an entry nested too deeply to be read again.
    mutating func setMessages(_ entries: [ChatMessage], insteadOf stored: [EncodedMessage]) throws {
        // Every message written here is one entry; those written elsewhere with several entries are rewritten.
        var known: [UUID: (stored: EncodedMessage, entry: ChatMessage)] = [:]
        for message in stored {
            let shown = message.message.chatMessages()
            if shown.count == 1 { known[shown[0].id] = (message, shown[0]) }
        }
        let messages = try entries.map { entry -> EncodedMessage in
            if let (stored, shown) = known[entry.id], shown == entry { return stored }
            let message = known[entry.id]?.stored.message.replacing([entry]) ?? ConversationMessage(entry)
            try message.checkSavable()
            return EncodedMessage(message)
        }
        array = Data(MessageArray.joined(messages.map { $0.bytes[...] }))
    }

    /// Merges the fields of an older session, except for its messages: missing ones are added.
    mutating func take(_ older: SessionValue) {
        let begun = min(date(.createdAt), older.date(.createdAt))
        lastAccessedAt = max(lastAccessedAt, older.lastAccessedAt)
        if firstUserMessage.isEmpty { firstUserMessage = older.firstUserMessage }
        fields.merge(older.fields) { mine, _ in mine }
        fields[Field.createdAt.rawValue] = .integer(begun.millisecondsSince1970)
    }

    /// Creates a session from the readable data of a damaged value.
    /// - Parameter now: The creation date, if neither the value nor its messages have one.
    init(salvaging data: Data, now: Date) {
        let readable = SessionValue(data)
        let damage = Damage(bytes: Array(readable?.array ?? data))
        if let readable {
            self = readable
        } else {
            let entries = damage.messages.flatMap { $0.chatMessages() }
            self.init(createdAt: entries.first?.timestamp ?? now, firstUserMessage: entries.firstUserMessage)
            lastAccessedAt = entries.last?.timestamp ?? now
        }
        array = Data(damage.salvaged)
    }
}

extension [EncodedMessage] {
    /// The messages as shown by a chat UI.
    var entries: [ChatMessage] {
        flatMap { $0.message.chatMessages() }
    }
}
