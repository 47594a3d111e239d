import Foundation
import RecollectCore

/// Checks of replacing the content of messages.
enum EditChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "edits.replaceContent", rule: 5,
            "Edited messages keep their places, agents and ids; others stay, unknown ids are passed over and not counted."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(3, "a"), to: Scope.plain.agent("a"))
            try await store.append(SampleData.dialogue(3, "b"), to: Scope.plain.agent("b"))
            var expected = try await store.everything(in: id)
            expected[1].message.parts = [.thinking("hm", signature: "s"), .text("e\u{301}")]
            expected[4].message.parts = [.text("other")]
            expected[4].message.metadata = ["edited": true]
            expected[4].message.unknownFields = ["score": 1]
            let edits = [expected[4].message, SampleData.message(.user, "unknown"), expected[1].message]
            try await expectEqual(store.edit(edits, in: id), 2, "the count of known messages")
            let came = try await store.everything(in: id)
            try expectMessages(came.map(\.message), expected.map(\.message), "the session")
            try expectEqual(came, expected, "places and agents")
            try await expectMessages(
                store.window(of: Scope.plain.agent("b"), maxMessages: nil), expected[3...].map(\.message), "a window")
            expected[1].message.parts = [.text("\u{E9}")]
            try await store.edit([expected[1].message], in: id)
            let again = try await store.everything(in: id).map(\.message)
            try expectMessages(again, expected.map(\.message), "the session after another edit")
            try await expectEqual(store.session(id)?.messageCount, 6, "the count")
            try await expectEqual(
                store.edit(edits, in: Scope.plain.session("other").session), 0, "edits in another session")
        },
        HistoryStoreCheck(
            "edits.areFound", "A search finds an edited message by its new words and no longer by the old ones."
        ) { store in
            try await store.append(SampleData.dialogue(3), to: .plain)
            try await expectEqual(store.found("m1"), ["m1"], "a search before the edit")
            try await store.edit([SampleData.message(.assistant, "m1", "zebra")], in: Scope.plain.session)
            try await expectEqual(store.found("zebra"), ["m1"], "a search for the new word")
            try await expectEqual(store.found("m1"), [], "a search for the old word")
        },
        HistoryStoreCheck(
            "edits.followInTheSummary", "Usage and preview follow edits."
        ) { store in
            let id = Scope.plain.session
            var answer = SampleData.message(.assistant, "a")
            answer.metadata = ["usage": ["output_tokens": 5]]
            try await store.append([SampleData.message(.user, "u", "What is new?"), answer], to: .plain)
            try await expectEqual(store.summary(id).usage.output, 5, "the usage before")
            answer.metadata = ["usage": ["output_tokens": 70, "input_tokens": 1]]
            try await store.edit([answer, SampleData.message(.user, "u", "What is old?")], in: id)
            let summary = try await store.summary(id)
            try expectEqual(summary.usage, TokenUsage(input: 1, output: 70), "the usage")
            try expectEqual(summary.preview, "What is old?", "the preview")
        },
        HistoryStoreCheck(
            "edits.areTold", rule: 4,
            "The feed tells each edited message once; one that has the content already is no change."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(3), to: .plain)
            let before = try await store.latestChange()
            let edit = [SampleData.message(.assistant, "m1", "new"), SampleData.dialogue(1)[0]]
            try await store.edit(edit, in: id)
            let told = try await store.everyChange(after: before)
            try expectEqual(told.map(\.kind), [.messageEdited], "kinds after an edit")
            try expectEqual(told.first?.messageId, "m1", "the message")
            try expectEqual(told.first?.agentId, "agent", "the agent")
            try expectEqual(told.first?.session, id, "the session")
            try await store.edit(edit, in: id)
            try await expectEqual(store.everyChange(after: before).count, 1, "changes after the same edit again")
        },
    ]
}
