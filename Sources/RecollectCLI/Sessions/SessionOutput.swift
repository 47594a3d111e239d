#if CommandLine
    import Recollect
    import RecollectTranscripts

    /// The output of commands for changing sessions.
    extension StoreOptions {
        /// Writes the current state of sessions: as a table, or as JSON.
        func write(_ sessions: [Session], in history: any HistoryStore) async throws {
            var current: [(Session, String)] = []
            for session in sessions {
                guard let now = try await history.session(session.id) else { continue }
                current.append((now, try await shortId(of: now.id.sessionId, in: history)))
            }
            try await Output.open { [current] output in
                if json {
                    try await output.list(current, isFirst: true) { Array($0.0.listed.jsonString.utf8) }
                    return try await output.line(current.isEmpty ? "[]" : "\n]")
                }
                let table = SessionTable(style: output.style, columns: output.columns)
                for line in table.lines(current) { try await output.line(line) }
            }
        }

        /// Returns a session's short ID and its title.
        func name(of session: Session, in history: any HistoryStore) async throws -> String {
            let short = try await shortId(of: session.id.sessionId, in: history)
            return "\(short.oneLine)  \(session.displayTitle.oneLine.cut(to: 60))"
        }
    }
#endif
