#if CommandLine && Postgres
    import ArgumentParser
    import Recollect
    import RecollectPostgres

    struct PostgresCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "postgres",
            abstract: "Create, update, check and expire a history in PostgreSQL.",
            discussion: """
                Every command takes the URL of a database in place of the folder of a history: --store, or the environment \
                variable RECOLLECT_STORE. It is a URL of libpq, such as postgres://app@db.example.com:5432/chats, with several \
                hosts if needed. Certificates are verified unless the host is this machine. Other users of this machine can \
                see the arguments of a program: put the password into the file ~/.pgpass or the variable PGPASSWORD.

                    export RECOLLECT_STORE=postgres://app@db.example.com/chats
                    recall postgres init
                    recall migrate --from store:/var/lib/app/history
                    recall sessions
                """,
            subcommands: [
                PostgresInitCommand.self, PostgresMigrateCommand.self, PostgresCheckCommand.self,
                PostgresSQLCommand.self, PostgresExpireCommand.self,
            ])
    }

    struct PostgresInitCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Create the tables of a history in a database.",
            discussion: """
                The database must exist, with the encoding UTF8. The tables are in the schema recollect; other tables are not \
                touched. If the tables exist, nothing is changed, unless they are of an earlier version: they are then \
                updated.

                JSON keys: server, schemaVersion, steps (the number of steps run).
                """)

        @OptionGroup var options: StoreOptions

        func run() async throws {
            try await options.withDatabase { history in
                let steps = try await history.migrate()
                let text = steps == 0 ? "The tables already exist, in version" : "Created the tables, in version"
                try await options.write(steps, text, history)
            }
        }
    }

    struct PostgresMigrateCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Update the tables of a history to the version of this program.",
            discussion: """
                Each step is one transaction, and waits at most 10 seconds for other transactions that use the tables. A failed \
                step changes nothing. `recall migrate` copies sessions instead.

                JSON keys: server, schemaVersion, steps (the number of steps run).
                """)

        @OptionGroup var options: StoreOptions

        func run() async throws {
            try await options.withDatabase { history in
                guard try await history.schemaVersion() > 0 else {
                    throw RecollectError(
                        .notFound,
                        "\(history.description): there are no tables of a history; create them with `recall postgres init`"
                    )
                }
                let steps = try await history.migrate()
                let text = steps == 0 ? "The tables are up to date, in version" : "Updated the tables to version"
                try await options.write(steps, text, history)
            }
        }
    }

    struct PostgresSQLCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sql",
            abstract: "Print the SQL of the tables, for psql.",
            discussion: """
                For databases in which this program may not create tables. The script is one transaction for a database \
                without the tables; `recall postgres init` runs the same statements.
                """)

        func run() async throws {
            try await Output.open { try await $0.line(PostgresHistoryStore.schemaScript) }
        }
    }

    extension StoreOptions {
        fileprivate func write(_ steps: Int, _ text: String, _ history: PostgresHistoryStore) async throws {
            let version = try await history.schemaVersion()
            try await Output.open { output in
                guard json else {
                    return try await output.line("\(text) \(version): \(history.description)".oneLine)
                }
                let object: JSONValue = [
                    "server": .string(history.description), "schemaVersion": .integer(Int64(version)),
                    "steps": .integer(Int64(steps)),
                ]
                try await output.line(object.jsonString)
            }
        }
    }
#endif
