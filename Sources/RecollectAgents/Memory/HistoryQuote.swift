import Foundation
import RecollectCore

/// A place in the history that a reply quotes: what an interface needs to lead there.
public struct HistoryQuote: Hashable, Sendable {
    /// The session.
    public var sessionId: String
    /// The message in it.
    public var messageId: String
    /// The agent whose scope holds it.
    public var agentId: String
    /// Who spoke.
    public var role: Role
    /// When it was said.
    public var timestamp: Date

    init(_ hit: SearchHit) {
        sessionId = hit.conversation.sessionId
        messageId = hit.messageId
        agentId = hit.agentId
        role = hit.role
        timestamp = hit.timestamp
    }

    init?(_ value: JSONValue) {
        guard let sessionId = value["sessionId"]?.stringValue,
            let messageId = value["messageId"]?.stringValue,
            let agentId = value["agentId"]?.stringValue, let role = value["role"]?.stringValue,
            let timestamp = value["timestamp"]?.integerValue
        else { return nil }
        self.sessionId = sessionId
        self.messageId = messageId
        self.agentId = agentId
        self.role = Role(rawValue: role)
        self.timestamp = Date(millisecondsSince1970: timestamp)
    }

    var json: JSONValue {
        [
            "sessionId": .string(sessionId), "messageId": .string(messageId), "agentId": .string(agentId),
            "role": .string(role.rawValue), "timestamp": .integer(timestamp.millisecondsSince1970),
        ]
    }

    /// What makes two quotes the same.
    struct Place: Hashable {
        private let sessionId: ByteString
        private let messageId: ByteString

        init(_ hit: SearchHit) {
            sessionId = ByteString(hit.conversation.sessionId)
            messageId = ByteString(hit.messageId)
        }

        init(_ quote: HistoryQuote) {
            sessionId = ByteString(quote.sessionId)
            messageId = ByteString(quote.messageId)
        }
    }

    var place: Place { Place(self) }
}

extension ConversationMessage {
    /// The places in the history that this reply of a historian quotes, in its order; empty for every other message.
    ///
    /// They stand in the metadata as `quotes`: a list of objects with `sessionId`, `messageId`, `agentId`, `role`, and `timestamp` in
    /// milliseconds since 1970.
    public var quotes: [HistoryQuote] {
        metadata["quotes"]?.arrayValue?.compactMap(HistoryQuote.init) ?? []
    }
}
