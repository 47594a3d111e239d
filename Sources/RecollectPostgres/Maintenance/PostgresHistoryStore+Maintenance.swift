#if Postgres
    import RecollectCore

    /// Maintenance of a whole history, of all users. An app does not need it.
    extension PostgresHistoryStore: UserListing {
        /// The statements that `migrate()` runs in an empty database, as a script for `psql`.
        ///
        /// Meant for databases in which the program has no right to create tables.
        public static var schemaScript: String {
            """
            -- The tables of a Recollect history, version \(PostgresSchema.version).
            -- Run it with `psql -v ON_ERROR_STOP=1` in a database with the encoding UTF8.

            """ + PostgresSchema.script
        }

        /// The version of the tables that this code uses.
        public static var schemaVersion: Int { Int(PostgresSchema.version) }

        /// Returns the version of the tables in the database; 0 without tables.
        /// - Throws: Errors of the server.
        public func schemaVersion() async throws -> Int {
            Int(try await PostgresMigrator(database: database).currentVersion())
        }

        /// Returns the IDs of all users with sessions, ordered by their bytes.
        public func users() async throws -> [String] {
            try await performing { database in
                // One lookup per user and partition: `DISTINCT` reads an index entry for each session.
                let rows = try await database.read(
                    """
                    WITH RECURSIVE users (user_id) AS (
                      (SELECT user_id FROM recollect.session ORDER BY user_id LIMIT 1)
                      UNION ALL
                      SELECT (SELECT s.user_id FROM recollect.session AS s WHERE s.user_id > users.user_id
                              ORDER BY s.user_id LIMIT 1)
                      FROM users WHERE users.user_id IS NOT NULL
                    ) SELECT user_id FROM users WHERE user_id IS NOT NULL ORDER BY user_id
                    """)
                return (0..<rows.count).map { rows.text($0, 0) }
            }
        }

        /// Reads all rows of the history on one state of the database, and compares them. Changes nothing.
        ///
        /// It checks the tables, the numbers and owners of rows, whether contents are readable, their words in the index, the bytes and
        /// uses of attachments, the end of the feed, and the server's settings for durability. It does not recompute the
        /// titles, previews, dates and sums in lists. The time is proportional to the size of the history.
        /// - Throws: `cannotOpen` without tables, `newerSchema` for tables of a newer version, and errors of the server.
        public func check() async throws -> PostgresReport {
            try await performing { database in
                try await database.reading(timeLimit: .seconds(86_400)) { transaction in
                    var check = try await PostgresCheck(server: description, in: transaction)
                    try await check.run()
                    return check.report
                }
            }
        }
    }
#endif
