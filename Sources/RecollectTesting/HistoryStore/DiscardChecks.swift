import RecollectCore

/// Checks of discarding and restoring.
enum DiscardChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "discarding.hidesSession",
            "A discarded session and its branches appear in no search, and only in lists of discarded sessions.",
            needs: .retainsTrimmedMessages
        ) { store in
            try await Self.fill(store)
            _ = try await store.branch(Self.id, from: "m3")
            try await expectEqual(store.discardSession(Self.id), true, "the result of discardSession")
            try await expectEqual(store.listedSessions(), ["other"], "the list")
            try await expectEqual(
                store.listedSessions(isDiscarded: true), ["session"], "the list of discarded sessions")
            try await expectEqual(store.found("m1"), [], "a search for a message of the session")
            try await expectEqual(store.found("m3"), [], "a search for a message of the branch")
            let found = try await store.list(SessionQuery(userId: "user", text: "m1"))
            try expectEqual(found, [], "a list filtered by its text")
            let byPrefix = try await store.sessions(of: "user", sessionIdPrefix: "", limit: 10)
            try expectEqual(byPrefix.map(\.id.sessionId), ["other"], "sessions by prefix")
            let summary = try await store.summary(Self.id)
            try expect(summary.discardedAt != nil, "a date in discardedAt", actual: "nil")
            try await expectEqual(
                store.discardSession(Scope.plain.session("unknown").session), false,
                "the result of discardSession for an unknown session")
        },
        HistoryStoreCheck(
            "discarding.canBeUndone",
            "A restored session is unchanged in lists and searches, and the feed reports both changes.",
            needs: .retainsTrimmedMessages
        ) { store in
            try await Self.fill(store)
            let (messages, summary) = (try await store.everything(in: Self.id), try await store.summary(Self.id))
            try await expectEqual(
                store.restoreSession(Self.id), false, "the result of restoreSession before discarding")
            let before = try await store.latestChangeCursor()
            try await store.discardSession(Self.id)
            try await expectEqual(store.restoreSession(Self.id), true, "the result of restoreSession")
            try await expectEqual(store.restoreSession(Self.id), false, "the result of a second restoreSession")
            let changes = try await store.everyChange(after: before)
            try expect(
                !changes.isEmpty && changes.allSatisfy { $0.kind == .sessionUpdated && $0.session == Self.id },
                "only updates of the session in the feed", actual: "\(changes.map(\.kind.rawValue))")
            try await expectEqual(store.everything(in: Self.id), messages, "the messages")
            try await expectEqual(store.summary(Self.id), summary, "the summary")
            try await expectEqual(store.listedSessions(), ["other", "session"], "the list")
            try await expectEqual(store.found("m1"), ["m1"], "a search for a message of the session")
            try await expectEqual(store.listedSessions(isDiscarded: true), [], "the list of discarded sessions")
        },
        HistoryStoreCheck(
            "discarding.appendRestoresSession",
            "Appending a new message to a discarded session restores it with all its content; a known message does not.",
            needs: .retainsTrimmedMessages
        ) { store in
            try await Self.fill(store)
            try await store.discardSession(Self.id)
            try await store.append(SampleData.dialogue(4), to: .plain)
            try await expectEqual(store.listedSessions(), ["other"], "the list after a repeated append")
            try await store.append(SampleData.dialogue(1, "new "), to: .plain)
            try await expectIDs(
                store.everything(in: Self.id).map(\.message), ["m0", "m1", "m2", "m3", "new 0"], "the messages")
            try await expectEqual(store.summary(Self.id).discardedAt, nil, "discardedAt")
            try await expectEqual(store.listedSessions(), ["other", "session"], "the list")
            try await expectEqual(store.found("m1"), ["m1"], "a search for a message of the session")
        },
    ]

    private static let id = Scope.plain.session

    private static func fill(_ store: any HistoryStore) async throws {
        try await store.append(SampleData.dialogue(4), to: .plain)
        try await store.append(SampleData.dialogue(1, "o"), to: Scope.plain.session("other"))
        try await store.update(id, with: SessionDetails(title: "t", isPinned: true, addedTags: ["tag"]))
    }
}
