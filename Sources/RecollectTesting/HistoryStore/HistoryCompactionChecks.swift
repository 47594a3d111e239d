import RecollectCore

/// Checks of compactions in a history with edits, deletions, branches, forks and moves.
enum HistoryCompactionChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "compactions.endWithTheirMessages", rule: 2,
            "A deletion or an edit of a covered message removes the compactions covering it; marks of a message keep them."
        ) { store in
            let (messages, first, second) = try await fill(store)
            var pinned = messages[0]
            pinned.isPinned = true
            try await store.edit([pinned], in: Scope.plain.session)
            try await expectEqual(store.compactions(of: .plain), [first, second], "the compactions after a mark")
            try await store.deleteMessages(["m7"], in: Scope.plain.session)
            try await expectEqual(
                store.compactions(of: .plain), [first, second], "the compactions after deleting another message")
            try await store.deleteMessages(["m3"], in: Scope.plain.session)
            try await expectEqual(store.compactions(of: .plain), [first], "the compactions after a deletion")
            try await store.edit([SampleData.message(.assistant, "m1", "edited")], in: Scope.plain.session)
            try await expectEqual(store.compactions(of: .plain), [], "the compactions after an edit")
        },
        HistoryStoreCheck(
            "compactions.followBranches", rule: 2,
            "A branch from a covered message takes the compaction with it, and restoring the branch brings it back."
        ) { store in
            let (_, first, second) = try await fill(store)
            let branch = try await store.branch(Scope.plain.session, from: "m4")
            try await expectEqual(store.compactions(of: .plain), [first], "the compactions after a branch")
            try await expectIDs(store.compactedMessages(of: .plain).messages, ["m2", "m3"], "the messages not covered")
            try await store.restoreBranch(branch, in: Scope.plain.session)
            try await expectEqual(store.compactions(of: .plain), [first, second], "the compactions after a restore")
            try await expectIDs(
                store.compactedMessages(of: .plain).messages, ["m6", "m7"], "the messages not covered again")
            let again = try await store.branch(Scope.plain.session, from: "m4")
            try await store.deleteMessages(["m0"], in: Scope.plain.session)
            try await store.restoreBranch(again, in: Scope.plain.session)
            try await expectEqual(
                store.compactions(of: .plain), [], "the compactions after deleting a message covered by one in a branch"
            )
        },
        HistoryStoreCheck(
            "compactions.areForked", rule: 2,
            "A fork has the compactions whose messages it has, independent of the others."
        ) { store in
            let (_, first, second) = try await fill(store)
            let copy = Scope.plain.session("copy")
            try await store.fork(Scope.plain.session, at: "m3", into: "copy")
            try await expectEqual(store.compactions(of: copy), [first], "the compactions of the fork")
            try await expectIDs(
                store.compactedMessages(of: copy).messages, ["m2", "m3"], "the messages not covered in the fork")
            try await store.deleteMessages(["m0"], in: copy.session)
            try await expectEqual(store.compactions(of: copy), [], "the compactions of the fork after a deletion")
            try await expectEqual(store.compactions(of: .plain), [first, second], "the compactions of the session")
        },
        HistoryStoreCheck(
            "compactions.moveWithSession", rule: 2,
            "A moved session keeps its compactions; merged sessions lose those of agents with messages in both."
        ) { store in
            let (messages, first, second) = try await fill(store)
            let (moved, other) = (Scope.plain.session("moved"), Scope.plain.agent("other").session("target"))
            try await store.moveSession(Scope.plain.session, to: "moved")
            try await expectEqual(
                store.compactions(of: moved), [first, second], "the compactions of the moved session")
            try await store.append(SampleData.dialogue(2, "o"), to: other)
            try await store.moveSession(moved.session, to: "target")
            try await expectEqual(
                store.compactions(of: other.agent("agent")), [first, second],
                "the compactions after another agent's merge")
            try await store.append(SampleData.dialogue(2, "n"), to: moved)
            try await store.moveSession(moved.session, to: "target")
            try await expectEqual(store.compactions(of: other.agent("agent")), [], "the compactions after a merge")
            try await expectIDs(
                store.compactedMessages(of: other.agent("agent")).messages, ["n0", "n1"] + messages.map(\.id),
                "the messages after a merge")
        },
        HistoryStoreCheck(
            "compactions.appearInFeed", "The feed reports a saved and a removed compaction of a session."
        ) { store in
            let (_, _, second) = try await fill(store)
            try await expectEqual(compactionCount(in: store, after: .beginning), 1, "the changes by compactions")
            let saved = try await store.latestChangeCursor()
            try await store.removeCompaction("unknown", of: .plain)
            try await expectEqual(compactionCount(in: store, after: saved), 0, "the changes by an unknown ID")
            try await store.removeCompaction(second.id, of: .plain)
            try await expectEqual(compactionCount(in: store, after: saved), 1, "the changes by a removal")
        },
        HistoryStoreCheck(
            "compactions.oneOfSimultaneous", rule: 6,
            "Of simultaneous compactions of the same messages, one is saved, and the others throw conflict."
        ) { store in
            let messages = SampleData.dialogue(8)
            try await store.append(messages, to: .plain)
            let saved = try await withThrowingTaskGroup(of: Compaction?.self) { group in
                for number in 0..<10 {
                    group.addTask {
                        do {
                            return try await store.compact(
                                Array(messages[..<4]), of: .plain, into: "summary \(number)", by: "w", after: nil)
                        } catch let error as RecollectError where error.code == .conflict {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [Compaction]()) { if let one = $1 { $0.append(one) } }
            }
            try expectEqual(saved.count, 1, "the number of saved compactions")
            try await expectEqual(store.compactions(of: .plain), saved, "the compactions")
        },
    ]

    private static func compactionCount(in store: any HistoryStore, after cursor: ChangeCursor) async throws -> Int {
        try await store.everyChange(after: cursor).count {
            $0.kind == .sessionCompacted && $0.session == Scope.plain.session
        }
    }

    /// Appends eight messages, with two compactions: of the first two and of the first six.
    private static func fill(
        _ store: any HistoryStore
    ) async throws -> ([ConversationMessage], Compaction, Compaction) {
        let messages = SampleData.dialogue(8)
        try await store.append(messages, to: .plain)
        let first = try await store.compact(Array(messages[..<2]), of: .plain, into: "one", by: "w", after: nil)
        let second = try await store.compact(
            Array(messages[2..<6]), of: .plain, into: "two", by: "w", after: first.id)
        return (messages, first, second)
    }
}
