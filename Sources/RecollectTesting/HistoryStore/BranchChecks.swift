import RecollectCore

/// Checks of branches: the messages replaced by an edit or a retry.
enum BranchChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "branches.containFollowingMessages", rule: 5,
            "A branch contains the messages of every agent from the given one on, in order; the session keeps the rest."
        ) { store in
            try await Self.fill(store)
            let all = try await store.everything(in: Self.id)
            let before = try await store.latestChangeCursor()
            let branch = try await store.branch(Self.id, from: "b0")
            try await expectStored(
                store.everything(in: Self.id), all[..<2].map { ($0.agentId, $0.message) }, "the session")
            try await expectStored(
                store.everything(in: branch), all[2...].map { ($0.agentId, $0.message) }, "the branch")
            try await expectIDs(
                store.window(of: Scope.plain.agent("a"), maxMessages: nil), ["a0", "a1"],
                "the window of the first agent")
            try await expectIDs(
                store.window(of: Scope.plain.agent("b"), maxMessages: nil), [], "the window of the second agent"
            )
            let (kept, left) = (try await store.summary(Self.id), try await store.summary(branch))
            try expectEqual([kept.messageCount, left.messageCount], [2, 4], "the message counts")
            try expectEqual(left.branchPoint, BranchPoint(sessionId: "session", messageId: "a1"), "the branch point")
            try expectEqual(kept.branchPoint, nil, "the branch point of the session")
            let changes = try await store.everyChange(after: before)
            try expect(
                changes.contains { $0.kind == .sessionRearranged && $0.session == Self.id },
                "only updates of the session in the feed", actual: "\(changes.map(\.kind.rawValue))")
            try await store.append(SampleData.dialogue(1, "new ", at: 100_000), to: Scope.plain.agent("b"))
            try await expectIDs(
                store.everything(in: Self.id).map(\.message), ["a0", "a1", "new 0"], "the messages after a new one")
        },
        HistoryStoreCheck(
            "branches.fromFirstMessage", "A branch from the first message leaves an empty session."
        ) { store in
            try await Self.fill(store)
            try await store.update(Self.id, with: SessionDetails(title: "t"))
            let branch = try await store.branch(Self.id, from: "a0")
            try await expectEqual(store.everything(in: Self.id), [], "the session's messages")
            try await expectEqual(store.summary(Self.id).title, "t", "the title of the session")
            try await expectEqual(
                store.summary(branch).branchPoint, BranchPoint(sessionId: "session", messageId: nil), "the branch point"
            )
            try await store.append(SampleData.dialogue(2, "new ", at: 100_000), to: .plain)
            try await store.restoreBranch(branch, in: Self.id)
            try await expectIDs(
                store.everything(in: Self.id).map(\.message), ["a0", "a1", "b0", "a2", "b1", "b2"],
                "the restored messages")
            try await expectEqual(
                store.branches(of: Self.id).map(\.messageCount), [2], "the message counts of the branches")
        },
        HistoryStoreCheck(
            "branches.restoreSwapsMessages",
            "Restoring a branch turns the messages added since then into a branch, so no message is lost."
        ) { store in
            try await Self.fill(store)
            let first = try await store.branch(Self.id, from: "b0")
            try await store.append(SampleData.dialogue(3, "new ", at: 100_000), to: Scope.plain.agent("a"))
            let old = ["a0", "a1", "b0", "a2", "b1", "b2"]
            let new = ["a0", "a1", "new 0", "new 1", "new 2"]
            var branch = first
            for (round, expected) in [old, new, old, new].enumerated() {
                try await store.restoreBranch(branch, in: Self.id)
                try await expectIDs(store.everything(in: Self.id).map(\.message), expected, "round \(round)")
                let branches = try await store.branches(of: Self.id)
                try expectEqual(
                    branches.map(\.messageCount), [expected == old ? 3 : 4],
                    "the message counts of the branches in round \(round)")
                try expectEqual(
                    branches.first?.branchPoint, BranchPoint(sessionId: "session", messageId: "a1"), "the branch point")
                try await expectEqual(store.summary(Self.id).messageCount, expected.count, "the message count")
                branch = branches.first?.id ?? first
            }
            try await store.append(SampleData.dialogue(1, "last ", at: 200_000), to: Scope.plain.agent("b"))
            try await expectIDs(
                store.everything(in: Self.id).map(\.message), new + ["last 0"], "the messages after another append")
        },
        HistoryStoreCheck(
            "branches.oldestFirst", "branches(of:) returns the branches of a session in order of creation."
        ) { store in
            try await Self.fill(store)
            var branches: [SessionKey] = []
            for (round, from) in ["b1", "a2", "new 1", "a1"].enumerated() {
                branches.append(try await store.branch(Self.id, from: from))
                try await expectEqual(
                    store.branches(of: Self.id).map(\.id), branches, "the branches after branching \(round + 1) times")
                try await store.append(SampleData.dialogue(1, "new ", from: round, at: 100_000), to: .plain)
            }
            try await expectEqual(store.branches(of: branches[0]), [], "the branches of a branch")
            try await expectEqual(
                store.branches(of: Scope.plain.session("b").session), [], "the branches of another session")
        },
        HistoryStoreCheck(
            "branches.rejectInvalidArguments",
            "Branching at an unknown message and restoring an invalid branch fail and change nothing."
        ) { store in
            try await Self.fill(store)
            try await store.append(SampleData.dialogue(2), to: Scope.plain.session("other"))
            let late = try await store.branch(Self.id, from: "b1")
            let early = try await store.branch(Self.id, from: "a1")
            let messages = try await store.everything(in: Self.id)
            for (what, work) in [
                ("a branch at an unknown message", { _ = try await store.branch(Self.id, from: "unknown") }),
                (
                    "a branch of an unknown session",
                    { _ = try await store.branch(Scope.plain.session("x").session, from: "a0") }
                ),
                (
                    "restoring a session that is not a branch",
                    { try await store.restoreBranch(Scope.plain.session("other").session, in: Self.id) }
                ),
                ("restoring the session itself", { try await store.restoreBranch(Self.id, in: Self.id) }),
                (
                    "restoring a branch of another session",
                    { try await store.restoreBranch(early, in: Scope.plain.session("other").session) }
                ),
                (
                    "restoring a branch with a missing branch point",
                    { try await store.restoreBranch(late, in: Self.id) }
                ),
            ] as [(String, () async throws -> Void)] {
                try await expectError(.notFound, what, work)
            }
            try await expectEqual(store.everything(in: Self.id), messages, "the messages")
            try await expectEqual(store.branches(of: Self.id).map(\.id), [late, early], "the branches")
        },
        HistoryStoreCheck(
            "branches.areSearchable", "Search includes the messages of branches, and lists omit branches."
        ) { store in
            try await Self.fill(store)
            let branch = try await store.branch(Self.id, from: "b1")
            let hits = try await store.everyHit(SearchQuery(userId: "user", text: "b2"))
            try expectEqual(hits.map(\.session), [branch], "the session of a hit in the branch")
            for order in SessionQuery.Order.allCases {
                let listed = try await store.list(SessionQuery(userId: "user", order: order)).map(\.id)
                try expectEqual(listed, [Self.id], "the list by \(order)")
            }
            for query in [
                SessionQuery(userId: "user", text: "b2"), SessionQuery(userId: "user", agentId: "b"),
                SessionQuery(userId: "user", isDiscarded: true),
            ] {
                let listed = try await store.list(query).map(\.id).filter { $0 != Self.id }
                try expectEqual(listed, [], "branches in a filtered list")
            }
            let byPrefix = try await store.sessions(of: "user", sessionIdPrefix: "", limit: 10)
            try expectEqual(byPrefix.map(\.id), [Self.id], "sessions by prefix")
        },
        HistoryStoreCheck(
            "branches.moveAndDeleteWithSession", "Branches move with their session and are deleted with it."
        ) { store in
            try await Self.fill(store)
            let branch = try await store.branch(Self.id, from: "a2")
            try await store.moveSession(Self.id, to: "new")
            let new = Scope.plain.session("new").session
            try await expectEqual(store.branches(of: new).map(\.id), [branch], "the branches under the new ID")
            try await expectEqual(
                store.summary(branch).branchPoint?.sessionId, "new", "the session of the branch point")
            try await store.restoreBranch(branch, in: new)
            try await expectEqual(store.summary(new).messageCount, 6, "the message count after restoring")
            let again = try await store.branch(new, from: "a2")
            try await store.deleteSession(new)
            try await expectEqual(store.session(again), nil, "the branch of a deleted session")
            try await expectEqual(store.found("b2"), [], "a search for a message of the deleted branch")
        },
    ]

    private static let id = Scope.plain.session

    /// Saves messages of two agents in turn: a0 a1 b0 a2 b1 b2.
    private static func fill(_ store: any HistoryStore) async throws {
        try await store.append(SampleData.dialogue(2, "a"), to: Scope.plain.agent("a"))
        try await store.append(SampleData.dialogue(1, "b", at: 2000), to: Scope.plain.agent("b"))
        try await store.append(SampleData.dialogue(1, "a", from: 2, at: 1000), to: Scope.plain.agent("a"))
        try await store.append(SampleData.dialogue(2, "b", from: 1, at: 3000), to: Scope.plain.agent("b"))
    }
}
