import Foundation
import RecollectCore

/// Checks of streaming replies.
enum ReplyChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "replies.areNotMessagesWhileStreaming",
            "A streaming reply is listed as streaming and is not in any window, page or count."
        ) { store in
            try await store.append(SampleData.dialogue(1), to: .plain)
            let reply = try await store.beginReply(SampleData.message(.assistant, "reply", "Once"), in: .plain)
            reply.append(" upon")
            let streaming = try await store.streamingReplies(in: Self.id)
            try expectEqual(streaming.map(\.message.id), ["reply"], "the streaming replies")
            try expectEqual(streaming.map(\.agentId), ["agent"], "the agents of the streaming replies")
            try expect(
                streaming[0].message.isStreaming && streaming[0].message.text.hasPrefix("Once"),
                "a streaming message with the text so far", actual: streaming[0].message.shown)
            try await expectIDs(store.window(of: .plain, maxMessages: nil), ["m0"], "the window")
            try await expectIDs(store.everything(in: Self.id).map(\.message), ["m0"], "the pages")
            try await expectEqual(store.summary(Self.id).messageCount, 1, "the message count")
            let others = try await store.streamingReplies(in: Scope.plain.session("other").session)
            try expect(others.isEmpty, "no streaming reply in another session", actual: "\(others.count)")
            try await reply.finish()
        },
        HistoryStoreCheck(
            "replies.becomeMessages", rule: 5,
            "A finished reply is a message with all text in the order of the calls, and no longer streaming."
        ) { store in
            let begun = ConversationMessage(
                id: "reply", role: .assistant, parts: [.thinking("hm", signature: nil)],
                timestamp: Date(millisecondsSince1970: SampleData.start), metadata: ["model": "x"])
            let reply = try await store.beginReply(begun, in: .plain)
            var expected = begun
            expected.parts.append(.text((0..<200).map { "\($0) e\u{301}," }.joined()))
            for number in 0..<200 { reply.append("\(number) e\u{301},") }
            try await reply.finish()
            try await expectMessages(store.window(of: .plain, maxMessages: nil), [expected], "the window")
            let streaming = try await store.streamingReplies(in: Self.id)
            try expect(streaming.isEmpty, "no streaming reply", actual: "\(streaming.count)")
            try await expectEqual(store.found("199"), ["reply"], "a search for a word of the reply")
            let whole = ConversationMessage(
                id: "second", role: .assistant,
                parts: [.text("whole"), .toolCall(id: "1", name: "read", arguments: [:])],
                timestamp: begun.timestamp)
            let second = try await store.beginReply(SampleData.message(.assistant, "second", ""), in: .plain)
            try await second.finish(whole)
            try await expectMessages(store.window(of: .plain, maxMessages: nil), [expected, whole], "the window")
        },
        HistoryStoreCheck(
            "replies.keepPartOrder", rule: 5,
            "Parts appended to a streaming reply keep their position between the texts before and after them."
        ) { store in
            let call = ContentPart.toolCall(id: "1", name: "read", arguments: ["at": 7])
            let result = ContentPart.toolResult(id: "1", content: "found")
            let thought = ContentPart.thinking("hm", signature: "s")
            for (id, interrupts) in [("finished", false), ("interrupted", true)] {
                let begun = SampleData.message(.assistant, id, "")
                let reply = try await store.beginReply(begun, in: .plain)
                for part in [thought, .text("I "), .text("look."), call, result] { reply.append(part) }
                reply.append("It ")
                reply.append("is there.")
                var expected = begun
                expected.parts = [thought, .text("I look."), call, result, .text("It is there.")]
                expected.isInterrupted = interrupts
                try await interrupts ? reply.interrupt() : reply.finish()
                let kept = try await store.message(id, in: Self.id)
                try expectMessages(kept.map { [$0.message] } ?? [], [expected], "the message of the \(id) reply")
            }
        },
        HistoryStoreCheck(
            "replies.trimWindowWhenFinished", rule: 2,
            "Finishing a reply trims only the window of its scope, to the budget given when it began."
        ) { store in
            try await store.append(SampleData.dialogue(6), to: .plain)
            let reply = try await store.beginReply(
                SampleData.message(.assistant, "reply", "Once"), in: .plain, maxMessages: 5)
            try await expectEqual(
                store.window(of: .plain, maxMessages: nil).count, 6,
                "the number of messages in the window before the end of the reply")
            try await reply.finish()
            try await expectIDs(store.window(of: .plain, maxMessages: nil), ["m3", "m4", "m5", "reply"], "the window")
            try await store.beginReply(SampleData.message(.assistant, "second", "upon"), in: .plain, maxMessages: 2)
                .interrupt()
            try await expectIDs(store.window(of: .plain, maxMessages: nil), ["reply", "second"], "the window")
            try await store.beginReply(SampleData.message(.assistant, "third", "a time"), in: .plain).finish()
            try await expectIDs(
                store.window(of: .plain, maxMessages: nil), ["reply", "second", "third"], "the window without a budget")
        },
        HistoryStoreCheck(
            "replies.interruptionKeepsText",
            "An interrupted reply is a message with the text so far, marked as interrupted."
        ) { store in
            let reply = try await store.beginReply(SampleData.message(.assistant, "reply", "Once"), in: .plain)
            reply.append(" upon")
            try await reply.interrupt()
            reply.append(" a time")
            try await reply.finish()
            let came = try await store.window(of: .plain, maxMessages: nil)
            try expectIDs(came, ["reply"], "the window")
            try expectEqual(came[0].text, "Once upon", "the text of the reply")
            try expectEqual(
                [came[0].isInterrupted, came[0].isStreaming], [true, false], "isInterrupted and isStreaming")
        },
        HistoryStoreCheck(
            "replies.haveUniqueIDs", rule: 4,
            "A scope rejects a second streaming reply with the same ID, and one that would replace a saved reply."
        ) { store in
            let message = SampleData.message(.assistant, "reply", "")
            let reply = try await store.beginReply(message, in: .plain)
            try await expectError(.invalidArgument, "a second streaming reply with the ID") {
                _ = try await store.beginReply(message, in: .plain)
            }
            reply.append("here")
            for scope in [Scope.plain.session("other"), Scope.plain.agent("other")] {
                let elsewhere = try await store.beginReply(message, in: scope)
                elsewhere.append("there")
                try await elsewhere.finish()
                try await expectEqual(
                    store.window(of: scope, maxMessages: nil).map(\.text), ["there"],
                    "the text of the reply in \(scope.shown)")
            }
            try await reply.finish()
            try await expectError(.invalidArgument, "a streaming reply with the ID of a complete one") {
                _ = try await store.beginReply(message, in: .plain)
            }
            try await expectEqual(
                store.window(of: .plain, maxMessages: nil).map(\.text), ["here"], "the text of the first reply")
            let first = try await store.beginReply(SampleData.message(.assistant, "second", "Once"), in: .plain)
            try await first.interrupt()
            for text in ["", "On", "upon"] {
                try await expectError(.invalidArgument, "a streaming reply with the ID of an interrupted one") {
                    _ = try await store.beginReply(SampleData.message(.assistant, "second", text), in: .plain)
                }
            }
            let second = try await store.beginReply(SampleData.message(.assistant, "second", "Once"), in: .plain)
            second.append(" upon")
            try await second.finish()
            try await expectEqual(
                store.window(of: .plain, maxMessages: nil).map(\.text), ["here", "Once upon"],
                "the texts of the two replies")
        },
        HistoryStoreCheck(
            "replies.oldestFirst", "streamingReplies(in:) returns the replies in the order in which they began."
        ) { store in
            var replies: [StreamingReply] = []
            for id in ["c", "a", "d", "b"] {
                let scope = Scope.plain.agent("agent of \(id)")
                replies.append(try await store.beginReply(SampleData.message(.assistant, id, id), in: scope))
            }
            try await expectEqual(
                store.streamingReplies(in: Self.id).map(\.message.id), ["c", "a", "d", "b"], "the streaming replies")
            try await replies[1].finish()
            try await expectEqual(
                store.streamingReplies(in: Self.id).map(\.message.id), ["c", "d", "b"],
                "the streaming replies after the end of one")
            for reply in replies { try await reply.finish() }
        },
        HistoryStoreCheck(
            "replies.deallocationInterruptsReply",
            "A streaming reply deallocated before its end is saved as interrupted.",
            needs: .concurrent
        ) { store in
            try await store.append(SampleData.dialogue(1), to: .plain)
            try await expectChange(["m0"], then: ["reply"], by: store.changes(after: .beginning)) {
                try await store.beginReply(SampleData.message(.assistant, "reply", "Once"), in: .plain).append(" upon")
            }
            let kept = try await store.message("reply", in: Self.id)?.message
            try expectEqual(kept?.text, "Once upon", "the text of the reply")
            try expectEqual(kept?.isInterrupted, true, "isInterrupted")
        },
    ]

    private static let id = Scope.plain.session
}
