import RecollectCore

extension MessageSortKey {
    /// The time of a key, in SQL.
    static let sqlTime = "ifnull(message.placed_at, message.timestamp)"
}
