import Foundation
import RecollectCore

/// Checks of a session's details, both set and derived from messages.
enum DetailChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "details.updatesOnlyExistingSession",
            "With createIfMissing: false, an update changes only an existing session and never creates one."
        ) { store in
            let (id, details) = (Scope.plain.session, SessionDetails(title: "t", isRead: true))
            try await expectEqual(
                store.update(id, with: details, createIfMissing: false), false, "the result of the update")
            try await expectEqual(store.session(id), nil, "the session")
            try await expectEqual(store.list(SessionQuery(userId: id.userId)).count, 0, "the number of listed sessions")
            try await store.append(SampleData.dialogue(1), to: .plain)
            try await expectEqual(
                store.update(id, with: details, createIfMissing: false), true, "the result of the update")
            try await expectEqual(store.summary(id).title, "t", "the title of the session")
            try await store.deleteSession(id)
            try await expectEqual(
                store.update(id, with: details, createIfMissing: false), false,
                "the result of an update after the deletion")
            try await expectEqual(store.session(id), nil, "the deleted session")
        },
        HistoryStoreCheck(
            "details.pinsAndArchives", "The pin and the archive mark are set and removed independently."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(2), to: .plain)
            for (details, isPinned, isArchived) in [
                (SessionDetails(), false, false), (SessionDetails(isPinned: true), true, false),
                (SessionDetails(isArchived: true), true, true), (SessionDetails(title: "t"), true, true),
                (SessionDetails(isPinned: false), false, true),
                (SessionDetails(isArchived: false), false, false),
            ] {
                try await store.update(id, with: details)
                let summary = try await store.summary(id)
                try expectEqual([summary.isPinned, summary.isArchived], [isPinned, isArchived], "pinned and archived")
            }
        },
        HistoryStoreCheck(
            "details.tags",
            "Tags can be any strings. They are unique and sorted by bytes, and can be added and removed."
        ) { store in
            let id = Scope.plain.session
            let tags = ["work", "Work", "a b", "\u{E9}", "e\u{301}", "日本語", "%", "'"]
            try await store.update(id, with: SessionDetails(addedTags: tags + ["work"]))
            try await store.update(id, with: SessionDetails(addedTags: ["work", "gone"]))
            try await store.update(id, with: SessionDetails(removedTags: ["gone", "unknown"]))
            func bytes(_ tags: [String]) -> [[UInt8]] { tags.map { Array($0.utf8) } }
            func sorted(_ tags: [String]) -> [[UInt8]] { bytes(tags).sorted { $0.lexicographicallyPrecedes($1) } }
            try await expectEqual(bytes(store.summary(id).tags), sorted(tags), "the tags as bytes")
            try await store.update(id, with: SessionDetails(removedTags: ["e\u{301}", "work"]))
            let rest = sorted(tags).filter { ![Array("e\u{301}".utf8), Array("work".utf8)].contains($0) }
            try await expectEqual(bytes(store.summary(id).tags), rest, "the remaining tags as bytes")
            let listed = try await store.list(SessionQuery(userId: "user")).map { bytes($0.tags) }
            try expectEqual(listed, [rest], "the tags in the list")
        },
        HistoryStoreCheck(
            "details.readAndUnread", "A session is unread after each new message until it is marked as read."
        ) { store in
            let id = Scope.plain.session
            for round in 0..<3 {
                try await store.append(SampleData.dialogue(1, from: round), to: Scope.plain.agent("\(round)"))
                try await expectEqual(store.summary(id).isUnread, true, "isUnread after message \(round)")
                try await store.update(id, with: SessionDetails(isRead: true))
                try await expectEqual(store.summary(id).isUnread, false, "isUnread after reading")
                try await store.append(SampleData.dialogue(1, from: round), to: Scope.plain.agent("\(round)"))
                try await expectEqual(store.summary(id).isUnread, false, "isUnread after a retry")
            }
            try await store.update(id, with: SessionDetails(isRead: false))
            try await expectEqual(store.summary(id).isUnread, true, "isUnread after marking as unread")
        },
        HistoryStoreCheck(
            "details.emptyTitleRemovesTitle", "An empty title removes the title; nil leaves it unchanged."
        ) { store in
            let id = Scope.plain.session
            try await store.append([SampleData.message(.user, "m", "What is new?")], to: .plain)
            for (title, expected) in [(nil, nil), ("One", "One"), (nil, "One"), ("", nil), (nil, nil), ("Two", "Two")] {
                try await store.update(id, with: SessionDetails(title: title))
                let summary = try await store.summary(id)
                try expectEqual(summary.title, expected, "the title after \(title.debugDescription)")
                try expectEqual(summary.displayTitle, expected ?? "What is new?", "the display title")
            }
        },
        HistoryStoreCheck(
            "details.lastAccessNeverDecreases", "lastAccessedAt is the latest date ever set, to the millisecond."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(2), to: .plain)
            let base = Date().addingTimeInterval(3600).wholeMilliseconds
            var latest = base
            for offset in [0, 0.001, -1, 5, 4.999, -86_400] {
                let date = base.addingTimeInterval(offset).wholeMilliseconds
                latest = max(latest, date)
                try await store.update(id, with: SessionDetails(lastAccessedAt: date))
                try await expectEqual(
                    store.summary(id).lastAccessedAt.millisecondsSince1970, latest.millisecondsSince1970,
                    "lastAccessedAt in milliseconds after \(offset) seconds")
            }
        },
        HistoryStoreCheck(
            "details.metadataOfAnyDepth", rule: 9,
            "Metadata of any nesting depth is preserved, even after another member changes, or is rejected."
        ) { store in
            let id = Scope.plain.session
            var expected: [String: JSONValue] = ["before": 1]
            try await store.update(id, with: SessionDetails(metadata: expected))
            for levels in SampleData.depths {
                let deep = SampleData.nested(levels)
                let details = SessionDetails(title: "\(levels)", metadata: ["deep \(levels)": deep])
                let title = try await store.summary(id).title
                if try await isTaken({ try await store.update(id, with: details) }) {
                    expected["deep \(levels)"] = deep
                    try await expectEqual(store.summary(id).title, "\(levels)", "the title saved with the metadata")
                } else {
                    try await expectEqual(store.summary(id).title, title, "the title after a rejected update")
                }
                expected["last"] = .integer(Int64(levels))
                try await store.update(id, with: SessionDetails(metadata: ["last": .integer(Int64(levels))]))
                let metadata = try await store.summary(id).metadata
                try expectEqual(metadata.keys.sorted(), expected.keys.sorted(), "members nested up to \(levels) deep")
                try expect(metadata == expected, "the accepted metadata", actual: "other values")
            }
        },
        HistoryStoreCheck(
            "details.firstMessage",
            "The first user message can be set before any message exists; the first value is kept."
        ) { store in
            let id = Scope.plain.session
            try await store.update(id, with: SessionDetails(firstMessage: "Hello!"))
            try await store.update(id, with: SessionDetails(title: "", firstMessage: "Another"))
            try await store.append([SampleData.message(.user, "m", "Third")], to: .plain)
            let summary = try await store.summary(id)
            try expectEqual(summary.firstMessage, "Hello!", "the first message")
            try expectEqual(summary.preview, "Hello!", "the preview")
        },
        HistoryStoreCheck(
            "details.usage",
            "Usage is the sum of the token counts in the metadata of messages; other metadata is ignored."
        ) { store in
            func message(_ id: String, _ usage: JSONValue) -> ConversationMessage {
                ConversationMessage(id: id, role: .assistant, text: id, metadata: ["usage": usage, "model": "x"])
            }
            let usage: [JSONValue] = [
                [
                    "input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 3,
                    "cache_read_input_tokens": 4,
                ],
                ["output_tokens": 100], ["input_tokens": 1000, "service_tier": "standard"], .null, "none", [1],
                ["input_tokens": "many", "output_tokens": .null],
            ]
            let messages = usage.enumerated().map { message("m\($0)", $1) }
            try await store.append(messages, to: .plain)
            try await store.append([message("b", ["cache_read_input_tokens": 40_000])], to: Scope.plain.agent("b"))
            try await store.append(messages, to: .plain)
            let expected = TokenUsage(input: 1010, output: 120, cacheCreation: 3, cacheRead: 40_004)
            let id = Scope.plain.session
            try await expectEqual(store.summary(id).usage, expected, "the usage")
            try await expectEqual(
                store.list(SessionQuery(userId: "user")).map(\.usage), [expected], "the usage in the list")
            try await store.deleteMessages(["m0", "b"], in: id)
            try await expectEqual(
                store.summary(id).usage, TokenUsage(input: 1000, output: 100), "the usage after a deletion")
        },
    ]
}
