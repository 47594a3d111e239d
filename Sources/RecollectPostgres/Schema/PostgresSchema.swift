#if Postgres
    /// The tables of a history in PostgreSQL, in the schema `recollect`, as numbered migrations. A released migration never changes.
    ///
    /// - `user_id` is the first column of every key: rows of a user are in one partition, and no statement of a user reads those of
    ///   another. IDs, roles and bodies are `bytea`, in UTF-8: `text` cannot hold U+0000. Dates are milliseconds since 1970.
    /// - A session has a random `session` number, so that a new ID for it changes one row. `revision` is random and changes with each
    ///   write: a save with a known revision needs no earlier read. `last_position` is the last position given to a message,
    ///   `added` counts the messages ever added, and `read_through` those read. `title_key` is the display title for the order of
    ///   lists (`SessionColumns`). A branch names its original session, the last message in both and this message's agent;
    ///   `branch_number` orders the branches by age.
    /// - A message's `position` is its position in the session, and `number` the value of `added` at its addition. `placed_at` is
    ///   the time of its sort key, `NULL` for its own timestamp. `text` holds a message of one part of prose, `parts` the JSON of
    ///   any other. `terms` are the words of its text, and a word of its user: see `SearchTerms`. Equal contents have equal
    ///   columns: see `MessageColumns`.
    /// - `sequence` is a number of the change feed: see `feed_number`. `change` has all changes other than added messages, only the
    ///   last of each kind and subject.
    /// - `turn_lease` has the leases of running and waiting turns, `turn_queue` the last number given in a session.
    /// - `streaming_reply` has replies by random numbers, in the order of `begun`. `text` is the growing text after the `parts`. Their
    ///   writers renew `leased_until`. `turn_token` is the number of the lease of the turn that has begun a reply.
    /// - Attachments belong to a user, by the hexadecimal digits of their hash. `attachment_use` has the `sequence` of each message
    ///   with one of them, and the negative number of each streaming reply.
    enum PostgresSchema {
        /// A step from one version of the schema to the next.
        struct Migration {
            let version: Int64
            let statements: [String]
        }

        /// The version of this code.
        static var version: Int64 { Int64(migrations.count) }

        static let migrations = [
            Migration(
                version: 1,
                statements: sessions + messages + [compactions] + turns + replies + attachments + feed + estimates)
        ]

        /// The statements of all migrations, for an empty database, as a script of one transaction.
        static var script: String {
            let steps = migrations.flatMap { migration in
                migration.statements + ["INSERT INTO recollect.migration (version) VALUES (\(migration.version))"]
            }
            return (["BEGIN"] + PostgresMigrator.preparation + steps + ["COMMIT"]).map { $0 + ";\n" }.joined(
                separator: "\n")
        }

        /// The number of partitions of the tables of sessions and of messages. Autovacuum cleans each by itself.
        static let partitionCount = 16

        private static let sessions =
            [
                """
                CREATE TABLE recollect.session (
                  user_id bytea NOT NULL,
                  session bigint NOT NULL,
                  session_id bytea NOT NULL,
                  revision bigint NOT NULL,
                  last_position bigint NOT NULL DEFAULT 0,
                  added bigint NOT NULL DEFAULT 0,
                  read_through bigint NOT NULL DEFAULT 0,
                  message_count bigint NOT NULL DEFAULT 0,
                  created_at bigint NOT NULL,
                  last_activity bigint NOT NULL,
                  last_access bigint NOT NULL,
                  title bytea,
                  title_key bytea NOT NULL,
                  preview bytea,
                  first_message bytea,
                  working_directory bytea,
                  branch_name bytea,
                  metadata bytea,
                  is_pinned boolean NOT NULL DEFAULT false,
                  is_archived boolean NOT NULL DEFAULT false,
                  discarded_at bigint,
                  branch_of bigint,
                  branch_after bytea,
                  branch_agent bytea,
                  branch_number bigint,
                  input_tokens bigint NOT NULL DEFAULT 0,
                  output_tokens bigint NOT NULL DEFAULT 0,
                  cache_creation_tokens bigint NOT NULL DEFAULT 0,
                  cache_read_tokens bigint NOT NULL DEFAULT 0,
                  PRIMARY KEY (user_id, session),
                  UNIQUE (user_id, session_id)
                ) PARTITION BY HASH (user_id)
                """,
                "CREATE INDEX session_by_activity ON recollect.session (user_id, last_activity, session_id)",
                "CREATE INDEX session_by_access ON recollect.session (user_id, last_access, session_id)",
                "CREATE INDEX session_by_creation ON recollect.session (user_id, created_at, session_id)",
                "CREATE INDEX session_by_title ON recollect.session (user_id, title_key, session_id)",
                "CREATE INDEX session_branch ON recollect.session (user_id, branch_of) WHERE branch_of IS NOT NULL",
                """
                CREATE TABLE recollect.tag (
                  user_id bytea NOT NULL,
                  session bigint NOT NULL,
                  tag bytea NOT NULL,
                  PRIMARY KEY (user_id, session, tag)
                )
                """,
                "CREATE INDEX session_by_tag ON recollect.tag (user_id, tag, session)",
            ] + partitions(of: "session", fillFactor: 85)

        private static let messages =
            [
                """
                CREATE TABLE recollect.scope (
                  user_id bytea NOT NULL,
                  session bigint NOT NULL,
                  scope bigint NOT NULL,
                  agent_id bytea NOT NULL,
                  window_start bigint NOT NULL DEFAULT 0,
                  PRIMARY KEY (user_id, session, scope),
                  UNIQUE (user_id, session, agent_id)
                ) WITH (fillfactor = 85)
                """,
                """
                CREATE TABLE recollect.message (
                  user_id bytea NOT NULL,
                  session bigint NOT NULL,
                  scope bigint NOT NULL,
                  position bigint NOT NULL,
                  sequence bigint NOT NULL,
                  number bigint NOT NULL,
                  timestamp bigint NOT NULL,
                  placed_at bigint,
                  message_id bytea NOT NULL,
                  role bytea NOT NULL,
                  metadata bytea,
                  unknown_fields bytea,
                  text bytea,
                  parts bytea,
                  copied_from bigint,
                  input_tokens bigint,
                  output_tokens bigint,
                  cache_creation_tokens bigint,
                  cache_read_tokens bigint,
                  terms tsvector,
                  PRIMARY KEY (user_id, session, scope, position),
                  UNIQUE (user_id, session, scope, message_id)
                ) PARTITION BY HASH (user_id)
                """,
                "CREATE INDEX message_by_sequence ON recollect.message (sequence)",
                "CREATE INDEX message_by_user ON recollect.message (user_id, sequence)",
                // A search reads the whole list of entries that wait to be sorted in, 4 MB by default.
                """
                CREATE INDEX message_by_term ON recollect.message USING gin (terms)
                WITH (gin_pending_list_limit = 512)
                """,
            ] + partitions(of: "message", fillFactor: 95)

        /// `compaction` orders the compactions of a scope by age: the last one is in effect. `boundary` is the sequence of the last
        /// covered message and `message_id` its ID at that time, `covers_through` the greatest number of a covered one.
        private static let compactions = """
            CREATE TABLE recollect.compaction (
              user_id bytea NOT NULL,
              session bigint NOT NULL,
              scope bigint NOT NULL,
              compaction bigint NOT NULL,
              boundary bigint NOT NULL,
              covers_through bigint NOT NULL,
              made_at bigint NOT NULL,
              message_count bigint NOT NULL,
              compaction_id bytea NOT NULL,
              message_id bytea NOT NULL,
              author bytea NOT NULL,
              summary bytea NOT NULL,
              previous_id bytea,
              PRIMARY KEY (user_id, session, scope, compaction)
            )
            """

        private static let turns = [
            """
            CREATE TABLE recollect.turn_queue (
              user_id bytea NOT NULL,
              session_id bytea NOT NULL,
              last_token bigint NOT NULL,
              PRIMARY KEY (user_id, session_id)
            ) WITH (fillfactor = 85)
            """,
            """
            CREATE TABLE recollect.turn_lease (
              user_id bytea NOT NULL,
              session_id bytea NOT NULL,
              token bigint NOT NULL,
              expires_at timestamptz NOT NULL,
              PRIMARY KEY (user_id, session_id, token)
            ) WITH (fillfactor = 50)
            """,
        ]

        private static let replies = [
            """
            CREATE TABLE recollect.streaming_reply (
              user_id bytea NOT NULL,
              reply bigint NOT NULL,
              session bigint NOT NULL,
              agent_id bytea NOT NULL,
              message_id bytea NOT NULL,
              role bytea NOT NULL,
              timestamp bigint NOT NULL,
              metadata bytea,
              unknown_fields bytea,
              text bytea,
              parts bytea,
              begun bigint NOT NULL,
              leased_until timestamptz NOT NULL,
              turn_token bigint,
              PRIMARY KEY (user_id, reply)
            ) WITH (fillfactor = 50)
            """,
            "CREATE INDEX streaming_reply_by_session ON recollect.streaming_reply (user_id, session)",
        ]

        private static let attachments = [
            """
            CREATE TABLE recollect.attachment (
              user_id bytea NOT NULL,
              sha256 bytea NOT NULL,
              byte_count bigint NOT NULL,
              PRIMARY KEY (user_id, sha256)
            ) WITH (fillfactor = 85)
            """,
            """
            CREATE TABLE recollect.attachment_part (
              user_id bytea NOT NULL,
              sha256 bytea NOT NULL,
              part bigint NOT NULL,
              bytes bytea NOT NULL,
              PRIMARY KEY (user_id, sha256, part)
            )
            """,
            // Most attachments are compressed already.
            "ALTER TABLE recollect.attachment_part ALTER COLUMN bytes SET STORAGE EXTERNAL",
            """
            CREATE TABLE recollect.attachment_use (
              user_id bytea NOT NULL,
              sha256 bytea NOT NULL,
              sequence bigint NOT NULL,
              PRIMARY KEY (user_id, sha256, sequence)
            )
            """,
            "CREATE INDEX attachment_use_by_message ON recollect.attachment_use (user_id, sequence)",
        ]

        /// `feed_number` returns the first number of the current transaction, which has 2^21 of them. `feed_end` returns the end of
        /// the part that no transaction can add to anymore: all transactions with lower numbers have ended. Numbers of a sequence
        /// would not do: a reader past one of them would miss a lower one committed later.
        ///
        /// `base` is 0. A database restored in another cluster continues above the numbers of the first one: transactions are
        /// numbered by cluster.
        private static let feed = [
            """
            CREATE TABLE recollect.change (
              user_id bytea NOT NULL,
              sequence bigint NOT NULL,
              kind text NOT NULL,
              session_id bytea NOT NULL,
              agent_id bytea,
              message_id bytea,
              message_sequence bigint,
              PRIMARY KEY (user_id, sequence)
            )
            """,
            "CREATE INDEX change_by_sequence ON recollect.change (sequence)",
            """
            CREATE INDEX change_by_subject ON recollect.change (user_id, session_id, message_id, kind, agent_id)
            """,
            // See `TransactionOutcome`.
            """
            CREATE TABLE recollect.outcome (
              key bigint PRIMARY KEY, attempt bigint NOT NULL, saved_at timestamptz NOT NULL DEFAULT now()
            )
            """,
            "CREATE INDEX outcome_by_date ON recollect.outcome (saved_at)",
            "CREATE TABLE recollect.feed (id boolean PRIMARY KEY DEFAULT true CHECK (id), base bigint NOT NULL)",
            "INSERT INTO recollect.feed (base) VALUES (0)",
            """
            CREATE FUNCTION recollect.feed_number() RETURNS bigint LANGUAGE sql VOLATILE AS $$
              SELECT base + (pg_current_xact_id()::text::bigint << 21) FROM recollect.feed
            $$
            """,
            """
            CREATE FUNCTION recollect.feed_end() RETURNS bigint LANGUAGE sql STABLE AS $$
              SELECT base + (pg_snapshot_xmin(pg_current_snapshot())::text::bigint << 21) FROM recollect.feed
            $$
            """,
        ]

        /// Keeps `ANALYZE` from sampling users. By an old sample, a new user has no rows, and all indexes seem equally good to the planner.
        /// Without a sample, it expects the same part of a table for each user.
        private static let estimates = [
            "session", "tag", "scope", "message", "streaming_reply", "attachment_use", "change",
        ]
        .map { "ALTER TABLE recollect.\($0) ALTER COLUMN user_id SET STATISTICS 0" }

        private static func partitions(of table: String, fillFactor: Int) -> [String] {
            (0..<partitionCount).map {
                """
                CREATE TABLE recollect.\(table)_\($0) PARTITION OF recollect.\(table)
                FOR VALUES WITH (MODULUS \(partitionCount), REMAINDER \($0)) WITH (fillfactor = \(fillFactor))
                """
            }
        }
    }
#endif
