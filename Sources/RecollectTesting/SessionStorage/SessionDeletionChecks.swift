import RecollectCore

/// Checks of deleting sessions.
enum SessionDeletionChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "removal.ofOneSession", "A deleted session is removed with its messages; other sessions are unchanged."
        ) { store in
            for id in ["a", "b", "c"] { try await store.fill(id, SampleData.transcript(3, id)) }
            let others = [try await store.session("a"), try await store.session("c")]
            for _ in 0..<2 { try await store.deleteSession(id: "b") }
            try await expectEqual(store.getSession(id: "b"), nil, "the deleted session")
            try await expectEqual(store.listedIDs().sorted(), ["a", "c"], "the list, sorted")
            for other in others { try await expectEqual(store.session(other.id), other, "session \(other.id)") }
        },
        SessionStorageCheck(
            "removal.ofAllSessions", "After deleteAllSessions, no session exists, and new ones can be saved."
        ) { store in
            for number in 0..<12 { try await store.fill("s\(number)", SampleData.transcript(2)) }
            try await store.deleteAllSessions()
            try await expectEqual(store.listedIDs(), [], "the list")
            try await store.deleteAllSessions()
            for number in 0..<12 { try await expectEqual(store.getSession(id: "s\(number)"), nil, "session \(number)") }
            try await store.fill("s3", SampleData.transcript(1, "new "))
            try await expectTranscript(store.transcript(of: "s3"), SampleData.transcript(1, "new "), "a new session")
            try await expectEqual(store.listedIDs(), ["s3"], "the list afterwards")
        },
        SessionStorageCheck(
            "removal.messagesStayDeleted",
            "A session saved after its deletion is new and may contain the same messages again."
        ) { store in
            let messages = SampleData.transcript(4)
            for round in 0..<4 {
                try await store.saveSession(id: "s", firstMessage: "round \(round)")
                let fresh = try await store.session("s")
                try expectEqual(fresh.firstUserMessage, "round \(round)", "the first message of round \(round)")
                try expectTranscript(fresh.messages, [], "the transcript of round \(round)")
                try await store.updateSessionMessages(id: "s", messages: messages)
                try await expectTranscript(
                    store.transcript(of: "s"), messages, "the saved transcript of round \(round)")
                if round.isMultiple(of: 2) {
                    try await store.deleteSession(id: "s")
                } else {
                    try await store.deleteAllSessions()
                }
            }
        },
    ]
}
