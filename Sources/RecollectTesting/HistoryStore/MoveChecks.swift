import Foundation
import RecollectCore

/// Checks of moving a session to another session ID.
enum MoveChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "moves.keepAllContent",
            "A moved session keeps messages, agents, details, attachments and search results under its new ID."
        ) { store in
            let bytes = Data("attached".utf8)
            try await store.append(SampleData.dialogue(3, "a"), to: Scope.plain.agent("a"))
            try await store.append(
                [
                    ConversationMessage(
                        id: "file", role: .user,
                        parts: [.attachment(Attachment(mediaType: "text/plain", content: .inline(bytes)))])
                ], to: Scope.plain.agent("b"))
            try await store.update(
                Scope.plain.session,
                with: SessionDetails(
                    title: "One", workingDirectory: "/w", metadata: ["k": 1], isPinned: true, addedTags: ["t"]))
            let (messages, summary) = (
                try await store.everything(in: Scope.plain.session),
                try await store.summary(Scope.plain.session)
            )
            let before = try await store.latestChangeCursor()
            try await expectEqual(store.moveSession(Scope.plain.session, to: "new"), true, "the result of moveSession")
            let changes = try await store.everyChange(after: before)
            try expect(
                changes.contains { $0.kind == .sessionDeleted && $0.session == Scope.plain.session }
                    && changes.contains { $0.kind == .sessionRearranged && $0.session == Self.new.session },
                "changes of both session IDs in the feed",
                actual: "\(changes.map { "\($0.kind.rawValue) \($0.session.sessionId)" })")
            let came = try await store.everything(in: Self.new.session)
            try expectStored(came, messages.map { ($0.agentId, $0.message) }, "the moved messages")
            var expected = summary
            expected.id = Self.new.session
            try await expectEqual(store.summary(Self.new.session), expected, "the summary")
            try await expectEqual(store.session(Scope.plain.session), nil, "the session under the old ID")
            try await expectEqual(store.everything(in: Scope.plain.session), [], "the messages under the old ID")
            try await expectEqual(store.listedSessions(), ["new"], "the list")
            try await expectEqual(
                store.attachment(sha256: Attachment.sha256(of: bytes), userId: "user"), bytes, "the attachment")
            let hits = try await store.everyHit(SearchQuery(userId: "user", text: "a1"))
            try expectEqual(hits.map(\.session), [Self.new.session], "the session of the hits")
            try await expectEqual(
                store.append(SampleData.dialogue(3, "a"), to: Self.new.agent("a")), AppendOutcome(alreadyStored: 3),
                "the outcome of a retry")
        },
        HistoryStoreCheck(
            "moves.unknownIDChangesNothing", rule: 4, "A move from an unknown ID or to the same ID changes nothing."
        ) { store in
            try await store.append(SampleData.dialogue(3), to: .plain)
            let (messages, before) = (
                try await store.everything(in: Scope.plain.session), try await store.latestChangeCursor()
            )
            for (old, new) in [("unknown", "session"), ("unknown", "new"), ("session", "session")] {
                let moved = try await store.moveSession(Scope.plain.session(old).session, to: new)
                try expectEqual(moved, false, "the result of moving \(old) to \(new)")
            }
            try await expectEqual(store.everything(in: Scope.plain.session), messages, "the messages")
            try await expectEqual(store.listedSessions(), ["session"], "the list")
            try await expectEqual(store.latestChangeCursor(), before, "the latest change")
        },
        HistoryStoreCheck(
            "moves.merge", rule: 5,
            "A move to an existing ID merges both sessions: the old session's messages first, each ID once."
        ) { store in
            let all = SampleData.dialogue(8)
            try await store.append(Array(all[0..<5]), to: .plain)
            try await store.append(SampleData.dialogue(2, "old ", at: 4500), to: Scope.plain.agent("other"))
            try await store.append(Array(all[3..<8]), to: Self.new)
            try await store.moveSession(Scope.plain.session, to: "new")
            let expected = ["m0", "m1", "m2", "m3", "m4", "old 0", "old 1", "m5", "m6", "m7"]
            try await expectIDs(
                store.everything(in: Self.new.session).map(\.message), expected, "the messages of the merged session")
            try await expectMessages(store.window(of: Self.new, maxMessages: nil), all, "the window of the first agent")
            try await expectEqual(store.summary(Self.new.session).messageCount, 10, "the message count")
            try await expectEqual(
                store.summary(Self.new.session).agentIds.sorted(), ["agent", "other"], "the agents")
            try await expectEqual(store.listedSessions(), ["new"], "the list")
            let appended = try await store.append(all + SampleData.dialogue(1, "next "), to: Self.new)
            try expectEqual(appended, AppendOutcome(added: 1, alreadyStored: 8), "the outcome of the next append")
            try await expectIDs(
                store.everything(in: Self.new.session).map(\.message), expected + ["next 0"],
                "the messages after the next append")
        },
        HistoryStoreCheck(
            "moves.mergeKeepsConflictingMessages", rule: 4,
            "If messages with the same ID differ, the new session's message keeps the ID; the other gets a new ID."
        ) { store in
            var other = SampleData.dialogue(3)
            other[1] = SampleData.message(.assistant, "m1", "zebra", at: 1000)
            try await store.append(SampleData.dialogue(3), to: .plain)
            try await store.append(other, to: Self.new)
            try await store.moveSession(Scope.plain.session, to: "new")
            let came = try await store.everything(in: Self.new.session).map(\.message)
            try expectEqual(
                came.map(\.text), ["text of m0", "zebra", "text of m1", "text of m2"], "the texts in order")
            try expectEqual(Set(came.map(\.id)).count, 4, "the number of different IDs")
            try expectEqual(came.filter { $0.id == "m1" }.map(\.text), ["zebra"], "the text under the shared ID")
            try await expectEqual(store.found("m1").count, 1, "the number of hits for the old text")
        },
        HistoryStoreCheck(
            "moves.mergeDetails",
            "A merge adds missing details and all tags of the old session to the new one."
        ) { store in
            try await store.update(
                Scope.plain.session,
                with: SessionDetails(
                    title: "old", workingDirectory: "/old", branchName: "old", metadata: ["a": 1, "b": 1],
                    addedTags: ["x", "y"]))
            try await store.append(SampleData.dialogue(1), to: .plain)
            try await store.update(
                Self.new.session,
                with: SessionDetails(workingDirectory: "/new", metadata: ["b": 2, "c": 2], addedTags: ["y", "z"]))
            try await store.moveSession(Scope.plain.session, to: "new")
            let summary = try await store.summary(Self.new.session)
            try expectEqual(summary.title, "old", "the title")
            try expectEqual(summary.workingDirectory, "/new", "the working directory")
            try expectEqual(summary.branchName, "old", "the name of the Git branch")
            try expectEqual(summary.metadata, ["a": 1, "b": 2, "c": 2], "the metadata")
            try expectEqual(summary.tags, ["x", "y", "z"], "the tags")
        },
    ]

    private static let new = Scope.plain.session("new")
}
