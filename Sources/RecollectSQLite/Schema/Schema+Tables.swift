extension Schema {
    /// The tables of the first schema.
    ///
    /// - `message_id`, and in `session` the counts, tokens, `last_activity`, `last_sequence` and `preview`, are
    ///   derived from the messages: see `DerivedData`.
    /// - A message's `sequence` is its number in the change feed. `position` is its position in the order of its session,
    ///   with gaps for messages added by a merge. `text` holds a message consisting of one part of prose, `parts` the
    ///   JSON of any other. `copied_from` is the number of the message copied by a fork. `checksum` covers the content
    ///   (`MessageChecksum`). All other changes are rows of `change`, with numbers of the same feed; it keeps only the
    ///   last row of each kind and subject.
    /// - In `session`, `first_message` is the first message passed to a session storage before there was a message.
    ///   `last_sequence` and `read_through` are numbers of the feed. A branch names its original session, the last
    ///   message in both, and this message's agent.
    /// - `message_id` is keyed by scope, because several agents may have the same message.
    /// - `streaming_reply` has the columns of `message`, the oldest reply first by `id`. An `id` is never reused: a late
    ///   flush must not write to another reply. Only `text` grows: if `parts` is not NULL, `text` is the last part
    ///   after these, if there is one. `writer` names the lock of the writing process, and is empty in memory.
    /// - A row of `erasure` is remaining work of a deletion (`Eraser.Kind`). `message_age` has the oldest timestamp of
    ///   each block of sequence numbers, NULL for an empty block (`Expiry`). `clock` has the last observation of the
    ///   clock (`ClockWatch`).
    /// - `last_deleted` is the largest number of a deleted session or scope. New numbers are larger: an older page of a
    ///   table or of an index must not lead from a new session to messages and tags of a deleted one.
    static let sessions = """
        CREATE TABLE session (
          id INTEGER PRIMARY KEY,
          user_id TEXT NOT NULL,
          session_id TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          last_activity INTEGER NOT NULL,
          message_count INTEGER NOT NULL,
          title TEXT,
          working_directory TEXT,
          branch_name TEXT,
          metadata TEXT,
          first_message TEXT,
          preview TEXT,
          last_access INTEGER NOT NULL DEFAULT 0,
          last_sequence INTEGER NOT NULL DEFAULT 0,
          read_through INTEGER NOT NULL DEFAULT 0,
          is_pinned INTEGER NOT NULL DEFAULT 0,
          is_archived INTEGER NOT NULL DEFAULT 0,
          discarded_at INTEGER,
          branch_of INTEGER,
          branch_after TEXT,
          input_tokens INTEGER NOT NULL DEFAULT 0,
          output_tokens INTEGER NOT NULL DEFAULT 0,
          cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
          cache_read_tokens INTEGER NOT NULL DEFAULT 0,
          branch_agent TEXT,
          UNIQUE (user_id, session_id)
        );
        CREATE INDEX session_by_activity ON session (user_id, last_activity, session_id);
        CREATE INDEX session_by_access ON session (user_id, last_access, session_id);
        CREATE INDEX session_by_creation ON session (user_id, created_at, session_id);
        CREATE INDEX session_by_title ON session (
          user_id, (coalesce(nullif(title, ''), nullif(preview, ''), session_id)) COLLATE NOCASE, session_id
        );
        CREATE INDEX session_pinned ON session (user_id, last_activity, session_id) WHERE is_pinned = 1;
        CREATE INDEX session_archived ON session (user_id, last_activity, session_id) WHERE is_archived = 1;
        CREATE INDEX session_unread ON session (user_id, last_activity, session_id)
          WHERE last_sequence > read_through;
        CREATE INDEX session_discarded ON session (discarded_at) WHERE discarded_at IS NOT NULL;
        CREATE INDEX session_by_discarding ON session (user_id, last_activity, session_id)
          WHERE discarded_at IS NOT NULL;
        CREATE INDEX session_branch ON session (branch_of) WHERE branch_of IS NOT NULL;

        CREATE TABLE tag (
          session_row_id INTEGER NOT NULL,
          tag TEXT NOT NULL,
          PRIMARY KEY (session_row_id, tag)
        ) WITHOUT ROWID;
        CREATE INDEX session_by_tag ON tag (tag, session_row_id);

        CREATE TABLE scope (
          id INTEGER PRIMARY KEY,
          session_row_id INTEGER NOT NULL,
          agent_id TEXT NOT NULL,
          window_start INTEGER NOT NULL,
          UNIQUE (session_row_id, agent_id)
        );

        CREATE TABLE message (
          sequence INTEGER PRIMARY KEY,
          session_row_id INTEGER NOT NULL,
          scope_row_id INTEGER NOT NULL,
          position INTEGER NOT NULL,
          timestamp INTEGER NOT NULL,
          role TEXT NOT NULL,
          message_id TEXT NOT NULL,
          metadata TEXT,
          unknown_fields TEXT,
          text TEXT,
          parts TEXT,
          copied_from INTEGER,
          checksum INTEGER
        );
        CREATE UNIQUE INDEX message_by_position ON message (scope_row_id, position);

        CREATE TABLE message_id (
          scope_row_id INTEGER NOT NULL,
          message_id TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          PRIMARY KEY (scope_row_id, message_id)
        ) WITHOUT ROWID;

        CREATE TABLE derived_data (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          through INTEGER NOT NULL,
          last_deleted INTEGER NOT NULL DEFAULT 0
        );
        INSERT INTO derived_data (id, through) VALUES (1, 0);

        CREATE TABLE change (
          sequence INTEGER PRIMARY KEY,
          kind TEXT NOT NULL,
          user_id TEXT NOT NULL,
          session_id TEXT NOT NULL,
          agent_id TEXT,
          message_id TEXT
        );
        CREATE INDEX change_by_subject ON change (user_id, session_id, message_id, kind, agent_id);

        CREATE TABLE attachment_use (
          sha256 TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          PRIMARY KEY (sha256, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX attachment_use_by_message ON attachment_use (sequence);

        CREATE TABLE streaming_reply (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          session_row_id INTEGER NOT NULL,
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
        CREATE INDEX streaming_reply_by_session ON streaming_reply (session_row_id, message_id);

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

        CREATE TABLE search_state (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          version INTEGER NOT NULL,
          indexed_through INTEGER NOT NULL
        );
        """

    /// The sequence number of the changed message: another message may have the same ID. So the feed keeps each deletion of a
    /// message. `NULL` for changes of a session or a user, and for those recorded before this migration.
    static let changedMessage = "ALTER TABLE change ADD COLUMN message_sequence INTEGER"

    /// The summaries in place of messages (`CompactionRow`). `boundary` is the number of the last covered message and
    /// `message_id` its ID at that time, `covers_through` the greatest number of a covered one. The last row of a scope is in
    /// effect. No index has an entry with the types of another table's: a salvage recognizes entries by them.
    static let compactions = """
        CREATE TABLE compaction (
          id INTEGER PRIMARY KEY,
          scope_row_id INTEGER NOT NULL,
          boundary INTEGER NOT NULL,
          covers_through INTEGER NOT NULL,
          made_at INTEGER NOT NULL,
          message_count INTEGER NOT NULL,
          compaction_id TEXT NOT NULL,
          message_id TEXT NOT NULL,
          author TEXT NOT NULL,
          summary TEXT NOT NULL,
          previous_id TEXT
        );
        CREATE INDEX compaction_by_scope ON compaction (scope_row_id);
        CREATE INDEX compaction_by_boundary ON compaction (boundary);
        """

    /// The leases of running and waiting turns (`SQLiteLease`), in the order of `token`. A token is never reused: a late turn must not
    /// take another one's lease for its own.
    static let turnLeases = """
        CREATE TABLE turn_lease (
          token INTEGER PRIMARY KEY AUTOINCREMENT,
          user_id TEXT NOT NULL,
          session_id TEXT NOT NULL,
          expires_at INTEGER NOT NULL,
          writer TEXT NOT NULL
        );
        """

    /// The times of messages in the order of their session (`MessageSortKey`): `placed_at` is `NULL` for a message's own
    /// timestamp. Sessions of several agents are sorted by them. Those with branches keep their order: the positions
    /// show where a branch begins.
    static let sessionOrder = """
        ALTER TABLE message ADD COLUMN placed_at INTEGER;
        CREATE TEMP TABLE placed AS SELECT number, time FROM (
          SELECT sequence AS number, timestamp, max(timestamp) OVER (PARTITION BY scope_row_id ORDER BY position) AS time
          FROM message)
        WHERE time > timestamp;
        UPDATE message SET placed_at = placed.time FROM temp.placed WHERE sequence = number;
        DROP TABLE temp.placed;

        CREATE TEMP TABLE ranked AS
        SELECT sequence AS number, scope.session_row_id AS session, scope.id AS scope, position,
          row_number() OVER (
            PARTITION BY scope.session_row_id ORDER BY ifnull(placed_at, timestamp), agent_id, position) AS rank,
          row_number() OVER (PARTITION BY scope.session_row_id ORDER BY position) AS place
        FROM scope JOIN message ON scope_row_id = scope.id WHERE scope.session_row_id IN (
          SELECT session_row_id FROM scope GROUP BY session_row_id HAVING count(*) > 1
          EXCEPT SELECT id FROM session WHERE branch_of IS NOT NULL
          EXCEPT SELECT branch_of FROM session WHERE branch_of IS NOT NULL);
        CREATE TEMP TABLE unsorted AS SELECT session FROM ranked
        GROUP BY session HAVING max(rank <> place) AND count(DISTINCT position) = count(*);
        CREATE UNIQUE INDEX temp.ranked_by_place ON ranked (session, place);
        CREATE TEMP TABLE sorted AS
        SELECT old.number, old.scope, old.position AS earlier, new.position
        FROM unsorted JOIN ranked AS old USING (session) JOIN ranked AS new ON new.session = old.session AND new.place = old.rank;
        CREATE INDEX temp.sorted_by_scope ON sorted (scope, earlier, position);
        UPDATE scope SET window_start = ifnull(
          (SELECT max(position) + 1 FROM temp.sorted WHERE sorted.scope = scope.id AND earlier < window_start), 0)
        WHERE window_start > 0 AND id IN (SELECT scope FROM temp.sorted);
        UPDATE message SET position = -sequence WHERE sequence IN (SELECT number FROM temp.sorted WHERE position <> earlier);
        UPDATE message SET position = sorted.position FROM temp.sorted WHERE sequence = number AND sorted.position <> earlier;
        UPDATE session SET created_at = first.timestamp
        FROM (SELECT session, timestamp FROM temp.ranked JOIN message ON sequence = number WHERE rank = 1) AS first
        WHERE session.id = first.session AND id IN (SELECT session FROM temp.unsorted) AND created_at > first.timestamp;
        DELETE FROM change WHERE kind = 'sessionRearranged' AND (user_id, session_id) IN (
          SELECT user_id, session_id FROM temp.unsorted JOIN session ON session.id = unsorted.session);
        INSERT INTO change (sequence, kind, user_id, session_id)
        SELECT max(ifnull((SELECT max(sequence) FROM message), 0), ifnull((SELECT max(sequence) FROM change), 0))
          + row_number() OVER (ORDER BY session.id), 'sessionRearranged', user_id, session_id
        FROM temp.unsorted JOIN session ON session.id = unsorted.session;
        DROP TABLE temp.sorted;
        DROP TABLE temp.unsorted;
        DROP TABLE temp.ranked;
        """
}
