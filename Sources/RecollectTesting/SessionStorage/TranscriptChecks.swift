import Foundation
import RecollectCore
import RecollectFileSystem

/// Checks of transcripts: a session's transcript is the one saved last.
enum TranscriptChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "transcript.keepsArrayOrder", rule: 5,
            "Messages are returned in the order of the array, regardless of timestamps and IDs."
        ) { store in
            let offsets: [Int64] = [5000, 5000, 1, -86_400_000, 5001, 0, 0]
            let messages = offsets.enumerated().map { SampleData.entry("m\($0)", .assistant, at: $1) }
            try await store.fill("s", messages)
            try await expectTranscript(store.transcript(of: "s"), messages, "messages with decreasing timestamps")
        },
        SessionStorageCheck(
            "transcript.canBeEmpty",
            "A session can have no messages: when new, when saved empty, and after removing all."
        ) { store in
            try await store.saveSession(id: "s", firstMessage: "hello")
            try await expectTranscript(store.transcript(of: "s"), [], "a new session")
            try await store.updateSessionMessages(id: "s", messages: [])
            try await expectTranscript(store.transcript(of: "s"), [], "an empty transcript")
            try await store.updateSessionMessages(id: "s", messages: SampleData.transcript(3))
            try await store.updateSessionMessages(id: "s", messages: [])
            try await expectTranscript(store.transcript(of: "s"), [], "an emptied transcript")
            try await expectEqual(store.session("s").firstUserMessage, "hello", "the first message")
            try await expectEqual(store.listedIDs(), ["s"], "the list")
        },
        SessionStorageCheck(
            "transcript.createsSession",
            "Saving the transcript of an unknown session creates the session, so nothing is lost."
        ) { store in
            try await store.updateSessionMessages(id: "new", messages: SampleData.transcript(3))
            try await expectTranscript(store.transcript(of: "new"), SampleData.transcript(3), "the new session")
            try await expectEqual(store.listedIDs(), ["new"], "the list")
        },
        SessionStorageCheck(
            "transcript.growsByTurns", "A transcript saved completely after every turn contains each message once."
        ) { store in
            try await store.saveSession(id: "s", firstMessage: "hello")
            for turn in 1...12 {
                try await store.updateSessionMessages(id: "s", messages: SampleData.transcript(turn * 2))
                try await expectTranscript(
                    store.transcript(of: "s"), SampleData.transcript(turn * 2), "the transcript after turn \(turn)")
            }
        },
        SessionStorageCheck(
            "transcript.growsByChunks", "A reply saved after every chunk is one message with all of its text."
        ) { store in
            var messages = SampleData.transcript(3) + [SampleData.entry("reply", .assistant, "")]
            messages[3].isComplete = false
            for chunk in ["Grüße", ", ", "", "日本", "語 👩‍👩‍👧‍👦", "e", "\u{301}", "\n"] {
                messages[3].content += chunk
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(
                    store.transcript(of: "s"), messages, "the transcript after \(chunk.debugDescription)")
            }
            messages[3].isComplete = true
            try await store.updateSessionMessages(id: "s", messages: messages)
            try await expectTranscript(store.transcript(of: "s"), messages, "the transcript with the whole reply")
        },
        SessionStorageCheck(
            "transcript.savingAgainChangesNothing", rule: 4,
            "Saving an equal transcript again succeeds and changes nothing."
        ) { store in
            let messages = SampleData.transcript(5)
            try await store.saveSession(id: "s", firstMessage: "hello")
            for time in 1...3 {
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(store.transcript(of: "s"), messages, "a transcript saved \(time) times")
            }
            try await store.updateSessionMessages(id: "s", messages: store.transcript(of: "s"))
            try await expectTranscript(store.transcript(of: "s"), messages, "a transcript read and saved back")
        },
        SessionStorageCheck(
            "transcript.edits", rule: 4, "A message with a known ID is edited in place, in each of its fields."
        ) { store in
            var messages = SampleData.transcript(5)
            try await store.fill("s", messages)
            let edits: [(inout ChatMessage) -> Void] = [
                { $0.content = "other words" }, { $0.content = "e\u{301}" }, { $0.content = "\u{E9}" },
                { $0.role = .system }, { $0.messageType = .thinking }, { $0.isComplete = false },
                { $0.wasCancelled = true }, { $0.isError = true }, { $0.toolName = "\u{E9}" }, { $0.isError = false },
                { $0.toolName = "e\u{301}" },
                { $0.toolInputData = ToolInputData(parameters: ["path": "a"]) }, { $0.metadata = ["model": "x"] },
                { $0.timestamp = Date(millisecondsSince1970: 1) }, { $0.taskGroupId = UUID.random() },
                { $0.isTaskContainer = true },
                { $0.attachments = [Attachment(mediaType: "image/png", content: .remote(url: "https://example.org"))] },
            ]
            for (number, edit) in edits.enumerated() {
                edit(&messages[number % 2 == 0 ? 2 : 0])
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(store.transcript(of: "s"), messages, "the transcript after edit \(number)")
            }
            messages[0] = SampleData.transcript(1)[0]
            messages[2] = SampleData.transcript(3)[2]
            try await store.updateSessionMessages(id: "s", messages: messages)
            try await expectTranscript(store.transcript(of: "s"), messages, "the transcript with all edits undone")
        },
        SessionStorageCheck(
            "transcript.insertsInOrder", rule: 5,
            "New messages are inserted at their positions in the array, not at the end."
        ) { store in
            var messages = SampleData.transcript(4)
            try await store.fill("s", messages)
            for (number, position) in [2, 0, 6, 1, 1, 3].enumerated() {
                messages.insert(SampleData.entry("new \(number)", .assistant, at: 99_000), at: position)
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(
                    store.transcript(of: "s"), messages, "the transcript after insertion \(number)")
            }
        },
        SessionStorageCheck(
            "transcript.insertsManyAtOnePosition", rule: 5,
            "Messages can be inserted any number of times at the same positions."
        ) { store in
            var messages = SampleData.transcript(4)
            try await store.fill("s", messages)
            for round in 0..<50 {
                messages.insert(SampleData.entry("late \(round)", .assistant), at: messages.count - 1)
                messages.insert(SampleData.entry("early \(round)", .assistant), at: 1)
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(store.transcript(of: "s"), messages, "the transcript after round \(round)")
            }
        },
        SessionStorageCheck(
            "transcript.removes", "Messages missing from the array are removed and can be saved again."
        ) { store in
            let messages = SampleData.transcript(8)
            try await store.fill("s", messages)
            for kept in [
                [0, 1, 2, 4, 5, 6, 7], [1, 2, 4, 5, 6, 7], [1, 2, 4, 5, 6], [4], [0, 3, 4, 7], Array(0..<8),
            ] {
                let rest = kept.map { messages[$0] }
                try await store.updateSessionMessages(id: "s", messages: rest)
                try await expectTranscript(store.transcript(of: "s"), rest, "the transcript of messages \(kept)")
            }
        },
        SessionStorageCheck(
            "transcript.reorders", rule: 5, "The same messages in another order are returned in that order."
        ) { store in
            let messages = SampleData.transcript(6)
            try await store.fill("s", messages)
            for order in [[1, 0, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 3, 4, 5, 0, 1], [0, 1, 2, 3, 4, 5]] {
                let turned = order.map { messages[$0] }
                try await store.updateSessionMessages(id: "s", messages: turned)
                try await expectTranscript(store.transcript(of: "s"), turned, "the transcript in order \(order)")
            }
        },
        SessionStorageCheck(
            "transcript.sameMessagesInOtherSession", rule: 4,
            "Two sessions may contain the same message IDs; changes in one do not affect the other."
        ) { store in
            let messages = SampleData.transcript(4)
            try await store.fill("a", messages)
            var others = messages
            others[1].content = "other words"
            try await store.fill("b", others)
            try await expectTranscript(store.transcript(of: "a"), messages, "the first session")
            try await expectTranscript(store.transcript(of: "b"), others, "the second session")
            try await store.updateSessionMessages(id: "b", messages: Array(others[2...]))
            try await expectTranscript(
                store.transcript(of: "a"), messages,
                "the first session after the removal of two messages from the second")
            try await store.deleteSession(id: "b")
            try await expectTranscript(
                store.transcript(of: "a"), messages, "the first session after the deletion of the second")
        },
    ]
}
