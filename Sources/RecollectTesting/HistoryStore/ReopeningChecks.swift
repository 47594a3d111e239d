import RecollectCore

/// Checks of rule 7 for all content of a session library.
enum ReopeningChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "reopening.keepsLibrary", rule: 7,
            "After reopening, pages, summaries, cursors, deletions and search are unchanged.",
            needs: .persistent,
            trial: { trial in
                let session = Scope.plain.session
                let (pages, summary) = try await Self.saving(trial) { store in
                    try await store.append(SampleData.dialogue(5), to: .plain)
                    try await store.append(SampleData.dialogue(2, "b"), to: Scope.plain.agent("b"))
                    try await store.update(session, with: SessionDetails(title: "t", metadata: ["k": 1]))
                    try await store.deleteMessages(["m1"], in: session)
                    return (try await store.everything(in: session), try await store.session(session))
                }
                let store = try await trial.open()
                try await expectEqual(store.everything(in: session, limit: 2), pages, "the messages of all pages")
                try await expectEqual(store.session(session), summary, "the summary")
                try await expectEqual(store.found("m3"), ["m3"], "a search")
                try await expectEqual(store.found("m1"), [], "a search for a deleted message")
                let rest = try await store.messages(
                    of: session, agentId: nil, page: PageRequest(limit: 100, after: pages[1].cursor))
                try expectEqual(rest.elements, Array(pages[2...]), "the page after a cursor obtained before reopening")
            }),
        HistoryStoreCheck(
            "reopening.keepsChangeFeed", rule: 7,
            "After reopening, a cursor of the change feed stays valid: no change is repeated or missed.",
            needs: .persistent,
            trial: { trial in
                let seen = try await Self.saving(trial) { store in
                    try await store.append(SampleData.dialogue(3), to: .plain)
                    let seen = try await store.latestChangeCursor()
                    try await store.append(SampleData.dialogue(1, from: 3), to: .plain)
                    try await store.deleteMessages(["m0"], in: Scope.plain.session)
                    return seen
                }
                // The highest numbers are deleted with their changes. They must not be used again.
                let last = try await Self.saving(trial) { store in
                    try await store.deleteMessages(["m3"], in: Scope.plain.session)
                    return try await store.latestChangeCursor()
                }
                let store = try await trial.open()
                try await store.append(SampleData.dialogue(1, "new "), to: .plain)
                let after = try await store.everyChange(after: last).map(\.messageId)
                try expectEqual(after, ["new 0"], "changes after the last cursor")
                let changes = try await store.everyChange(after: seen)
                try expectEqual(
                    changes.map { "\($0.kind.rawValue) \($0.messageId ?? "")" },
                    ["messageDeleted m0", "messageDeleted m3", "messageAdded new 0"], "changes after an earlier cursor")
            }),
    ]

    /// Opens the location, calls `work` to write, and releases the store.
    private static func saving<Result: Sendable>(
        _ trial: Trial<any HistoryStore>, _ work: (any HistoryStore) async throws -> Result
    ) async throws -> Result {
        try await work(try await trial.open())
    }
}
