extension Schema {
    /// The streaming replies, the oldest first by `id`. An `id` is never reused: a late flush must not write to
    /// another reply.
    ///
    /// The columns are those of `message`, but only `text` grows: if `parts` is not NULL, `text` is the last part
    /// after these, if there is one. `writer` names the lock of the writing process, and is empty in memory.
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
