import RecollectCore

/// Rule 6: calls of many tasks at once lose nothing.
enum SessionConcurrencyChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "parallel.differentSessions", rule: 6, "32 tasks that each write a session of their own lose no message.",
            needs: .concurrent
        ) { store in
            try await together(taskCount) { task in
                try await store.saveSession(id: "s\(task)", firstMessage: "first of s\(task)")
                for count in 1...4 {
                    try await store.updateSessionMessages(
                        id: "s\(task)", messages: Invented.transcript(count, "\(task)."))
                }
            }
            try await expectEqual(
                store.listedIDs().sorted(), (0..<taskCount).map { "s\($0)" }.sorted(), "the list, sorted")
            for task in 0..<taskCount {
                let session = try await store.session("s\(task)")
                try expectTranscript(
                    session.messages, Invented.transcript(4, "\(task)."), "the session of task \(task)")
                try expectEqual(session.firstUserMessage, "first of s\(task)", "its first message")
            }
        },
        SessionStorageCheck(
            "parallel.touchesLoseNoMessages", rule: 6,
            "While a transcript grows, others that open its session or save it anew take nothing from it.",
            needs: .concurrent
        ) { store in
            try await store.saveSession(id: "s", firstMessage: "hello")
            try await together(8) { task in
                for count in 1...12 {
                    switch task {
                    case 0: try await store.updateSessionMessages(id: "s", messages: Invented.transcript(count))
                    case 1, 2: try await store.saveSession(id: "s", firstMessage: "again")
                    case 3: try await store.fill("other", Invented.transcript(count, "other "))
                    default: try await store.updateLastAccessed(id: "s")
                    }
                }
            }
            try await expectTranscript(store.transcript(of: "s"), Invented.transcript(12), "the transcript")
            try await expectEqual(store.session("s").firstUserMessage, "hello", "the first message")
        },
        SessionStorageCheck(
            "parallel.transcriptsStayWhole", rule: 6,
            "Transcripts of one session that are saved at the same time are each there whole or replaced by another.",
            needs: .concurrent
        ) { store in
            for round in 0..<4 {
                let shared = Invented.transcript(2, "shared ")
                let own = (0..<16).map { Invented.transcript(5, "\(round) \($0).") }
                try await together(16) { task in
                    try await store.updateSessionMessages(id: "s\(round)", messages: shared + own[task])
                }
                // A storage may keep what another save, which it had not shown to anyone, has added meanwhile.
                let came = try await store.transcript(of: "s\(round)").map(\.id)
                var left = came.filter { id in !shared.contains { $0.id == id } }
                let kept = own.filter { $0.contains { left.contains($0.id) } }
                for messages in kept {
                    let ids = messages.map(\.id)
                    try expect(
                        left.filter(ids.contains) == ids, "5 messages of a save in order, or none",
                        came: "\(left.filter(ids.contains).count)")
                    left.removeAll(where: ids.contains)
                }
                try expect(
                    !kept.isEmpty && left.isEmpty && came.count == 2 + kept.count * 5, "whole transcripts",
                    came: "\(came.count) messages")
            }
        },
        SessionStorageCheck(
            "parallel.readersSeeWholeTranscripts", rule: 6,
            "A reader beside a writer sees all of a transcript or the one before.",
            needs: .concurrent
        ) { store in
            try await store.fill("s", Invented.transcript(6, "0."))
            try await together(8) { task in
                for round in 1...8 {
                    if task == 0 {
                        try await store.updateSessionMessages(id: "s", messages: Invented.transcript(6, "\(round)."))
                        continue
                    }
                    let came = try await store.transcript(of: "s").map(\.id)
                    let whole = (0...8).contains { Invented.transcript(6, "\($0).").map(\.id) == came }
                    try expect(whole, "a whole transcript of 6 messages", came: "\(came.count) messages")
                }
            }
        },
        SessionStorageCheck(
            "parallel.renamesAtOnce", rule: 6,
            "The same renaming by 16 tasks at the same time moves the messages once.",
            needs: .concurrent
        ) { store in
            for round in 0..<4 {
                let (old, new) = ("old \(round)", "new \(round)")
                try await store.fill(old, Invented.transcript(4))
                if round.isMultiple(of: 2) { try await store.fill(new, Invented.transcript(6)) }
                try await together(16) { _ in try await store.updateSessionId(oldId: old, newId: new) }
                let expected = Invented.transcript(round.isMultiple(of: 2) ? 6 : 4)
                try await expectTranscript(store.transcript(of: new), expected, "the transcript of round \(round)")
                try await expectEqual(store.getSession(id: old), nil, "the old id of round \(round)")
            }
        },
    ]

    private static let taskCount = 32
}
