import Foundation
import RecollectCore

/// Checks of giving a session another ID, including one already in use.
enum SessionRenamingChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "renaming.movesMessages",
            "A renamed session keeps its messages, first message and createdAt; the old ID is unknown."
        ) { store in
            let messages = SampleData.transcript(6)
            try await store.fill("old", messages)
            try await store.fill("other", SampleData.transcript(2, "other "))
            let before = try await store.session("old")
            try await store.updateSessionId(oldId: "old", newId: "new")
            let after = try await store.session("new")
            try expectTranscript(after.messages, messages, "the transcript under the new ID")
            try expectEqual(after.firstUserMessage, before.firstUserMessage, "the first message")
            try expectEqual(after.createdAt, before.createdAt, "createdAt")
            try expectEqual(after.id, "new", "the session ID")
            try await expectEqual(store.getSession(id: "old"), nil, "the session under the old ID")
            try await expectEqual(store.listedIDs().sorted(), ["new", "other"], "the list, sorted")
            try await expectTranscript(
                store.transcript(of: "other"), SampleData.transcript(2, "other "), "another session")
        },
        SessionStorageCheck(
            "renaming.continuesUnderNewID", rule: 4,
            "Under a new ID, a transcript can be saved, extended, edited, shortened and renamed again."
        ) { store in
            var messages = SampleData.transcript(4)
            try await store.fill("0", messages)
            for step in 1...4 {
                try await store.updateSessionId(oldId: "\(step - 1)", newId: "\(step)")
                try await store.updateSessionMessages(id: "\(step)", messages: messages)
                messages += SampleData.transcript(2, "\(step).")
                messages[step].content = "edited"
                messages.remove(at: 0)
                try await store.updateSessionMessages(id: "\(step)", messages: messages)
                try await expectTranscript(store.transcript(of: "\(step)"), messages, "the transcript of ID \(step)")
            }
            try await expectEqual(store.listedIDs(), ["4"], "the list")
        },
        SessionStorageCheck(
            "renaming.freesOldID",
            "After a rename, a new session with the old ID has no content of the renamed one."
        ) { store in
            try await store.fill("old", SampleData.transcript(3))
            try await store.updateSessionId(oldId: "old", newId: "new")
            try await store.saveSession(id: "old", firstMessage: "afresh")
            let afresh = try await store.session("old")
            try expectEqual(afresh.firstUserMessage, "afresh", "the new session's first message")
            try expectTranscript(afresh.messages, [], "the new session's transcript")
            try await store.deleteSession(id: "old")
            try await expectTranscript(
                store.transcript(of: "new"), SampleData.transcript(3), "the transcript of the renamed session")
        },
        SessionStorageCheck(
            "renaming.toEmptySession",
            "Renaming to an existing session without messages, such as one saved early by a UI, moves the messages."
        ) { store in
            try await store.fill("old", SampleData.transcript(4))
            try await store.saveSession(id: "new", firstMessage: "hello")
            try await store.updateSessionId(oldId: "old", newId: "new")
            try await expectTranscript(store.transcript(of: "new"), SampleData.transcript(4), "the transcript")
            try await expectEqual(store.listedIDs(), ["new"], "the list")
        },
        SessionStorageCheck(
            "renaming.mergesSessions",
            "Renaming to a session with messages merges both: each message once, the old session's first."
        ) { store in
            let all = SampleData.transcript(8)
            let merges: [(name: String, old: Range<Int>, new: Range<Int>, merged: Range<Int>)] = [
                ("no overlap", 0..<4, 4..<8, 0..<8), ("a longer copy", 0..<4, 0..<8, 0..<8),
                ("an overlap", 0..<5, 3..<8, 0..<8), ("the same", 0..<4, 0..<4, 0..<4),
                ("no messages", 0..<0, 2..<4, 2..<4),
            ]
            for (name, old, new, merged) in merges {
                try await store.fill("old \(name)", Array(all[old]))
                try await store.fill("new \(name)", Array(all[new]))
                try await store.updateSessionId(oldId: "old \(name)", newId: "new \(name)")
                try await expectTranscript(store.transcript(of: "new \(name)"), Array(all[merged]), name)
                try await expectEqual(
                    store.getSession(id: "old \(name)"), nil, "the session under the old ID of \(name)")
                let rest = Array(all[merged].dropFirst())
                try await store.updateSessionMessages(id: "new \(name)", messages: rest)
                try await expectTranscript(
                    store.transcript(of: "new \(name)"), rest, "\(name), after the removal of the first message")
            }
        },
        SessionStorageCheck(
            "renaming.mergeKeepsConflictingMessages",
            "If messages with the same ID differ, a merge saves both contents under separate IDs."
        ) { store in
            let old = SampleData.transcript(4)
            var new = old
            new[1].content = "other words"
            new[3].content = "e\u{301}"
            new += SampleData.transcript(2, from: 4)
            try await store.fill("old", old)
            try await store.fill("new", new)
            try await store.updateSessionId(oldId: "old", newId: "new")
            let came = try await store.transcript(of: "new")
            try expectEqual(Set(came.map(\.id)).count, came.count, "the number of different IDs")
            try expectEqual(
                came.map { Array($0.content.utf8) }.sorted { $0.lexicographicallyPrecedes($1) },
                (new + [old[1], old[3]]).map { Array($0.content.utf8) }.sorted { $0.lexicographicallyPrecedes($1) },
                "all texts as bytes, sorted")
            for message in new {
                let same = came.first { $0.id == message.id }
                try expect(
                    try same?.isExactly(message) == true, "the message of the new session: \(message.shown)",
                    actual: same?.shown ?? "nil")
            }
            // Sessions of the same name are merged one after the other.
            var message = old[0]
            try await store.fill("all", [message])
            var contents = [message.content]
            for number in 1...4 {
                message.content = "content \(number)"
                contents.append(message.content)
                try await store.fill("one", [message])
                try await store.updateSessionId(oldId: "one", newId: "all")
                let merged = try await store.transcript(of: "all")
                try expectEqual(Set(merged.map(\.id)).count, merged.count, "the number of different IDs")
                try expectEqual(merged.map(\.content).sorted(), contents.sorted(), "all contents, sorted")
            }
        },
        SessionStorageCheck(
            "renaming.toSameIDChangesNothing", "Renaming a session to its own ID changes nothing."
        ) { store in
            try await store.fill("s", SampleData.transcript(5))
            let before = try await store.session("s")
            try await store.updateSessionId(oldId: "s", newId: "s")
            let after = try await store.session("s")
            try expectTranscript(after.messages, before.messages, "the transcript")
            try expectEqual(after.createdAt, before.createdAt, "createdAt")
            try expectEqual(after.firstUserMessage, before.firstUserMessage, "the first message")
            try await expectEqual(store.listedIDs(), ["s"], "the list")
        },
        SessionStorageCheck(
            "renaming.retryChangesNothing", rule: 4,
            "Renaming an unknown ID changes nothing, even if the new ID exists, so a retry is safe."
        ) { store in
            try await store.fill("old", SampleData.transcript(5))
            try await store.updateSessionId(oldId: "old", newId: "new")
            let before = try await store.session("new")
            for _ in 0..<2 { try await store.updateSessionId(oldId: "old", newId: "new") }
            try await store.updateSessionId(oldId: "never", newId: "new")
            try await expectEqual(store.session("new"), before, "the session after a retry")
            try await expectEqual(store.listedIDs(), ["new"], "the list")
        },
    ]
}
