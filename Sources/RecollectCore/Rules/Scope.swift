/// The triple that a history is kept under: a user, one of their sessions, and an agent in it.
///
/// Scopes are compared as bytes of UTF-8. Swift compares strings by canonical equivalence, where `é` in one code point
/// equals `é` in two; a store that used `==` on strings would let such users read each other, so this type does not.
public struct Scope: Sendable {
    /// The user; any string, the empty one too.
    public let userId: String
    /// The session of that user; any string.
    public let sessionId: String
    /// The agent in that session; any string.
    public let agentId: String

    /// Names a scope.
    public init(userId: String, sessionId: String, agentId: String) {
        self.userId = userId
        self.sessionId = sessionId
        self.agentId = agentId
    }

    /// The conversation that this scope is a part of.
    public var conversation: ConversationID {
        ConversationID(userId: userId, sessionId: sessionId)
    }
}

extension Scope: Hashable {
    /// Equal when all three ids are the same bytes.
    public static func == (left: Scope, right: Scope) -> Bool {
        left.agentId.hasSameBytes(as: right.agentId) && left.conversation == right.conversation
    }

    /// Hashes the bytes of the three ids.
    public func hash(into hasher: inout Hasher) {
        conversation.hash(into: &hasher)
        hasher.combine(bytesOf: agentId)
    }
}

/// A user's session with all its agents: what a list of chats shows as one line. Compared as bytes of UTF-8.
public struct ConversationID: Sendable {
    /// The user; any string.
    public let userId: String
    /// The session of that user; any string.
    public let sessionId: String

    /// Names a conversation.
    public init(userId: String, sessionId: String) {
        self.userId = userId
        self.sessionId = sessionId
    }

    /// The scope of one agent in this conversation.
    public func scope(agentId: String) -> Scope {
        Scope(userId: userId, sessionId: sessionId, agentId: agentId)
    }
}

extension ConversationID: Hashable {
    /// Equal when both ids are the same bytes.
    public static func == (left: ConversationID, right: ConversationID) -> Bool {
        left.userId.hasSameBytes(as: right.userId) && left.sessionId.hasSameBytes(as: right.sessionId)
    }

    /// Hashes the bytes of both ids.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: userId)
        hasher.combine(bytesOf: sessionId)
    }
}

/// A string compared and hashed as its bytes of UTF-8: the key for ids in dictionaries and sets.
package struct ByteString: Hashable, Sendable, Comparable {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package static func == (left: ByteString, right: ByteString) -> Bool {
        left.string.hasSameBytes(as: right.string)
    }

    package static func < (left: ByteString, right: ByteString) -> Bool {
        left.string.precedesByBytes(right.string)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: string)
    }
}

extension [String: JSONValue] {
    /// The members in the order of their keys' bytes.
    ///
    /// Not by `<` of strings, which is no order: in Swift 6.3 none of `é\` and, of two code points, `é` is less than the other.
    package var inOrderOfKeys: [(key: String, value: JSONValue)] {
        count < 2 ? Array(self) : sorted { $0.key.precedesByBytes($1.key) }
    }
}

extension Hasher {
    /// Hashes the bytes of UTF-8, ended by a byte that UTF-8 never holds, so that joined ids do not meet.
    mutating func combine(bytesOf string: String) {
        var string = string
        string.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
        combine(0xFF as UInt8)
    }
}
