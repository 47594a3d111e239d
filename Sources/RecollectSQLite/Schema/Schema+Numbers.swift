extension Schema {
    /// The largest number of a deleted session or scope. New numbers are larger: an older page of a table or of an
    /// index must not lead from a new session to messages and tags of a deleted one.
    static let numbers = "ALTER TABLE settled ADD COLUMN last_deleted INTEGER NOT NULL DEFAULT 0"
}
