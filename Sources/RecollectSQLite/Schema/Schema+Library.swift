extension Schema {
    /// The columns of the session library.
    ///
    /// `preview`, `last_sequence` and the tokens follow the messages, as the counts do (`DerivedData`): after this
    /// migration all of them are derived again. `first_message` is the first message passed to a session storage
    /// before there was a message. `last_sequence` and `read_through` are numbers of the feed. Existing messages
    /// count as read. A branch names its original session and the last message in both.
    static let library = """
        ALTER TABLE conversation ADD COLUMN first_message TEXT;
        ALTER TABLE conversation ADD COLUMN preview TEXT;
        ALTER TABLE conversation ADD COLUMN last_access INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN last_sequence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN read_through INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN is_archived INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN discarded_at INTEGER;
        ALTER TABLE conversation ADD COLUMN branch_of INTEGER;
        ALTER TABLE conversation ADD COLUMN branch_after TEXT;
        ALTER TABLE conversation ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN cache_creation_tokens INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversation ADD COLUMN cache_read_tokens INTEGER NOT NULL DEFAULT 0;
        UPDATE conversation SET last_access = last_activity, message_count = 0,
          read_through = (SELECT ifnull(max(sequence), 0) FROM message);
        DELETE FROM message_id;
        UPDATE settled SET through = 0;

        CREATE INDEX conversation_by_access ON conversation (user_id, last_access, session_id);
        CREATE INDEX conversation_by_creation ON conversation (user_id, created_at, session_id);
        CREATE INDEX conversation_by_title ON conversation (
          user_id, (coalesce(nullif(title, ''), nullif(preview, ''), session_id)) COLLATE NOCASE, session_id
        );
        CREATE INDEX conversation_pinned ON conversation (user_id, last_activity, session_id) WHERE is_pinned = 1;
        CREATE INDEX conversation_archived ON conversation (user_id, last_activity, session_id) WHERE is_archived = 1;
        CREATE INDEX conversation_discarded ON conversation (discarded_at) WHERE discarded_at IS NOT NULL;
        CREATE INDEX conversation_branch ON conversation (branch_of) WHERE branch_of IS NOT NULL;

        CREATE TABLE tag (
          conversation_id INTEGER NOT NULL,
          tag TEXT NOT NULL,
          PRIMARY KEY (conversation_id, tag)
        ) WITHOUT ROWID;
        CREATE INDEX conversation_by_tag ON tag (tag, conversation_id);
        """
}
