import RecollectCore

extension SQLiteHistoryStore {
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
