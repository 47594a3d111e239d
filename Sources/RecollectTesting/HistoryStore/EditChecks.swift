import Foundation
import RecollectCore

/// Checks of replacing the content of messages.
enum EditChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "edits.replaceContent", rule: 5,
            "An edit keeps position, agent and ID; other messages are unchanged; unknown IDs are not counted."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(3, "a"), to: Scope.plain.agent("a"))
            try await store.append(SampleData.dialogue(3, "b", at: 10_000), to: Scope.plain.agent("b"))
            var expected = try await store.everything(in: id)
            expected[1].message.parts = [.thinking("hm", signature: "s"), .text("e\u{301}")]
            expected[4].message.parts = [.text("other")]
            expected[4].message.metadata = ["edited": true]
            expected[4].message.unknownFields = ["score": 1]
            let edits = [expected[4].message, SampleData.message(.user, "unknown"), expected[1].message]
            try await expectEqual(store.edit(edits, in: id), 2, "the number of edited messages")
            let came = try await store.everything(in: id)
            try expectMessages(came.map(\.message), expected.map(\.message), "the messages of the session")
            try expectEqual(came, expected, "the positions and agents")
            try await expectMessages(
                store.window(of: Scope.plain.agent("b"), maxMessages: nil), expected[3...].map(\.message), "a window")
            expected[1].message.parts = [.text("\u{E9}")]
            try await store.edit([expected[1].message], in: id)
            let again = try await store.everything(in: id).map(\.message)
            try expectMessages(again, expected.map(\.message), "the messages after another edit")
            try await expectEqual(store.session(id)?.messageCount, 6, "the message count")
            try await expectEqual(
                store.edit(edits, in: Scope.plain.session("other").session), 0,
                "the number of edited messages in another session")
        },
        HistoryStoreCheck(
            "edits.keepNewerContent", rule: 5,
            "An edit with an expected content leaves messages with other content unchanged, for every agent."
        ) { store in
            let id = Scope.plain.session
            let (read, newer) = (SampleData.message(.user, "m", "read"), SampleData.message(.user, "m", "newer"))
            let edited = SampleData.message(.user, "m", "edited")
            let other = SampleData.message(.user, "o", "other")
            try await store.append([read, other], to: Scope.plain.agent("a"))
            try await store.append([newer], to: Scope.plain.agent("b"))
            let changed = SampleData.message(.user, "o", "changed")
            let edits = [MessageEdit(of: read, to: edited), MessageEdit(of: changed, to: other)]
            try await expectEqual(store.edit(edits, in: id), [edits[0]], "the applied edits")
            try await expectMessages(
                store.everything(in: id).map(\.message), [edited, other, newer], "the messages after the edit")
            try await expectEqual(store.edit(edits, in: id), [], "the edits applied again")
            try await expectEqual(
                store.edit([MessageEdit(of: edited, to: edited)], in: Scope.plain.session("other").session), [],
                "the edits applied in another session")
        },
        HistoryStoreCheck(
            "edits.areSearchable", "Search finds an edited message by its new words and not by its old ones."
        ) { store in
            try await store.append(SampleData.dialogue(3), to: .plain)
            try await expectEqual(store.found("m1"), ["m1"], "a search before the edit")
            try await store.edit([SampleData.message(.assistant, "m1", "zebra")], in: Scope.plain.session)
            try await expectEqual(store.found("zebra"), ["m1"], "a search for the new word")
            try await expectEqual(store.found("m1"), [], "a search for the old word")
        },
        HistoryStoreCheck(
            "edits.updateSummary", "The usage and the preview of a session reflect edits."
        ) { store in
            let id = Scope.plain.session
            var answer = SampleData.message(.assistant, "a")
            answer.metadata = ["usage": ["output_tokens": 5]]
            try await store.append([SampleData.message(.user, "u", "What is new?"), answer], to: .plain)
            try await expectEqual(store.summary(id).usage.output, 5, "the usage before the edit")
            answer.metadata = ["usage": ["output_tokens": 70, "input_tokens": 1]]
            try await store.edit([answer, SampleData.message(.user, "u", "What is old?")], in: id)
            let summary = try await store.summary(id)
            try expectEqual(summary.usage, TokenUsage(input: 1, output: 70), "the usage")
            try expectEqual(summary.preview, "What is old?", "the preview")
        },
        HistoryStoreCheck(
            "edits.appearInFeed", rule: 4,
            "The feed reports each edited message once; an edit with equal content is not a change."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(3), to: .plain)
            let before = try await store.latestChangeCursor()
            let edit = [SampleData.message(.assistant, "m1", "new"), SampleData.dialogue(1)[0]]
            try await store.edit(edit, in: id)
            let changes = try await store.everyChange(after: before)
            try expectEqual(changes.map(\.kind), [.messageEdited], "the kinds of changes after an edit")
            try expectEqual(changes.first?.messageId, "m1", "the message of the change")
            try expectEqual(changes.first?.agentId, "agent", "the agent of the change")
            try expectEqual(changes.first?.session, id, "the session of the change")
            try await store.edit(edit, in: id)
            try await expectEqual(
                store.everyChange(after: before).count, 1, "the number of changes after the same edit again")
        },
    ]
}
