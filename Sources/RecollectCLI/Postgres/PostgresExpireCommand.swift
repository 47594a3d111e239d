#if CommandLine && Postgres
    import ArgumentParser
    import Foundation
    import Recollect
    import RecollectPostgres

    struct PostgresExpireCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire",
            abstract: "Delete old messages of all users permanently.",
            discussion: """
                Deletes messages with a timestamp before a date, and sessions discarded before it, of all users. Sessions without messages stay. Without --yes, asks \
                for confirmation; without a terminal, deletes nothing. Servers delete nothing by themselves: run this each night.

                    recall postgres expire --before 90d --yes

                Deleted rows stay in the files of the database until its next VACUUM, and in backups.

                JSON keys: server, before (a date), messageCount (without those of deleted sessions), sessionCount. --json requires --yes.
                """)

        @OptionGroup var options: StoreOptions

        @Option(
            help: "A day (2026-02-03), a day and a time (2026-02-03T09:30), or an age (7d, 2w); at least a day ago.")
        var before: DateArgument

        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
        var yes = false

        func validate() throws {
            if options.json, !yes { throw ValidationError("--json requires --yes.") }
            if options.namedUser != nil {
                throw ValidationError("This deletes messages of all users: leave out --user.")
            }
            // Also against `3m` for three months.
            guard before.date <= Date(timeIntervalSinceNow: -86_400) else {
                throw ValidationError(
                    "--before must be at least a day ago: it deletes messages of all users. 90d means 90 days, and 3m three minutes."
                )
            }
        }

        func run() async throws {
            let date = ISO8601.text(of: before.date)
            try await options.withDatabase { history in
                if !yes {
                    let question = Question(
                        text: "Delete permanently?",
                        facts: ["all messages of all users before \(date) in \(history.description)"],
                        refusal: "nothing was deleted: confirmation requires a terminal; to skip it, use --yes")
                    guard try await question.ask() else { return Output.printError("Nothing was deleted.") }
                }
                // A locked session fails the first deletion at its end, and must not prevent the second one.
                let discarded = await result { try await history.deleteSessions(discardedBefore: before.date) }
                let messages = try await history.deleteMessages(olderThan: before.date)
                let sessions = try discarded.get()
                try await Output.open { output in
                    guard options.json else {
                        return try await output.line(
                            "Deleted \(Format.count(messages, "message")), and \(Format.count(sessions, "discarded session"))."
                        )
                    }
                    let object: JSONValue = [
                        "server": .string(history.description), "before": .string(date),
                        "messageCount": .integer(Int64(messages)), "sessionCount": .integer(Int64(sessions)),
                    ]
                    try await output.line(object.jsonString)
                }
            }
        }

        private func result(_ body: () async throws -> Int) async -> Result<Int, any Error> {
            do {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        }
    }
#endif
