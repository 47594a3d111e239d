import RecollectCore

/// Checks of rule 6: concurrent calls lose no messages.
enum SessionConcurrencyChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "parallel.differentSessions", rule: 6, "32 concurrent tasks writing separate sessions lose no message.",
            needs: .concurrent
        ) { store in
            try await together(taskCount) { task in
                try await store.saveSession(id: "s\(task)", firstMessage: "first of s\(task)")
                for count in 1...4 {
                    try await store.updateSessionMessages(
                        id: "s\(task)", messages: SampleData.transcript(count, "\(task)."))
                }
            }
            try await expectEqual(
                store.listedIDs().sorted(), (0..<taskCount).map { "s\($0)" }.sorted(), "the list, sorted")
            for task in 0..<taskCount {
                let session = try await store.session("s\(task)")
                try expectTranscript(
                    session.messages, SampleData.transcript(4, "\(task)."), "the session of task \(task)")
                try expectEqual(session.firstUserMessage, "first of s\(task)", "the first message of task \(task)")
            }
        },
        SessionStorageCheck(
            "parallel.touchesLoseNoMessages", rule: 6,
            "Concurrent touches and saves of a session lose no message of its growing transcript.",
            needs: .concurrent
        ) { store in
            try await store.saveSession(id: "s", firstMessage: "hello")
            try await together(8) { task in
                for count in 1...12 {
                    switch task {
                    case 0: try await store.updateSessionMessages(id: "s", messages: SampleData.transcript(count))
                    case 1, 2: try await store.saveSession(id: "s", firstMessage: "again")
                    case 3: try await store.fill("other", SampleData.transcript(count, "other "))
                    default: try await store.updateLastAccessed(id: "s")
                    }
                }
            }
            try await expectTranscript(store.transcript(of: "s"), SampleData.transcript(12), "the transcript")
            try await expectEqual(store.session("s").firstUserMessage, "hello", "the first message")
        },
        SessionStorageCheck(
            "parallel.transcriptsStayIntact", rule: 6,
            "Each transcript saved concurrently to one session is stored completely and in order, or replaced.",
            needs: .concurrent
        ) { store in
            for round in 0..<4 {
                let shared = SampleData.transcript(2, "shared ")
                let tails = (0..<16).map { SampleData.transcript(5, "\(round) \($0).") }
                try await together(16) { task in
                    try await store.updateSessionMessages(id: "s\(round)", messages: shared + tails[task])
                }
                let came = try await store.transcript(of: "s\(round)")
                let whole = tails.filter { tail in
                    came.filter { message in tail.contains { $0.id == message.id } }.map(\.id) == tail.map(\.id)
                }
                try expectEqual(came.prefix(2).map(\.id), shared.map(\.id), "the common beginning of all transcripts")
                try expect(
                    !whole.isEmpty && came.count == 2 + whole.count * 5,
                    "2 common messages and complete transcripts of 5 messages",
                    actual: "\(came.count) messages, \(whole.count) complete transcripts")
            }
        },
        SessionStorageCheck(
            "parallel.readersSeeCompleteTranscripts", rule: 6,
            "A read during a save returns the whole new transcript or the whole previous one.",
            needs: .concurrent
        ) { store in
            try await store.fill("s", SampleData.transcript(6, "0."))
            try await together(8) { task in
                for round in 1...8 {
                    if task == 0 {
                        try await store.updateSessionMessages(id: "s", messages: SampleData.transcript(6, "\(round)."))
                        continue
                    }
                    let came = try await store.transcript(of: "s").map(\.id)
                    let whole = (0...8).contains { SampleData.transcript(6, "\($0).").map(\.id) == came }
                    try expect(whole, "a complete transcript of 6 messages", actual: "\(came.count) messages")
                }
            }
        },
        SessionStorageCheck(
            "parallel.concurrentRenames", rule: 6,
            "The same rename in 16 concurrent tasks moves the messages once.",
            needs: .concurrent
        ) { store in
            for round in 0..<4 {
                let (old, new) = ("old \(round)", "new \(round)")
                try await store.fill(old, SampleData.transcript(4))
                if round.isMultiple(of: 2) { try await store.fill(new, SampleData.transcript(6)) }
                try await together(16) { _ in try await store.updateSessionId(oldId: old, newId: new) }
                let expected = SampleData.transcript(round.isMultiple(of: 2) ? 6 : 4)
                try await expectTranscript(store.transcript(of: new), expected, "the transcript of round \(round)")
                try await expectEqual(store.getSession(id: old), nil, "the session under the old ID in round \(round)")
            }
        },
    ]

    private static let taskCount = 32
}
