import RecollectCore

/// The properties of a message that are known without its content.
package struct MessageFacts {
    package let role: ByteString
    package let timestamp: Int64
    /// Whether the message is one part of prose.
    package let isProse: Bool

    package init(role: ByteString, timestamp: Int64, isProse: Bool) {
        (self.role, self.timestamp, self.isProse) = (role, timestamp, isProse)
    }
}

/// A message as a search reads it.
package struct SearchedMessage {
    package let messageId: String
    package let facts: MessageFacts
    package let session: SessionRowID
    package let sessionId: String
    package let agentId: String
    /// The message of which this one is a forked copy, or this one.
    package let original: SequenceNumber
    /// The author's name in the metadata.
    package let name: String?
    package let echo: MessageEcho
    /// The length of the stored text or parts, in bytes.
    package let byteCount: Int

    package var role: ByteString { facts.role }
    package var timestamp: Int64 { facts.timestamp }

    package init(
        messageId: String, facts: MessageFacts, session: SessionRowID, sessionId: String, agentId: String,
        original: SequenceNumber, name: String?, echo: MessageEcho, byteCount: Int
    ) {
        self.messageId = messageId
        self.facts = facts
        self.session = session
        self.sessionId = sessionId
        self.agentId = agentId
        self.original = original
        self.name = name
        self.echo = echo
        self.byteCount = byteCount
    }
}
