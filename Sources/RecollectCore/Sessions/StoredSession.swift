import Foundation

/// A session as a session storage gives it.
///
/// Storages that list sessions read no messages: those of a listed session are read when `messages` is first asked for, on the
/// thread that asks. `getSession(id:)` gives them at once and can tell of a failure.
public struct StoredSession: Identifiable, Sendable {
    /// The session's id.
    public let id: String
    /// When it was made.
    public let createdAt: Date
    /// What its user said first.
    public let firstUserMessage: String
    /// When it was last written or opened; lists are in its order, the latest first.
    public var lastAccessedAt: Date
    /// The folder that it works in.
    public var workingDirectory: String?
    /// The branch that it works on.
    public var branchName: String?

    private var content: Content

    private enum Content: Sendable {
        case here([ChatMessage])
        case kept(KeptMessages)
    }

    /// Makes a session with its messages.
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

    /// Makes a session whose messages are read at first use.
    ///
    /// For storages that list sessions. A copy of the session shares what was read.
    /// - Parameters:
    ///   - id: the session's id.
    ///   - createdAt: when it was made.
    ///   - firstUserMessage: what its user said first.
    ///   - lastAccessedAt: when it was last written or opened.
    ///   - workingDirectory: the folder that it works in.
    ///   - branchName: the branch that it works on.
    ///   - messages: reads the messages, on whatever thread asks for them, once; what cannot be read must be told some other way
    ///     (`StoreEvents`), for a property cannot throw.
    public init(
        id: String, createdAt: Date, firstUserMessage: String, lastAccessedAt: Date, workingDirectory: String? = nil,
        branchName: String? = nil, reading messages: @escaping @Sendable () -> [ChatMessage]
    ) {
        self.init(
            id: id, createdAt: createdAt, firstUserMessage: firstUserMessage, lastAccessedAt: lastAccessedAt,
            messages: [], workingDirectory: workingDirectory, branchName: branchName)
        content = .kept(KeptMessages(read: messages))
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

    /// The session as it was before anyone asked for messages that are read at first use.
    package var unread: StoredSession {
        guard case .kept(let kept) = content else { return self }
        var session = self
        session.content = .kept(kept.unread())
        return session
    }

    /// How many messages the session holds in memory without having been asked for any.
    package var heldMessageCount: Int {
        if case .here(let messages) = content { return messages.count }
        return 0
    }

    /// A title for a list: the first line of what its user said first, at most 50 characters; `New Session` where that is
    /// empty.
    public var title: String {
        let line = firstUserMessage.split(whereSeparator: \.isNewline).lazy
            .map { $0.trimmingCharacters(in: .whitespaces) }.first { !$0.isEmpty }
        guard let line else { return "New Session" }
        return line.count > 50 ? line.prefix(50) + "…" : line
    }
}

/// Messages that are read when they are first asked for.
private final class KeptMessages: Sendable {
    private let read: @Sendable () -> [ChatMessage]
    private let known = Locked<[ChatMessage]?>(nil)

    init(read: @escaping @Sendable () -> [ChatMessage]) {
        self.read = read
    }

    /// The same, not yet read.
    func unread() -> KeptMessages {
        KeptMessages(read: read)
    }

    var messages: [ChatMessage] {
        if let messages = known.withLock({ $0 }) { return messages }
        // Not under the lock: reading may take a while. Two who ask at once both read, and agree on what came first.
        let messages = read()
        return known.withLock { known in
            known = known ?? messages
            return known ?? messages
        }
    }
}

extension StoredSession: Hashable {
    /// Equal when all fields and messages are; reads the messages.
    public static func == (left: StoredSession, right: StoredSession) -> Bool {
        left.id.hasSameBytes(as: right.id) && left.createdAt == right.createdAt
            && left.firstUserMessage.hasSameBytes(as: right.firstUserMessage)
            && left.lastAccessedAt == right.lastAccessedAt && left.workingDirectory == right.workingDirectory
            && left.branchName == right.branchName && left.messages == right.messages
    }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: id)
    }
}

extension StoredSession: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, createdAt, firstUserMessage, lastAccessedAt, messages, workingDirectory, branchName
    }

    /// Reads a session whatever the decoder's date strategy: moments are milliseconds since 1970.
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

    /// Writes what `init(from:)` reads, the messages too.
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
