import RecollectCore

/// Checks of rule 1 for a session library: no user reads, counts or deletes another user's messages.
enum TenantChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "tenants.usersAreIsolated", rule: 1,
            "Two users with the same session, agent and message IDs share no data in any method."
        ) { store in
            for (alice, bob) in [
                ("alice", "bob"), ("Bob", "bob"), ("caf\u{E9}", "cafe\u{301}"), ("", " "), ("a%", "ab"),
            ] {
                try await expectApart(alice, bob, in: store)
            }
        },
        HistoryStoreCheck(
            "tenants.anyStringIsValidSessionID", rule: 1,
            "Any string is a valid session ID, separate from others in pages, summaries and search."
        ) { store in
            let ids = EdgeCaseIDs.all.filter { !$0.contains("\u{0}") }
            for (number, id) in ids.enumerated() {
                try await store.append(
                    SampleData.dialogue(2, "\(number)."), to: Scope(userId: "user", sessionId: id, agentId: id))
            }
            try await expectEqual(
                store.everySession(of: "user", limit: 7).count, ids.count, "the number of sessions")
            for (number, id) in ids.enumerated() {
                let session = SessionKey(userId: "user", sessionId: id)
                let messages = try await store.everything(in: session, agentId: id).map(\.message)
                try expectMessages(
                    messages, SampleData.dialogue(2, "\(number)."), "pages of session \(id.debugDescription)")
                let hits = try await store.search(SearchQuery(userId: "user", text: "text", sessionId: id, agentId: id))
                try expectEqual(hits.elements.count, 2, "the number of hits in session \(id.debugDescription)")
            }
        },
    ]

    private static func expectApart(_ alice: String, _ bob: String, in store: any HistoryStore) async throws {
        let hers = Scope.plain.user(alice)
        let his = Scope.plain.user(bob)
        let what = "user \(alice.debugDescription) next to user \(bob.debugDescription)"
        try await store.deleteUser(alice)
        try await store.deleteUser(bob)
        try await store.append(SampleData.dialogue(3, "m"), to: hers)
        let messages = SampleData.dialogue(2, "m").map { $0.mappingText { "his " + $0 } }
        try await store.append(messages, to: his)
        try await store.update(his.session, with: SessionDetails(title: "his"))

        try await expectEqual(store.session(hers.session)?.title, nil, "\(what): title")
        try await expectEqual(store.session(hers.session)?.messageCount, 3, "\(what): count")
        try await expectEqual(store.everySession(of: alice).map(\.id), [hers.session], "\(what): list")
        try await expectEqual(
            store.sessions(of: alice, sessionIdPrefix: "", limit: 9).map(\.id), [hers.session],
            "\(what): by prefix")
        try await expectMessages(store.everything(in: his.session).map(\.message), messages, "\(what): pages")
        try await expectEqual(store.message("m0", in: his.session)?.message, messages[0], "\(what): lookup")
        try await expectEqual(store.found("his", of: alice), [], "\(what): search")
        try await expectEqual(store.found("his", of: bob), ["m0", "m1"], "\(what): search")
        try await store.fork(his.session, at: "m0", into: "fork")
        try await expectEqual(store.session(hers.session("fork").session), nil, "\(what): fork")

        try await store.deleteMessages(["m0"], in: his.session)
        try await store.deleteSession(his.session)
        try await store.deleteUser(bob)
        try await expectMessages(
            store.everything(in: hers.session).map(\.message), SampleData.dialogue(3, "m"), "\(what): after deletion"
        )
        try await expectEqual(store.found("text", of: alice), ["m0", "m1", "m2"], "\(what): search after deletion")
    }
}
