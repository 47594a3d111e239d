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

                JSON keys: server, before (a date), messageCount, sessionCount. --json requires --yes.
                """)

        @OptionGroup var options: StoreOptions

        @Option(help: "A day (2026-02-03), a day and a time (2026-02-03T09:30), or an age (12h, 7d, 2w).")
        var before: DateArgument

        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
        var yes = false

        func validate() throws {
            if options.json, !yes { throw ValidationError("--json requires --yes.") }
            if options.namedUser != nil {
                throw ValidationError("This deletes messages of all users: leave out --user.")
            }
            if before.date > Date() {
                throw ValidationError("--before is in the future: all messages of all users would be deleted.")
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
                let sessions = try await history.deleteSessions(discardedBefore: before.date)
                let messages = try await history.deleteMessages(olderThan: before.date)
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
    }
#endif
