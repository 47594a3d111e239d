/// The number of lost messages of a session.
public struct SessionLoss: Sendable, Codable, Hashable {
    /// The session's user ID.
    public let userId: String
    /// The session ID.
    public let sessionId: String
    /// The number of messages known to be lost.
    public let lostMessages: Int

    /// Creates a record of a loss.
    public init(userId: String, sessionId: String, lostMessages: Int) {
        self.userId = userId
        self.sessionId = sessionId
        self.lostMessages = lostMessages
    }
}
