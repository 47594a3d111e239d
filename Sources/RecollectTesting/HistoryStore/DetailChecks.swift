import Foundation
import RecollectCore

/// Checks of a session's details, both set and derived from messages.
enum DetailChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "details.makesNothingUnasked",
            "An update that is to make nothing changes a session that is there, and makes none that is not."
        ) { store in
            let (id, details) = (Scope.plain.session, SessionDetails(title: "t", isRead: true))
            try await expectEqual(store.update(id, with: details, makesNew: false), false, "whether there is one")
            try await expectEqual(store.session(id), nil, "the session")
            try await expectEqual(store.list(SessionQuery(userId: id.userId)).count, 0, "what is listed")
            try await store.append(SampleData.dialogue(1), to: .plain)
            try await expectEqual(store.update(id, with: details, makesNew: false), true, "whether there is one")
            try await expectEqual(store.summary(id).title, "t", "its title")
            try await store.deleteSession(id)
            try await expectEqual(store.update(id, with: details, makesNew: false), false, "whether it is still there")
            try await expectEqual(store.session(id), nil, "what was deleted")
        },
        HistoryStoreCheck(
            "details.pinsAndArchives", "Pinned and archived are set and taken back, each without the other."
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
            "details.tags", "Tags are any strings, once each, in order of their bytes; they are added and taken away."
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
            try await expectEqual(bytes(store.summary(id).tags), rest, "the tags that are left, as bytes")
            let listed = try await store.list(SessionQuery(userId: "user")).map { bytes($0.tags) }
            try expectEqual(listed, [rest], "the tags in the list")
        },
        HistoryStoreCheck(
            "details.readAndUnread", "A session is unread from each new message on until it is marked as read."
        ) { store in
            let id = Scope.plain.session
            for round in 0..<3 {
                try await store.append(SampleData.dialogue(1, from: round), to: Scope.plain.agent("\(round)"))
                try await expectEqual(store.summary(id).isUnread, true, "unread after message \(round)")
                try await store.update(id, with: SessionDetails(isRead: true))
                try await expectEqual(store.summary(id).isUnread, false, "unread after reading")
                try await store.append(SampleData.dialogue(1, from: round), to: Scope.plain.agent("\(round)"))
                try await expectEqual(store.summary(id).isUnread, false, "unread after a retry")
            }
            try await store.update(id, with: SessionDetails(isRead: false))
            try await expectEqual(store.summary(id).isUnread, true, "unread after marking as unread")
        },
        HistoryStoreCheck(
            "details.emptyTitleTakesItAway", "An empty title takes the title away; nil leaves it."
        ) { store in
            let id = Scope.plain.session
            try await store.append([SampleData.message(.user, "m", "What is new?")], to: .plain)
            for (title, expected) in [(nil, nil), ("One", "One"), (nil, "One"), ("", nil), (nil, nil), ("Two", "Two")] {
                try await store.update(id, with: SessionDetails(title: title))
                let summary = try await store.summary(id)
                try expectEqual(summary.title, expected, "the title after \(title.debugDescription)")
                try expectEqual(summary.displayTitle, expected ?? "What is new?", "what a list shows")
            }
        },
        HistoryStoreCheck(
            "details.accessNeverMovesBack", "lastAccessedAt is the latest moment that was set, to the millisecond."
        ) { store in
            let id = Scope.plain.session
            try await store.append(SampleData.dialogue(2), to: .plain)
            let base = Date().addingTimeInterval(3600).wholeMilliseconds
            var latest = base
            for offset in [0, 0.001, -1, 5, 4.999, -86_400] {
                let moment = base.addingTimeInterval(offset).wholeMilliseconds
                latest = max(latest, moment)
                try await store.update(id, with: SessionDetails(lastAccessedAt: moment))
                try await expectEqual(
                    store.summary(id).lastAccessedAt.millisecondsSince1970, latest.millisecondsSince1970,
                    "lastAccessedAt in milliseconds after \(offset) seconds")
            }
        },
        HistoryStoreCheck(
            "details.deepestMetadata", rule: 9,
            "However deep metadata is nested, it comes back, also after an update of another member, or it is refused."
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
                    try await expectEqual(store.summary(id).title, "\(levels)", "the title that was taken with it")
                } else {
                    try await expectEqual(store.summary(id).title, title, "the title that was refused with it")
                }
                expected["last"] = .integer(Int64(levels))
                try await store.update(id, with: SessionDetails(metadata: ["last": .integer(Int64(levels))]))
                let metadata = try await store.summary(id).metadata
                try expectEqual(metadata.keys.sorted(), expected.keys.sorted(), "members nested up to \(levels) deep")
                try expect(metadata == expected, "what was set", came: "other values")
            }
        },
        HistoryStoreCheck(
            "details.firstMessage",
            "What a user said first can be told before there is a message; the first that is told stays."
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
            "details.usage", "Usage is the sum of what messages tell of in their metadata, whatever else they tell."
        ) { store in
            func told(_ id: String, _ usage: JSONValue) -> ConversationMessage {
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
            let messages = usage.enumerated().map { told("m\($0)", $1) }
            try await store.append(messages, to: .plain)
            try await store.append([told("b", ["cache_read_input_tokens": 40_000])], to: Scope.plain.agent("b"))
            try await store.append(messages, to: .plain)
            let expected = TokenUsage(input: 1010, output: 120, cacheCreation: 3, cacheRead: 40_004)
            let id = Scope.plain.session
            try await expectEqual(store.summary(id).usage, expected, "the usage")
            try await expectEqual(store.list(SessionQuery(userId: "user")).map(\.usage), [expected], "in the list")
            try await store.deleteMessages(["m0", "b"], in: id)
            try await expectEqual(
                store.summary(id).usage, TokenUsage(input: 1000, output: 100), "the usage after a deletion")
        },
    ]
}
