import Foundation
import RecollectCore

/// A quote in a reply: the position of a message in the history, for a link in a UI.
public struct HistoryQuote: Hashable, Sendable {
    /// The session's ID.
    public var sessionId: String
    /// The message's ID in the session.
    public var messageId: String
    /// The ID of the agent in the message's scope.
    public var agentId: String
    /// The author's role.
    public var role: Role
    /// The message's date.
    public var timestamp: Date

    init(_ hit: SearchHit) {
        sessionId = hit.session.sessionId
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

    /// The identity of a quote: two quotes of a message are equal.
    struct Location: Hashable {
        private let sessionId: ByteString
        private let messageId: ByteString

        init(_ hit: SearchHit) {
            sessionId = ByteString(hit.session.sessionId)
            messageId = ByteString(hit.messageId)
        }

        init(_ quote: HistoryQuote) {
            sessionId = ByteString(quote.sessionId)
            messageId = ByteString(quote.messageId)
        }
    }

    var location: Location { Location(self) }
}

extension ConversationMessage {
    /// The quotes in this reply of a historian, in order; empty for every other message.
    ///
    /// They are in the metadata under `quotes`: an array of objects with `sessionId`, `messageId`, `agentId`,
    /// `role`, and `timestamp` in milliseconds since 1970.
    public var quotes: [HistoryQuote] {
        metadata[HistoryQuotation.metadataKey]?.arrayValue?.compactMap(HistoryQuote.init) ?? []
    }
}
