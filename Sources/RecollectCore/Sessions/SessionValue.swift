import Foundation

/// A session as user defaults hold it: a JSON object in the first line, and after it the messages as chat stores keep them.
///
/// What another version wrote beside what is known here stays, and messages that did not change are not encoded again.
struct SessionValue {
    private enum Field: String {
        case createdAt, firstUserMessage, lastAccessedAt, workingDirectory, branchName
    }

    private var fields: [String: JSONValue]
    /// A JSON array, as it was stored.
    private var array: Data

    /// Makes a session without messages.
    init(createdAt: Date, firstUserMessage: String) {
        fields = [
            Field.createdAt.rawValue: .integer(createdAt.millisecondsSince1970),
            Field.firstUserMessage.rawValue: .string(firstUserMessage),
            Field.lastAccessedAt.rawValue: .integer(createdAt.millisecondsSince1970),
        ]
        array = Data(MessageArray.joined([]))
    }

    /// Reads the first line; `nil` where it is not what it should be.
    init?(_ data: Data) {
        guard let end = data.firstIndex(of: Byte.newline) else { return nil }
        // Not being a session is an answer here: what follows is salvage, which tells of it.
        guard let fields = try? data[..<end].withUnsafeBytes({ try JSONValue.parse(object: $0) }),
            fields[Field.createdAt.rawValue]?.integerValue != nil,
            fields[Field.lastAccessedAt.rawValue]?.integerValue != nil,
            fields[Field.firstUserMessage.rawValue]?.stringValue != nil
        else { return nil }
        self.fields = fields
        array = data[(end + 1)...]
    }

    /// What is stored.
    var data: Data {
        Data(JSONValue.write(object: fields).utf8) + [Byte.newline] + array
    }

    /// When it was last written or opened.
    var lastAccessedAt: Date {
        get { date(.lastAccessedAt) }
        set { fields[Field.lastAccessedAt.rawValue] = .integer(newValue.millisecondsSince1970) }
    }

    /// What its user said first.
    var firstUserMessage: String {
        get { fields[Field.firstUserMessage.rawValue]?.stringValue ?? "" }
        set { fields[Field.firstUserMessage.rawValue] = .string(newValue) }
    }

    /// The session, whose messages are read when they are asked for.
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
    /// Reads the messages; `nil` where they are damaged.
    func messages() -> [EncodedMessage]? {
        let bytes = Array(array)
        guard let ranges = MessageArray.layout(of: bytes)?.messages else { return nil }
        let messages = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        return messages.count == ranges.count ? messages : nil
    }

    /// Makes the transcript these entries. What is stored of those that did not change stays as it is, and of those that did,
    /// what an entry does not show.
    /// - Parameter stored: what `messages` gave.
    /// - Throws: `tooLarge` for an entry that could not be read again.
    mutating func setMessages(_ entries: [ChatMessage], insteadOf stored: [EncodedMessage]) throws {
        // Every message that is written here is one entry; what others wrote as several is written anew.
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

    /// Takes over what an older session tells and this one does not, but for its messages.
    mutating func take(_ older: SessionValue) {
        let begun = min(date(.createdAt), older.date(.createdAt))
        lastAccessedAt = max(lastAccessedAt, older.lastAccessedAt)
        if firstUserMessage.isEmpty { firstUserMessage = older.firstUserMessage }
        fields.merge(older.fields) { mine, _ in mine }
        fields[Field.createdAt.rawValue] = .integer(begun.millisecondsSince1970)
    }

    /// Makes of a damaged value what can be read of it.
    /// - Parameter now: when it was made, where neither it nor its messages tell.
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
    /// The messages as a chat UI shows them.
    var entries: [ChatMessage] {
        flatMap { $0.message.chatMessages() }
    }
}
