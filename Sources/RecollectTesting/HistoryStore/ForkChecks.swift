import RecollectCore

/// Checks of forks.
enum ForkChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "fork.copiesUpToMessage", rule: 5,
            "A fork has the messages of every agent up to and including the given one, in order."
        ) { store in
            try await Self.fill(store)
            try await store.fork(Scope.plain.session, at: "b1", into: "fork")
            let copied = try await store.everything(in: Self.fork.session)
            let source = try await store.everything(in: Scope.plain.session)
            try expectStored(copied, source.prefix(6).map { ($0.agentId, $0.message) }, "the messages of the fork")
            try await expectEqual(store.session(Self.fork.session)?.messageCount, 6, "the message count of the fork")
            try await expectMessages(
                store.window(of: Self.fork.agent("b"), maxMessages: nil),
                SampleData.dialogue(1, "b", at: 2000) + SampleData.dialogue(1, "b", from: 1, at: 4000),
                "the window of an agent")
        },
        HistoryStoreCheck(
            "fork.isIndependent",
            "Changes to a fork do not affect its source, and changes to the source do not affect the fork."
        ) { store in
            try await Self.fill(store)
            let source = try await store.everything(in: Scope.plain.session)
            try await store.fork(Scope.plain.session, at: "b1", into: "fork")
            try await store.append(SampleData.dialogue(2, "new ", at: 100_000), to: Self.fork.agent("a"))
            try await store.deleteMessages(["a0"], in: Self.fork.session)
            try await expectEqual(
                store.everything(in: Scope.plain.session), source,
                "the messages of the source after changes to the fork")
            try await store.deleteSession(Scope.plain.session)
            try await expectIDs(
                store.everything(in: Self.fork.session).map(\.message),
                ["a1", "b0", "a2", "a3", "b1", "new 0", "new 1"],
                "the messages of the fork after the deletion of its source")
        },
        HistoryStoreCheck(
            "fork.rejectsInvalidArguments",
            "A fork at an unknown message or into a session with messages fails and changes nothing."
        ) { store in
            try await Self.fill(store)
            try await store.append(SampleData.dialogue(2, "x"), to: Self.fork)
            try await expectError(.notFound, "a fork at an unknown message") {
                try await store.fork(Scope.plain.session, at: "unknown", into: "new")
            }
            try await expectError(.invalidArgument, "a fork into a session with messages") {
                try await store.fork(Scope.plain.session, at: "b1", into: "fork")
            }
            try await expectIDs(
                store.everything(in: Self.fork.session).map(\.message), ["x0", "x1"],
                "the messages of the other session")
            try await expectEqual(
                store.session(Scope.plain.session("new").session), nil, "the session of a rejected fork")
        },
        HistoryStoreCheck(
            "fork.appearsOnceInSearch", "Search returns a message copied by a fork only once."
        ) { store in
            try await Self.fill(store)
            try await store.fork(Scope.plain.session, at: "b1", into: "fork")
            try await expectEqual(store.found("b1"), ["b1"], "a search for a copied message")
        },
    ]

    private static let fork = Scope.plain.session("fork")

    /// Saves messages of two agents in turn: a0 a1 b0 …
    private static func fill(_ store: any HistoryStore) async throws {
        try await store.append(SampleData.dialogue(2, "a"), to: Scope.plain.agent("a"))
        try await store.append(SampleData.dialogue(1, "b", at: 2000), to: Scope.plain.agent("b"))
        try await store.append(SampleData.dialogue(2, "a", from: 2, at: 1000), to: Scope.plain.agent("a"))
        try await store.append(SampleData.dialogue(3, "b", from: 1, at: 4000), to: Scope.plain.agent("b"))
        try await store.append(SampleData.dialogue(2, "a", from: 4, at: 4000), to: Scope.plain.agent("a"))
    }
}
