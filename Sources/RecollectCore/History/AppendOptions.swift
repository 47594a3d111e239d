/// Options for appending a batch.
public struct AppendOptions: Hashable, Sendable {
    /// The treatment of a message with the same role as the last stored one. Histories keep it, `ChatStorage` views
    /// drop it.
    public var sameRole: SameRolePolicy
    /// The budget for the scope's window after the append, in messages; `nil` trims nothing.
    public var maxMessages: Int?
    /// Whether a message stored under the empty agent ID, by a UI without agents, moves to this scope.
    ///
    /// By default, histories leave it there and save the appended message beside it; `ChatStorage` views move it.
    /// It keeps its ID and content. It also keeps its position in the session, unless the scope has later messages
    /// or its window begins later; then it moves to the end. The same-role rule applies: a message dropped by it
    /// stays unassigned.
    public var claimsUnassigned: Bool
    /// Whether a fully read session stays read, for imported messages. An unread session stays unread.
    public var keepsSessionRead: Bool

    /// Creates options.
    public init(
        sameRole: SameRolePolicy = .keep, maxMessages: Int? = nil, claimsUnassigned: Bool = false,
        keepsSessionRead: Bool = false
    ) {
        self.sameRole = sameRole
        self.maxMessages = maxMessages
        self.claimsUnassigned = claimsUnassigned
        self.keepsSessionRead = keepsSessionRead
    }
}

/// The result of appending a batch.
public struct AppendOutcome: Hashable, Sendable {
    /// The number of new messages in the scope.
    public var added: Int
    /// The number of messages whose IDs were already in the scope, or moved to it.
    public var alreadyStored: Int
    /// The number of messages dropped by the same-role rule.
    public var dropped: Int

    /// Creates an outcome.
    public init(added: Int = 0, alreadyStored: Int = 0, dropped: Int = 0) {
        self.added = added
        self.alreadyStored = alreadyStored
        self.dropped = dropped
    }
}
