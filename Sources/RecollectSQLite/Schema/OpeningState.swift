import GRDB

/// The state of a database at its opening, read with a few statements.
struct OpeningState: Sendable {
    /// The applied schema migrations.
    let migrations: Set<String>
    let indexVersion: Int64?
    /// SQLite's count of schema changes.
    let schemaVersion: Int64
    /// Whether the schema is the one recorded by the last opening.
    let matchesStoredSchema: Bool
    /// Whether there are streaming or interrupted replies.
    let hasStreamingReplies: Bool
    /// Whether deleted content remains to be erased.
    let isErasing: Bool
    /// Whether there are messages with pending derived data or not yet indexed.
    let isFollowing: Bool

    /// Creates the state by reading it. Returns `nil` for a database without the tables of this version.
    init?(_ db: Database) throws {
        // The schema version is read first: a change between the statements then shows as a newer version.
        schemaVersion = try db.integer("PRAGMA schema_version") ?? 0
        let row: SQL
        do {
            row = try db.sql(Self.query)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            return nil
        }
        defer { row.reset() }
        guard try row.step() else { return nil }
        matchesStoredSchema = try SchemaChecksum.matchesStored(db)
        migrations = Set(row.text(0).split(separator: "\n").map(String.init))
        indexVersion = row.optionalInteger(1)
        hasStreamingReplies = row.integer(2) != 0
        isErasing = row.integer(3) != 0
        let followed = min(row.integer(4), row.integer(5))
        // A damaged page of messages must not stop an opening. The follower's read reports it.
        isFollowing = (try? db.integer("SELECT max(sequence) FROM message") ?? 0 > followed) ?? true
    }

    private static let query = """
        SELECT (SELECT group_concat(identifier, char(10)) FROM grdb_migrations),
          (SELECT version FROM search_state WHERE id = 1), EXISTS (SELECT 1 FROM streaming_reply), EXISTS (SELECT 1 FROM erasure),
          (SELECT indexed_through FROM search_state WHERE id = 1), \(FeedState.derivedThroughSQL)
        """
}
