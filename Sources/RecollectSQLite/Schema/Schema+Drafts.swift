extension Schema {
    /// Replies in flight, the oldest first by `id`, which is never given twice: a late flush must not meet another reply.
    ///
    /// Columns are those of `message`, but what grows lies in `text` alone: where `parts` is not NULL, `text` is the last part
    /// behind these, if there is one. `writer` names the lock of the process that writes the reply; it is empty in memory.
    static let drafts = """
        CREATE TABLE draft (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          conversation_id INTEGER NOT NULL,
          agent_id TEXT NOT NULL,
          writer TEXT NOT NULL,
          message_id TEXT NOT NULL,
          role TEXT NOT NULL,
          timestamp INTEGER NOT NULL,
          metadata TEXT,
          unknown_fields TEXT,
          parts TEXT,
          text TEXT
        );
        CREATE INDEX draft_by_conversation ON draft (conversation_id, message_id);
        """
}
