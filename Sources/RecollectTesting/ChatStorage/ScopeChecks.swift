import RecollectCore

/// Checks of rule 1: a scope is three IDs, compared as bytes, and no two scopes share messages.
enum ScopeChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "scope.unknownIsEmpty", rule: 1,
            "An unknown scope is empty, and reading it creates nothing."
        ) { store in
            try await expectMessages(store.messages(in: .plain), [], "an unknown scope")
            try await expectMessages(store.merged(Scope.plain.session), [], "an unknown session")
            try await store.add(SampleData.dialogue(2), to: .plain)
            try await expectMessages(store.messages(in: Scope.plain.agent("other")), [], "another agent's scope")
            try await expectMessages(store.merged(Scope.plain.session("other").session), [], "another session")
        },
        ChatStorageCheck(
            "scope.joinedIDsDoNotCollide", rule: 1,
            "IDs that are equal only when joined (\"a.b\" and \"c\", \"a\" and \"b.c\") are different scopes."
        ) { store in
            for (number, separator) in EdgeCaseIDs.separators.enumerated() where !separator.contains("\u{0}") {
                try await expectApart(joined(by: separator, number: number), in: store)
            }
        },
        ChatStorageCheck(
            "scope.mergedViewExcludesOtherSessions", rule: 1,
            "fetchAllChats returns only the given session, even if other IDs share a prefix or are equal when joined."
        ) { store in
            for (number, separator) in EdgeCaseIDs.separators.enumerated() where !separator.contains("\u{0}") {
                let scopes = joined(by: separator, number: number)
                for (index, scope) in scopes.enumerated() {
                    try await store.add(SampleData.message(.user, "\(number)-\(index)"), to: scope)
                }
                for (index, scope) in scopes.enumerated() {
                    let merged = try await store.merged(scope.session)
                    try expectIDs(merged, ["\(number)-\(index)"], "fetchAllChats of \(scope.shown)")
                }
            }
        },
        ChatStorageCheck(
            "scope.anyStringIsValidID", rule: 1,
            "Any string is a valid user, session or agent ID: empty, dots, slashes, quotes, percent signs, emoji."
        ) { store in
            let ids = EdgeCaseIDs.all.filter { !$0.contains("\u{0}") }
            let alone = ids.flatMap { [Scope.plain.user($0), Scope.plain.session($0), Scope.plain.agent($0)] }
            let together = ids.prefix(12).map { Scope(userId: $0, sessionId: $0, agentId: $0) }
            try await expectApart(alone + together, in: store)
        },
        ChatStorageCheck(
            "scope.keepsNULInIDs", rule: 1,
            "U+0000 in an ID is preserved; it neither terminates the ID nor joins it with another.", needs: .keepsNUL
        ) { store in
            let ids = ["a", "a\u{0}", "a\u{0}b", "\u{0}a", "\u{0}"]
            try await expectApart(
                ids.flatMap { [Scope.plain.user($0), Scope.plain.session($0), Scope.plain.agent($0)] }
                    + joined(by: "\u{0}", number: 0), in: store)
        },
        ChatStorageCheck(
            "scope.caseMatters", rule: 1, "IDs differing only in case are different: \"Bob\" is not \"bob\"."
        ) { store in
            try await expectApart(variants("Bob", "bob", "BOB"), in: store)
        },
        ChatStorageCheck(
            "scope.normalizationMatters", rule: 1,
            "IDs differing only in Unicode normalization (é as one code point or two) are different."
        ) { store in
            try await expectApart(variants("caf\u{E9}", "cafe\u{301}", "\u{AC00}", "\u{1100}\u{1161}"), in: store)
        },
        ChatStorageCheck(
            "scope.veryLongIDs", rule: 1, "IDs of thousands of bytes are valid and compared up to their last byte.",
            needs: .keepsLongIDs
        ) { store in
            let long = String(repeating: "long/ID.%é", count: 500)
            try await expectApart(variants(long + "1", long + "2", long), in: store)
        },
        ChatStorageCheck(
            "scope.usersAreIsolated", rule: 1,
            "Users with equal session, agent and message IDs never read, trim or change each other's messages."
        ) { store in
            let (alice, bob) = (Scope.plain.user("alice"), Scope.plain.user("bob"))
            let hers = SampleData.dialogue(6)
            let his = hers.map { $0.mappingText { "bob's " + $0 } }
            try await store.add(hers, to: alice)
            try await store.add(his[0], to: bob)
            try await store.add(Array(his.dropFirst()), to: bob)
            try await expectMessages(store.messages(in: alice), hers, "fetch of alice")
            try await expectMessages(store.messages(in: bob), his, "fetch of bob")
            try await expectMerged(store, alice, hers)
            try await expectMerged(store, bob, his)
            try await store.add(SampleData.dialogue(2, from: 6), to: bob, keeping: 2)
            try await expectMessages(store.messages(in: alice), hers, "fetch of alice after bob's trim")
            try await expectMessages(store.messages(in: alice, last: 4), hers.suffix(4), "alice's last 4")
        },
        ChatStorageCheck(
            "scope.sessionsAndAgentsAreIsolated", rule: 1,
            "Each session of a user and each agent of a session has its own messages."
        ) { store in
            try await expectApart(
                [
                    .plain, Scope.plain.session("session 2"), Scope.plain.agent("agent 2"),
                    Scope.plain.agent("agent")
                        .session("session2"), Scope.plain.agent("session").session("agent"),
                ], in: store)
        },
    ]

    /// Returns scopes with different IDs, but the same joined string. `number` separates the scopes of different
    /// separators.
    private static func joined(by separator: String, number: Int) -> [Scope] {
        let user = "u\(number)"
        return [
            Scope(userId: "\(user)\(separator)b", sessionId: "c", agentId: "d"),
            Scope(userId: user, sessionId: "b\(separator)c", agentId: "d"),
            Scope(userId: user, sessionId: "b", agentId: "c\(separator)d"),
        ]
    }

    /// Returns scopes with each ID as user, as session, as agent, and as all three.
    private static func variants(_ ids: String...) -> [Scope] {
        ids.flatMap { [Scope.plain.user($0), Scope.plain.session($0), Scope.plain.agent($0)] }
            + ids.map { Scope(userId: $0, sessionId: $0, agentId: $0) }
    }

    /// Saves two messages to each scope, twice, and expects each scope to have its own four.
    private static func expectApart(_ scopes: some Sequence<Scope>, in store: some ChatStorage) async throws {
        // The list may contain duplicates.
        var seen: Set<Scope> = []
        let scopes = scopes.filter { seen.insert($0).inserted }
        for round in 0..<2 {
            for (number, scope) in scopes.enumerated() {
                let ids = "\(number)."
                try await store.add(SampleData.dialogue(2, ids, from: round * 2), to: scope)
            }
        }
        for (number, scope) in scopes.enumerated() {
            let expected = SampleData.dialogue(4, "\(number).")
            try await expectMessages(store.messages(in: scope), expected, "fetch of \(scope.shown)")
        }
    }

    private static func expectMerged(
        _ store: some ChatStorage, _ scope: Scope, _ messages: [ConversationMessage]
    ) async throws {
        let expected = messages.map { $0.attributed(agentId: scope.agentId) }
        try await expectMessages(store.merged(scope.session), expected, "fetchAllChats of \(scope.userId)")
    }
}
