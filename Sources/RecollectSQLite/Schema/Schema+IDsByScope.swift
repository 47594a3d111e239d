extension Schema {
    /// Keys the index of message IDs by scope: an ID is one message of an agent, and several agents may have the
    /// same message.
    ///
    /// `branch_agent` names the agent of the message `branch_after`. It is `NULL` in branches created before this
    /// column.
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
