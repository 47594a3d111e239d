#if CommandLine
    import ArgumentParser
    import Foundation
    import Recollect

    struct DeleteCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete sessions permanently; `recall discard` can be undone.",
            discussion: """
                Deletes messages, branches, search entries, and attachments that no other message uses. Without --yes, asks \
                for confirmation; without a terminal, deletes nothing. Imported transcripts are not changed: importing them \
                again restores the session.

                At the end, prints whether the deleted text was erased from the files of the history. Erasing can be pending \
                because another program is reading the history, or because the history is large; the next program that uses \
                the history continues it. `recall doctor --find-traces WORD` searches for traces.

                In a database, deleted rows stay in its files until its next VACUUM, and in backups.

                JSON: a list of objects with the keys id, messageCount, erasure (erased, pending or vacuum), setAside (damaged files \
                set aside, possibly with deleted text). --json requires --yes.
                """)

        @OptionGroup var options: StoreOptions

        @Argument(help: "One or more session IDs, or unique prefixes.")
        var session: [String]

        @Flag(name: .shortAndLong, help: "Do not ask for confirmation.")
        var yes = false

        func validate() throws {
            if options.json, !yes { throw ValidationError("--json requires --yes.") }
        }

        /// Whether deleted text is still in files.
        private enum ErasureState: String {
            case erased, pending, vacuum

            var sentence: String {
                switch self {
                case .erased: "Erased from the files of the history."
                case .pending: "Erasing is pending: the next program that uses the history continues it."
                case .vacuum: "Deleted rows stay in the files of the database until its next VACUUM."
                }
            }
        }

        func run() async throws {
            try await options.withHistory { history in
                let sessions = try await options.sessions(session, in: history)
                var names: [String] = []
                for session in sessions { names.append(try await described(session, in: history)) }
                if !yes {
                    let question = Question(
                        text: "Delete permanently?", facts: names,
                        refusal: "nothing was deleted: confirmation requires a terminal; to skip it, use --yes")
                    guard try await question.ask() else { return Output.printError("Nothing was deleted.") }
                }
                for session in sessions { try await history.deleteSession(session.id) }
                let files = history as? SQLiteHistoryStore
                let erasure = try await erasure(in: files)
                try await confirmDeletion(of: sessions, in: history)
                let setAside = try await files?.filesSetAside() ?? []
                try await Output.open { [names] output in
                    guard options.json else {
                        for name in names { try await output.line("Deleted \(name)") }
                        try await output.line(erasure.sentence)
                        if let name = TypedLines(in: options.directory, of: options.user).name {
                            try await output.line(
                                "Lines typed in `recall chat` remain in \(name). To erase them, delete that file.")
                        }
                        guard !setAside.isEmpty else { return }
                        let names = setAside.joined(separator: ", ")
                        return try await output.line(
                            "Damaged files that were set aside may still contain the deleted text. To erase it, delete them: \(names). "
                                + "Attachments of lost messages may also remain; `recall doctor` lists them."
                        )
                    }
                    let listed = sessions.map { session -> JSONValue in
                        [
                            "id": .string(session.id.sessionId),
                            "messageCount": .integer(Int64(session.messageCount)),
                            "erasure": .string(erasure.rawValue),
                            "setAside": .array(setAside.map(JSONValue.string)),
                        ]
                    }
                    try await output.line(JSONValue.array(listed).jsonString)
                }
            }
        }

        private func erasure(in files: SQLiteHistoryStore?) async throws -> ErasureState {
            guard let files else { return .vacuum }
            return try await isErased(files) ? .erased : .pending
        }

        /// Waits while the erasure makes progress, 5 seconds at most. Does not wait for readers of an older state.
        /// - Returns: Whether the erasure is complete.
        private func isErased(_ history: SQLiteHistoryStore) async throws -> Bool {
            let end = ContinuousClock.now + .seconds(5)
            var left = try await history.waitUntilErased(atMost: .milliseconds(100))
            while left.sessionCount > 0 || left.isIndexPending, ContinuousClock.now < end {
                left = try await history.waitUntilErased(atMost: .milliseconds(100))
            }
            return left.isComplete
        }

        /// Throws `storeReplaced` if a deleted session exists: the files were replaced after the deletion.
        private func confirmDeletion(of sessions: [Session], in history: any HistoryStore) async throws {
            for session in sessions {
                guard let found = try await history.session(session.id), found.createdAt == session.createdAt
                else { continue }
                throw RecollectError(
                    .storeReplaced,
                    "session \(session.id.sessionId) was deleted but exists again: the files of the history were replaced, or"
                        + " another program saved the session; delete it again")
            }
        }

        /// The session's name, and the numbers of its messages, agents and branches.
        private func described(_ session: Session, in history: any HistoryStore) async throws -> String {
            var facts = [Format.count(session.messageCount, "message")]
            if session.agentIds.count > 1 { facts.append(Format.count(session.agentIds.count, "agent")) }
            let branches = try await history.branches(of: session.id)
            if !branches.isEmpty { facts.append(Format.count(branches.count, "branch", "branches")) }
            return "\(try await options.name(of: session, in: history)) (\(facts.joined(separator: ", ")))"
        }
    }
#endif
