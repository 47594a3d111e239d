import RecollectCore

extension SQLiteHistoryStore: VersionedHistory {
    /// Where the change feed stands and where the conversation's windows begin, in the database that is open.
    ///
    /// It changes with other conversations too, since the feed is one for all: finding the last change of one would cost more
    /// than reading a short window again.
    package func version(of conversation: ConversationID) async throws -> ChatVersion {
        try await perform { database in
            let version = try await database.readStatement { try WindowQueries.version(of: conversation, $0) }
            return ChatVersion(rawValue: "\(database.number) \(version)")
        }
    }
}
