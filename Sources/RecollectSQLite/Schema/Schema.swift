import GRDB
import RecollectCore

/// The database's tables, as migrations with permanent identifiers: a released one is never edited, only followed
/// by another.
enum Schema {
    /// "RCLL": the application ID of a Recollect history in a SQLite file.
    static let applicationID: Int32 = 0x5243_4C4C

    /// Whether a database with this header is a Recollect history.
    static func isOurs(_ header: [UInt8]) -> Bool {
        DatabaseHeader.isDatabase(header)
            && header[68..<72].reduce(Int32(0)) { $0 << 8 | Int32($1) } == applicationID
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 history") { db in
            try db.execute(sql: history)
        }
        migrator.registerMigration("2 library") { db in
            try db.execute(sql: library)
        }
        migrator.registerMigration("3 drafts") { try $0.execute(sql: drafts) }
        migrator.registerMigration("4 ids by scope") { try $0.execute(sql: idsByScope) }
        migrator.registerMigration("5 checksums") { try $0.execute(sql: checksums) }
        migrator.registerMigration("6 erasure") { try $0.execute(sql: erasure) }
        migrator.registerMigration("7 numbers") { try $0.execute(sql: numbers) }
        return migrator
    }

    /// The identifiers of the migrations, oldest first.
    static let identifiers = migrator.migrations

    /// Whether this version, and no newer one, applied every migration and created the search index.
    static func isCurrent(_ state: OpeningState) -> Bool {
        state.migrations == Set(identifiers) && state.indexVersion == SearchIndex.version
    }

    /// Whether a newer version applied migrations unknown to this one, or created the search index in a newer
    /// format.
    static func isNewer(_ db: Database) throws -> Bool {
        let applied = try applied(db)
        guard !applied.isEmpty else { return false }
        return try isNewer(applied) || SearchIndex.isNewer(db)
    }

    /// Returns the identifiers of the applied migrations, oldest first.
    static func applied(_ db: Database) throws -> [String] {
        guard try db.integer("SELECT 1 FROM sqlite_master WHERE name = 'grdb_migrations'") != nil else { return [] }
        var identifiers: [String] = []
        try db.sql("SELECT identifier FROM grdb_migrations ORDER BY rowid").forEachRow {
            identifiers.append($0.text(0))
        }
        return identifiers
    }

    /// `message_id` and the counts and last activities of `session` follow the messages: see `DerivedData`.
    ///
    /// A message's `sequence` is its number in the change feed. `position` is its position in the order of saving,
    /// with gaps for messages added by a merge. `text` holds a message consisting of one part of prose, `parts` the
    /// JSON of any other. `copied_from` is the number of the message copied by a fork. All other changes are rows
    /// of `change`, with numbers of the same feed.
    private static let history = """
        CREATE TABLE conversation (
          id INTEGER PRIMARY KEY,
          user_id TEXT NOT NULL,
          session_id TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          last_activity INTEGER NOT NULL,
          message_count INTEGER NOT NULL,
          title TEXT,
          working_directory TEXT,
          branch TEXT,
          metadata TEXT,
          UNIQUE (user_id, session_id)
        );
        CREATE INDEX conversation_by_activity ON conversation (user_id, last_activity, session_id);

        CREATE TABLE scope (
          id INTEGER PRIMARY KEY,
          conversation_id INTEGER NOT NULL,
          agent_id TEXT NOT NULL,
          window_start INTEGER NOT NULL,
          UNIQUE (conversation_id, agent_id)
        );

        CREATE TABLE message (
          sequence INTEGER PRIMARY KEY,
          conversation_id INTEGER NOT NULL,
          scope_id INTEGER NOT NULL,
          position INTEGER NOT NULL,
          timestamp INTEGER NOT NULL,
          role TEXT NOT NULL,
          message_id TEXT NOT NULL,
          metadata TEXT,
          unknown_fields TEXT,
          text TEXT,
          parts TEXT,
          copied_from INTEGER
        );
        CREATE UNIQUE INDEX message_by_position ON message (scope_id, position);

        CREATE TABLE message_id (
          conversation_id INTEGER NOT NULL,
          message_id TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          PRIMARY KEY (conversation_id, message_id)
        ) WITHOUT ROWID;

        CREATE TABLE settled (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          through INTEGER NOT NULL
        );
        INSERT INTO settled (id, through) VALUES (1, 0);

        CREATE TABLE change (
          sequence INTEGER PRIMARY KEY,
          kind TEXT NOT NULL,
          user_id TEXT NOT NULL,
          session_id TEXT NOT NULL,
          agent_id TEXT,
          message_id TEXT
        );

        CREATE TABLE attachment_use (
          sha256 TEXT NOT NULL,
          sequence INTEGER NOT NULL,
          PRIMARY KEY (sha256, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX attachment_use_by_message ON attachment_use (sequence);

        CREATE TABLE search_state (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          version INTEGER NOT NULL,
          indexed_through INTEGER NOT NULL
        );
        """
}
