extension Schema {
    /// `checksum` is that of a message's content (`MessageChecksum`). A row that an older version wrote has none until it is written
    /// again, or the history is repaired.
    static let checksums = "ALTER TABLE message ADD COLUMN checksum INTEGER"
}
