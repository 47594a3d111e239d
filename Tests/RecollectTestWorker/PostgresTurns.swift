#if Postgres
    import Foundation
    import RecollectCore
    import RecollectPostgres

    /// `postgres-turns URL WRITER SESSIONS TASKS TURNS`: several tasks of a server run turns with a lease each, in sessions of user
    /// `u`. A turn that fails runs again, with the same messages. Prints a line before and after each attempt, and after each save:
    /// `begin SESSION TURN`, `saved SESSION MESSAGE`, `failed SESSION TURN CODE` and `end SESSION TURN`.
    func postgresTurns(_ arguments: [String]) async throws {
        let store = try PostgresHistoryStore(url: arguments[0])
        let (writer, numbers) = (arguments[1], arguments.dropFirst(2).map { Int($0) ?? 1 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<numbers[1] {
                group.addTask {
                    for number in 0..<numbers[2] {
                        // Tasks of all servers meet in each session.
                        let session = "s\((number * 7 + task) % numbers[0])"
                        try await run("\(writer)-\(task)-\(number)", in: session, of: store)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func run(_ turn: String, in session: String, of store: PostgresHistoryStore) async throws {
        let scope = Scope(userId: "u", sessionId: session, agentId: "agent")
        let messages = [
            ConversationMessage(id: "\(turn)-q", role: .user, text: "Question of \(turn)"),
            ConversationMessage(id: "\(turn)-a", role: .assistant, text: "Answer to \(turn)"),
        ]
        // A failover takes seconds.
        for _ in 0..<100 {
            say("begin \(session) \(turn)")
            do {
                try await store.withLease(of: scope.session, for: .seconds(5)) {
                    for message in messages {
                        try await store.append([message], to: scope)
                        say("saved \(session) \(message.id)")
                    }
                }
                return say("end \(session) \(turn)")
            } catch let error as RecollectError {
                say("failed \(session) \(turn) \(error.code.rawValue)")
                try await Task.sleep(for: .milliseconds(100))
            }
        }
        say("given up \(session) \(turn)")
    }
#endif
