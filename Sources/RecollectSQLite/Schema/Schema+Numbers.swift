extension Schema {
    /// The largest number that a deleted conversation or one of its scopes had. It is never given again: an older page of a table or of an
    /// index would lead from a new conversation to messages and tags of the deleted one.
    static let numbers = "ALTER TABLE settled ADD COLUMN last_deleted INTEGER NOT NULL DEFAULT 0"
}
