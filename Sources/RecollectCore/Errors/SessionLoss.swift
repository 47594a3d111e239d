/// How many messages of a session were lost.
public struct SessionLoss: Sendable, Codable, Hashable {
    /// The session's user.
    public let userId: String
    /// The session.
    public let sessionId: String
    /// How many of its messages are known to be lost.
    public let lostMessages: Int

    /// Makes an account of a session.
    public init(userId: String, sessionId: String, lostMessages: Int) {
        self.userId = userId
        self.sessionId = sessionId
        self.lostMessages = lostMessages
    }
}
