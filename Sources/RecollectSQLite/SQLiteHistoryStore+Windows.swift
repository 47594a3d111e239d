import RecollectCore

/// The windows of agents.
extension SQLiteHistoryStore {
    /// Returns the newest messages of a scope's window: see `HistoryStore`.
    public func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await perform { database in
            try await database.readStatement(inPlace: maxMessages.isShort) {
                try WindowQueries.window(of: scope, maxMessages: maxMessages, $0)
            }
        }
    }

    /// Returns the newest messages of a scope without incomplete exchanges: see `HistoryStore`.
    public func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        try await window(of: scope, maxMessages: maxMessages).wholeExchanges()
    }

    /// Returns the messages of a scope for a model: see `HistoryStore`.
    ///
    /// Reads the newest messages, and more of them until the budget is used; all messages if an earlier one is pinned. With a
    /// compaction, reads all messages not covered.
    public func window(of scope: Scope, tokens: Int, counter: TokenCounter) async throws -> [ConversationMessage] {
        let compacted = try await read { db in
            try CompactionRow.inEffect(in: scope, db).map {
                try Compactions.state(of: scope, inEffect: $0, db).messages
            }
        }
        if let window = compacted?.window(tokens: tokens, counter: counter) { return window }
        let rule = TokenWindow(tokens: tokens, counter: counter)
        var count = Self.firstWindowCount
        while true {
            let input = try await read { [count] in try WindowQueries.tokenWindow(of: scope, newest: count, $0) }
            let window = rule.messages(
                instructions: input.instructions, newest: input.newest, isAll: input.isAll)
            if let window { return window }
            count *= 4
        }
    }

    /// The number of messages read first for a window by tokens.
    private static let firstWindowCount = 64

    /// Returns the windows of all agents: see `HistoryStore`.
    public func windows(
        of session: SessionKey
    ) async throws -> [AgentMessages] {
        try await read { try WindowQueries.windows(of: session, $0) }
    }

    /// Returns the position of the change feed and the starts of the session's windows, in the currently open
    /// database.
    ///
    /// The version also changes with other sessions, as all share one feed: finding the last change of one session
    /// would cost more than reading a short window again.
    public func version(of session: SessionKey) async throws -> ChatVersion? {
        try await perform { database in
            let version = try await database.readStatement { try WindowQueries.version(of: session, $0) }
            return ChatVersion(rawValue: "\(database.number) \(version)")
        }
    }
}
