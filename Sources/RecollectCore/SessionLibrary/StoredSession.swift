import Foundation

/// A session returned by a session store.
///
/// Stores list sessions without reading messages: those of a listed session are read at the first use of
/// `messages`, on the calling thread. `getSession(id:)` reads them at once and can throw an error.
public struct StoredSession: Identifiable, Sendable {
    /// The session's ID.
    public let id: String
    /// The creation date.
    public let createdAt: Date
    /// The user's first message.
    public let firstUserMessage: String
    /// The date of the last write or opening. Lists are in this order, the latest first.
    public var lastAccessedAt: Date
    /// The folder of the session's work.
    public var workingDirectory: String?
    /// The branch of the session's work.
    public var branchName: String?

    private var content: Content

    private enum Content: Sendable {
        case here([ChatMessage])
        case kept(LazyMessages)
    }

    /// Creates a session with its messages.
    public init(
        id: String, createdAt: Date, firstUserMessage: String, lastAccessedAt: Date, messages: [ChatMessage],
        workingDirectory: String? = nil, branchName: String? = nil
    ) {
        self.id = id
        self.createdAt = createdAt
        self.firstUserMessage = firstUserMessage
        self.lastAccessedAt = lastAccessedAt
        self.workingDirectory = workingDirectory
        self.branchName = branchName
        content = .here(messages)
    }

    /// Creates a session with messages read at their first use.
    ///
    /// For stores listing sessions. Copies of the session share the messages once they are read.
    /// - Parameters:
    ///   - id: The session's ID.
    ///   - createdAt: The creation date.
    ///   - firstUserMessage: The user's first message.
    ///   - lastAccessedAt: The date of the last write or opening.
    ///   - workingDirectory: The folder of the session's work.
    ///   - branchName: The branch of the session's work.
    ///   - messages: Reads the messages on the thread of the first use. Simultaneous first uses may call it more
    ///     than once. A property cannot throw, so failures must be reported in another way, for example through
    ///     `StoreEvents`.
    public init(
        id: String, createdAt: Date, firstUserMessage: String, lastAccessedAt: Date, workingDirectory: String? = nil,
        branchName: String? = nil, reading messages: @escaping @Sendable () -> [ChatMessage]
    ) {
        self.init(
            id: id, createdAt: createdAt, firstUserMessage: firstUserMessage, lastAccessedAt: lastAccessedAt,
            messages: [], workingDirectory: workingDirectory, branchName: branchName)
        content = .kept(LazyMessages(read: messages))
    }

    /// The messages in order.
    public var messages: [ChatMessage] {
        get {
            switch content {
            case .here(let messages): messages
            case .kept(let kept): kept.messages
            }
        }
        set { content = .here(newValue) }
    }

    /// The session without messages read at first use; they will be read again.
    package var unread: StoredSession {
        guard case .kept(let kept) = content else { return self }
        var session = self
        session.content = .kept(kept.unread())
        return session
    }

    /// The number of messages in memory, not counting those read at first use.
    package var heldMessageCount: Int {
        if case .here(let messages) = content { return messages.count }
        return 0
    }

    /// A title for lists: the first line of the user's first message, cut after 50 characters with `…`; `New
    /// Session` if it is empty.
    public var title: String {
        let line = firstUserMessage.split(whereSeparator: \.isNewline).lazy
            .map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
        guard let line else { return "New Session" }
        return line.count > 50 ? line.prefix(50) + "…" : line
    }
}

/// The messages of a session, read at their first use.
private final class LazyMessages: Sendable {
    private let read: @Sendable () -> [ChatMessage]
    private let known = Locked<[ChatMessage]?>(nil)

    init(read: @escaping @Sendable () -> [ChatMessage]) {
        self.read = read
    }

    /// Returns a copy without the messages read so far.
    func unread() -> LazyMessages {
        LazyMessages(read: read)
    }

    var messages: [ChatMessage] {
        if let messages = known.withLock({ $0 }) { return messages }
        // Not under the lock, because reading may take long. Of simultaneous reads, the first result is used for
        // all.
        let messages = read()
        return known.withLock { known in
            known = known ?? messages
            return known ?? messages
        }
    }
}

extension StoredSession: Hashable {
    /// Whether all fields and messages are equal; reads the messages.
    public static func == (left: StoredSession, right: StoredSession) -> Bool {
        left.id.hasSameBytes(as: right.id) && left.createdAt == right.createdAt
            && left.firstUserMessage.hasSameBytes(as: right.firstUserMessage)
            && left.lastAccessedAt == right.lastAccessedAt && left.workingDirectory == right.workingDirectory
            && left.branchName == right.branchName && left.messages == right.messages
    }

    /// Hashes the ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: id)
    }
}

extension StoredSession: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, createdAt, firstUserMessage, lastAccessedAt, messages, workingDirectory, branchName
    }

    /// Creates a session by decoding. Dates are milliseconds since 1970, independent of the decoder's date
    /// strategy.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            createdAt: Date(millisecondsSince1970: try container.decode(Int64.self, forKey: .createdAt)),
            firstUserMessage: try container.decode(String.self, forKey: .firstUserMessage),
            lastAccessedAt: Date(millisecondsSince1970: try container.decode(Int64.self, forKey: .lastAccessedAt)),
            messages: try container.decode([ChatMessage].self, forKey: .messages),
            workingDirectory: try container.decodeIfPresent(String.self, forKey: .workingDirectory),
            branchName: try container.decodeIfPresent(String.self, forKey: .branchName))
    }

    /// Encodes the session for `init(from:)`, including its messages.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(createdAt.millisecondsSince1970, forKey: .createdAt)
        try container.encode(firstUserMessage, forKey: .firstUserMessage)
        try container.encode(lastAccessedAt.millisecondsSince1970, forKey: .lastAccessedAt)
        try container.encode(messages, forKey: .messages)
        try container.encodeIfPresent(workingDirectory, forKey: .workingDirectory)
        try container.encodeIfPresent(branchName, forKey: .branchName)
    }
}
