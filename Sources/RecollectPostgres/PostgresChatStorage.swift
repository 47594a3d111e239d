#if Postgres
    import RecollectCore

    /// The chat history of one user in PostgreSQL: the `ChatStorage` view of a history shared by servers.
    ///
    /// ```swift
    /// let history = try PostgresHistoryStore(url: "postgres://chats@db.example.com/chats")
    /// let store = PostgresChatStorage(history: history.scoped(to: tenant), userId: tenant.userId)
    /// ```
    ///
    /// A server has one history, and creates a storage for each request. See `HistoryChatStorage` for the rules of its calls.
    public typealias PostgresChatStorage = HistoryChatStorage
#endif
