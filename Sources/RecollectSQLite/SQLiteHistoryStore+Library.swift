import RecollectCore

extension SQLiteHistoryStore {
    public func edit(_ messages: [ConversationMessage], in conversation: ConversationID) async throws -> Int { throw unmade }
    public func moveConversation(_ conversation: ConversationID, to newSessionId: String) async throws -> Bool { throw unmade }
    public func branch(_ conversation: ConversationID, from messageId: String) async throws -> ConversationID { throw unmade }
    public func branches(of conversation: ConversationID) async throws -> [Conversation] { throw unmade }
    public func restoreBranch(_ branch: ConversationID, in conversation: ConversationID) async throws { throw unmade }
    public func discardConversation(_ conversation: ConversationID) async throws -> Bool { throw unmade }
    public func restoreConversation(_ conversation: ConversationID) async throws -> Bool { throw unmade }
    private var unmade: RecollectError { RecollectError(.invalidArgument, "comes with the next commits of this branch") }
}
