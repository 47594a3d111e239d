extension Schema {
    /// The remaining work of deletions, and the data of retention by age.
    ///
    /// A row of `erasure` is remaining work (`Eraser.Kind`). `message_age` has the oldest timestamp of each block
    /// of sequence numbers, NULL for an empty block (`Expiry`). `clock` has the last observation of the clock
    /// (`ClockWatch`).
    ///
    /// `change` keeps only the last row of each kind and subject: the feed contains the fact of a change, not the
    /// number of changes.
    static let erasure = """
        CREATE TABLE erasure (
          kind TEXT NOT NULL,
          number INTEGER NOT NULL,
          name TEXT NOT NULL,
          PRIMARY KEY (kind, number, name)
        ) WITHOUT ROWID;

        CREATE TABLE message_age (
          block INTEGER PRIMARY KEY,
          oldest INTEGER
        );
        CREATE TABLE clock (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          seen INTEGER NOT NULL,
          uptime INTEGER NOT NULL,
          jumped_at INTEGER
        );

        DELETE FROM change WHERE sequence NOT IN (
          SELECT max(sequence) FROM change GROUP BY user_id, session_id, message_id, kind, agent_id
        );
        CREATE INDEX change_by_subject ON change (user_id, session_id, message_id, kind, agent_id);

        CREATE INDEX conversation_unread ON conversation (user_id, last_activity, session_id)
          WHERE last_sequence > read_through;
        CREATE INDEX conversation_by_discarding ON conversation (user_id, last_activity, session_id)
          WHERE discarded_at IS NOT NULL;
        """
}
