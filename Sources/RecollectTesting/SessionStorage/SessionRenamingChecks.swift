import Foundation
import RecollectCore

/// Checks of giving a session another ID, including one already in use.
enum SessionRenamingChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "renaming.movesTheMessages",
            "A session under a new id has its messages, its first message and its creation; the old id is gone."
        ) { store in
            let messages = SampleData.transcript(6)
            try await store.fill("old", messages)
            try await store.fill("other", SampleData.transcript(2, "other "))
            let before = try await store.session("old")
            try await store.updateSessionId(oldId: "old", newId: "new")
            let after = try await store.session("new")
            try expectTranscript(after.messages, messages, "the transcript under the new id")
            try expectEqual(after.firstUserMessage, before.firstUserMessage, "the first message")
            try expectEqual(after.createdAt, before.createdAt, "the creation")
            try expectEqual(after.id, "new", "the id")
            try await expectEqual(store.getSession(id: "old"), nil, "the old id")
            try await expectEqual(store.listedIDs().sorted(), ["new", "other"], "the list, sorted")
            try await expectTranscript(
                store.transcript(of: "other"), SampleData.transcript(2, "other "), "another session")
        },
        SessionStorageCheck(
            "renaming.goesOn", rule: 4,
            "Under the new id the transcript goes on: saved again, longer, edited, shorter, renamed once more."
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
                try await expectTranscript(store.transcript(of: "\(step)"), messages, "the transcript of id \(step)")
            }
            try await expectEqual(store.listedIDs(), ["4"], "the list")
        },
        SessionStorageCheck(
            "renaming.freesTheOldId",
            "The old id is an unknown one afterwards: a new session of it has nothing of the moved one."
        ) { store in
            try await store.fill("old", SampleData.transcript(3))
            try await store.updateSessionId(oldId: "old", newId: "new")
            try await store.saveSession(id: "old", firstMessage: "afresh")
            let afresh = try await store.session("old")
            try expectEqual(afresh.firstUserMessage, "afresh", "the new session's first message")
            try expectTranscript(afresh.messages, [], "the new session's transcript")
            try await store.deleteSession(id: "old")
            try await expectTranscript(store.transcript(of: "new"), SampleData.transcript(3), "the moved session")
        },
        SessionStorageCheck(
            "renaming.ontoANewSession",
            "A new id that was saved already and has no messages gets those of the old one: as a UI does that saves first."
        ) { store in
            try await store.fill("old", SampleData.transcript(4))
            try await store.saveSession(id: "new", firstMessage: "hello")
            try await store.updateSessionId(oldId: "old", newId: "new")
            try await expectTranscript(store.transcript(of: "new"), SampleData.transcript(4), "the transcript")
            try await expectEqual(store.listedIDs(), ["new"], "the list")
        },
        SessionStorageCheck(
            "renaming.mergesSessions",
            "Onto an id that has messages two sessions become one: each message once, the old session's first."
        ) { store in
            let all = SampleData.transcript(8)
            let merges: [(name: String, old: Range<Int>, new: Range<Int>, merged: Range<Int>)] = [
                ("apart", 0..<4, 4..<8, 0..<8), ("a copy that went on", 0..<4, 0..<8, 0..<8),
                ("an overlap", 0..<5, 3..<8, 0..<8), ("the same", 0..<4, 0..<4, 0..<4),
                ("nothing onto something", 0..<0, 2..<4, 2..<4),
            ]
            for (name, old, new, merged) in merges {
                try await store.fill("old \(name)", Array(all[old]))
                try await store.fill("new \(name)", Array(all[new]))
                try await store.updateSessionId(oldId: "old \(name)", newId: "new \(name)")
                try await expectTranscript(store.transcript(of: "new \(name)"), Array(all[merged]), name)
                try await expectEqual(store.getSession(id: "old \(name)"), nil, "the old id of \(name)")
                let rest = Array(all[merged].dropFirst())
                try await store.updateSessionMessages(id: "new \(name)", messages: rest)
                try await expectTranscript(store.transcript(of: "new \(name)"), rest, "\(name), the first removed")
            }
        },
        SessionStorageCheck(
            "renaming.mergeLosesNoWords",
            "Where both sessions have a message of one id with different words, both words stay, under ids of their own."
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
            try expectEqual(Set(came.map(\.id)).count, came.count, "different ids")
            try expectEqual(
                came.map { Array($0.content.utf8) }.sorted { $0.lexicographicallyPrecedes($1) },
                (new + [old[1], old[3]]).map { Array($0.content.utf8) }.sorted { $0.lexicographicallyPrecedes($1) },
                "all words as bytes, sorted")
            for message in new {
                let same = came.first { $0.id == message.id }
                try expect(
                    try same?.isExactly(message) == true, "the new session's \(message.shown)",
                    came: same?.shown ?? "nil")
            }
        },
        SessionStorageCheck(
            "renaming.toItselfChangesNothing", "A session renamed to its own id stays as it was."
        ) { store in
            try await store.fill("s", SampleData.transcript(5))
            let before = try await store.session("s")
            try await store.updateSessionId(oldId: "s", newId: "s")
            let after = try await store.session("s")
            try expectTranscript(after.messages, before.messages, "the transcript")
            try expectEqual(after.createdAt, before.createdAt, "the creation")
            try expectEqual(after.firstUserMessage, before.firstUserMessage, "the first message")
            try await expectEqual(store.listedIDs(), ["s"], "the list")
        },
        SessionStorageCheck(
            "renaming.againIsHarmless", rule: 4,
            "Renaming an id that is not there changes nothing, also where the new one is: so trying again is harmless."
        ) { store in
            try await store.fill("old", SampleData.transcript(5))
            try await store.updateSessionId(oldId: "old", newId: "new")
            let before = try await store.session("new")
            for _ in 0..<2 { try await store.updateSessionId(oldId: "old", newId: "new") }
            try await store.updateSessionId(oldId: "never", newId: "new")
            try await expectEqual(store.session("new"), before, "the session after trying again")
            try await expectEqual(store.listedIDs(), ["new"], "the list")
        },
    ]
}
