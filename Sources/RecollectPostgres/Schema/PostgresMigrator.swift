#if Postgres
    import RecollectCore

    /// Creates the tables of a history, and changes those of earlier versions.
    struct PostgresMigrator: Sendable {
        let database: PostgresDatabase
        /// The steps to the present version.
        var migrations = PostgresSchema.migrations

        /// The first statements of each step.
        static let preparation = [
            "SELECT set_config('lock_timeout', '10s', true)",
            // Two migrations must not run at once, and `CREATE SCHEMA IF NOT EXISTS` fails if they do.
            "SELECT pg_advisory_xact_lock(hashtextextended('recollect.migration', 0))",
            "CREATE SCHEMA IF NOT EXISTS recollect",
            """
            CREATE TABLE IF NOT EXISTS recollect.migration (
              version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now()
            )
            """,
        ]

        /// Returns the version of the tables; 0 without tables.
        func currentVersion() async throws -> Int64 {
            let exists = try await database.read("SELECT to_regclass('recollect.migration') IS NOT NULL")
            guard exists.boolean(0, 0) else { return 0 }
            return try await database.read("SELECT coalesce(max(version), 0) FROM recollect.migration").integer(0, 0)
        }

        /// Runs the missing steps, each in one transaction, and returns their number. Several servers may call this at once: one
        /// runs a step, and the others wait for it.
        ///
        /// A failed step changes nothing, and the next call continues with it.
        /// - Throws: `newerSchema` for tables of a newer version, left untouched; `cannotOpen` for a database with another encoding
        ///   than UTF-8; `permissionDenied` without the right to create a schema; `busy` if other transactions use the tables for 10 seconds.
        @discardableResult
        func migrate() async throws -> Int {
            var count = 0
            while try await migrateOnce() { count += 1 }
            return count
        }

        /// Runs the next step. Returns false if there is none.
        private func migrateOnce() async throws -> Bool {
            try await database.transaction { transaction in
                let state = PostgresStatement(
                    "SELECT coalesce(max(version), 0), current_setting('server_encoding') FROM recollect.migration")
                let results = try await transaction.run(Self.preparation.map { PostgresStatement($0) } + [state])
                let version = results[results.count - 1].integer(0, 0)
                try checkEncoding(results[results.count - 1].text(0, 1))
                try check(version)
                guard let next = migrations.first(where: { $0.version > version }) else { return ([], false) }
                let statements = next.statements.map { PostgresStatement($0) }
                let mark = PostgresStatement(
                    "INSERT INTO recollect.migration (version) VALUES ($1)", .integer(next.version))
                return (statements + [mark], true)
            }
        }

        /// Checks that the database can hold the words of all scripts in its index.
        /// - Throws: `cannotOpen`.
        private func checkEncoding(_ encoding: String) throws {
            guard encoding != "UTF8" else { return }
            throw RecollectError(
                .cannotOpen,
                "\(database.pool.address.description): the database has the encoding \(encoding), and a history needs UTF8; create "
                    + "another database with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0; nothing was changed")
        }

        /// Compares the version of the tables with that of this code.
        /// - Throws: `newerSchema`.
        private func check(_ version: Int64) throws {
            let known = migrations.last?.version ?? 0
            guard version > known else { return }
            throw RecollectError(
                .newerSchema,
                "\(database.pool.address.description): the tables of the history have version \(version), and this program knows "
                    + "version \(known); update the program; nothing was changed")
        }

        /// Checks that the tables have the present version.
        /// - Throws: `newerSchema`, or `cannotOpen` for missing or older tables.
        func checkVersion() async throws {
            let version = try await currentVersion()
            try check(version)
            if version > 0 { try checkEncoding(try await database.read("SHOW server_encoding").text(0, 0)) }
            let known = migrations.last?.version ?? 0
            guard version < known else { return }
            throw RecollectError(
                .cannotOpen,
                "\(database.pool.address.description): the tables of the history "
                    + (version == 0
                        ? "do not exist; create them with `recall postgres init`"
                        : "have version \(version) instead of \(known); update them with `recall postgres migrate`")
                    + " or `migrate()`")
        }
    }
#endif
