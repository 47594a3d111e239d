extension Schema {
    /// The largest number of a deleted conversation or scope. New numbers are larger: an older page of a table or of an index must not lead
    /// from a new conversation to messages and tags of a deleted one.
    static let numbers = "ALTER TABLE settled ADD COLUMN last_deleted INTEGER NOT NULL DEFAULT 0"
}
