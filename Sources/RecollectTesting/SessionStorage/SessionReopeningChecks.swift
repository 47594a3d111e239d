import RecollectCore

/// Checks of rule 7: saved sessions are there after the same location is opened again.
enum SessionReopeningChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "reopened.keepsEverything", rule: 7,
            "After reopening a location, every session is unchanged, in the same list order.",
            needs: .persistent,
            trial: { trial in
                let before = try await using(trial) { store in
                    for (number, id) in EdgeCaseIDs.all.filter({ !$0.contains("\u{0}") }).enumerated() {
                        try await store.saveSession(id: id, firstMessage: "first \(number)")
                        try await store.updateSessionMessages(id: id, messages: messages(number))
                    }
                    waitForNextMillisecond()
                    try await store.updateLastAccessed(id: "a.b")
                    return try await sessions(in: store)
                }
                let after = try await using(trial) { try await sessions(in: $0) }
                try expectEqual(after.map(\.id), before.map(\.id), "the list after reopening")
                for (came, expected) in zip(after, before) {
                    try expectEqual(came, expected, "session \(expected.id.debugDescription) after reopening")
                    try expectTranscript(
                        came.messages, expected.messages,
                        "the transcript of session \(expected.id.debugDescription) after reopening")
                }
            }),
        SessionStorageCheck(
            "reopened.continuesAfterReopening", rule: 7,
            "After reopening a location, transcripts can be read, edited, extended, shortened and renamed.",
            needs: .persistent,
            trial: { trial in
                try await using(trial) { try await $0.fill("s", SampleData.transcript(5)) }
                let expected = try await using(trial) { store in
                    var messages = try await store.transcript(of: "s")
                    messages[1].content = "edited"
                    messages.remove(at: 3)
                    messages.append(SampleData.entry("new"))
                    try await store.updateSessionMessages(id: "s", messages: messages)
                    try await store.saveSession(id: "s", firstMessage: "again")
                    try await store.updateSessionId(oldId: "s", newId: "t")
                    return messages
                }
                try await using(trial) { store in
                    let session = try await store.session("t")
                    try expectTranscript(session.messages, expected, "the transcript after reopening twice")
                    try expectEqual(session.firstUserMessage, "first of s", "the first message")
                    try await expectEqual(store.listedIDs(), ["t"], "the list")
                }
            }),
        SessionStorageCheck(
            "reopened.keepsDeletions", rule: 7,
            "After reopening a location, deleted sessions and removed messages stay deleted.",
            needs: .persistent,
            trial: { trial in
                try await using(trial) { store in
                    for id in ["a", "b"] { try await store.fill(id, SampleData.transcript(4)) }
                    try await store.deleteSession(id: "a")
                    try await store.updateSessionMessages(id: "b", messages: SampleData.transcript(2))
                }
                try await using(trial) { store in
                    try await expectEqual(store.listedIDs(), ["b"], "the list after reopening")
                    try await expectTranscript(
                        store.transcript(of: "b"), SampleData.transcript(2), "the shorter transcript")
                    try await store.saveSession(id: "a", firstMessage: "afresh")
                    try await expectTranscript(store.transcript(of: "a"), [], "a new session with the deleted ID")
                    try await store.deleteAllSessions()
                }
                try await using(trial) {
                    try await expectEqual($0.listedIDs(), [], "the list after the deletion of all sessions")
                }
            }),
        SessionStorageCheck(
            "reopened.savedBeforeReturning", rule: 7,
            "A second instance at the same location reads a save as soon as it has returned.",
            needs: [.durable, .sharesLocation],
            trial: { trial in
                let (writer, reader) = (try await trial.open(), try await trial.open())
                try await writer.saveSession(id: "s", firstMessage: "hello")
                for count in 1...6 {
                    try await writer.updateSessionMessages(id: "s", messages: SampleData.transcript(count))
                    try await expectTranscript(
                        reader.transcript(of: "s"), SampleData.transcript(count),
                        "the transcript in the second instance")
                }
                try await writer.updateSessionId(oldId: "s", newId: "t")
                try await expectEqual(reader.listedIDs(), ["t"], "the list in the second instance after a rename")
                try await writer.deleteSession(id: "t")
                try await expectEqual(reader.getSession(id: "t"), nil, "the deleted session in the second instance")
            }),
        SessionStorageCheck(
            "reopened.instancesShareLocation", rule: 6,
            "Two instances saving different sessions concurrently to one location lose nothing.",
            needs: [.persistent, .sharesLocation, .concurrent],
            trial: { trial in
                let stores = [try await trial.open(), try await trial.open()]
                try await together(16) { task in
                    for count in 1...3 {
                        try await stores[task % 2].fill("s\(task)", SampleData.transcript(count, "\(task)."))
                    }
                }
                for store in stores + [try await trial.open()] {
                    try await expectEqual(
                        store.listedIDs().sorted(), (0..<16).map { "s\($0)" }.sorted(), "the list, sorted")
                    for task in 0..<16 {
                        try await expectTranscript(
                            store.transcript(of: "s\(task)"), SampleData.transcript(3, "\(task)."), "session \(task)")
                    }
                }
            }),
    ]

    /// Opens the location, calls `work` with the storage, and releases the storage.
    @discardableResult
    private static func using<Value>(
        _ trial: Trial<any SessionStorageProtocol & Sendable>,
        _ work: (any SessionStorageProtocol & Sendable) async throws -> Value
    ) async throws -> Value {
        try await work(try await trial.open())
    }

    /// Returns all sessions with their messages, in the order of the list.
    private static func sessions(in store: any SessionStorageProtocol & Sendable) async throws -> [StoredSession] {
        var sessions: [StoredSession] = []
        for id in try await store.listedIDs() { sessions.append(try await store.session(id)) }
        return sessions
    }

    /// Returns a tool call between text messages, with fields often lost by storages.
    private static func messages(_ number: Int) -> [ChatMessage] {
        var call = SampleData.entry("\(number).call", .toolUse, "", at: 1)
        (call.messageType, call.toolName, call.wasCancelled) = (.toolUse, "read", true)
        call.toolInputData = ToolInputData(parameters: ["path": "e\u{301}"])
        call.metadata = ["usage": ["input_tokens": 12]]
        return [SampleData.entry("\(number).question"), call, SampleData.entry("\(number).answer", .assistant, at: 2)]
    }
}
