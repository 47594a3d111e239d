extension Schema {
    /// Keys the index of message ids by scope: one id is one message of an agent, and the same message may be kept for several.
    ///
    /// `branch_agent` names the agent of the message `branch_after`; `NULL` in branches that were made before it was kept.
    static let idsByScope = """
        DROP TABLE message_id;
        CREATE TABLE message_id (
          scope_id INTEGER NOT NULL,
          message_id TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          PRIMARY KEY (scope_id, message_id)
        ) WITHOUT ROWID;
        INSERT OR IGNORE INTO message_id (scope_id, message_id, sequence)
          SELECT scope_id, message_id, sequence FROM message WHERE sequence <= (SELECT through FROM settled)
          ORDER BY scope_id, message_id, sequence;
        ALTER TABLE conversation ADD COLUMN branch_agent TEXT;
        """
}
