extension Schema {
    /// `checksum` covers a message's content (`MessageChecksum`). A row of an older version has none until it is
    /// written again or the history is repaired.
    static let checksums = "ALTER TABLE message ADD COLUMN checksum INTEGER"
}
