import RecollectCore

/// Checks of rule 1 for session IDs.
enum SessionIDChecks {
    static let all: [SessionStorageCheck] = [
        SessionStorageCheck(
            "sessions.anyStringIsValidID", rule: 1,
            "Any string is a valid session ID; IDs are compared as bytes, and sessions stay separate."
        ) { store in
            try await expectApart(EdgeCaseIDs.all.filter { !$0.contains("\u{0}") }, in: store)
        },
        SessionStorageCheck(
            "sessions.keepsNULInIDs", rule: 1, "U+0000 in a session ID is preserved and does not terminate it.",
            needs: .keepsNUL
        ) { store in
            try await expectApart(["a", "a\u{0}", "a\u{0}b", "\u{0}", "b\u{0}", "b"], in: store)
        },
        SessionStorageCheck(
            "sessions.idsSharingPrefixOrSuffix", rule: 1,
            "Sessions with IDs sharing a prefix or suffix are separate, even when one is deleted."
        ) { store in
            let ids =
                EdgeCaseIDs.separators.filter { !$0.isEmpty && !$0.contains("\u{0}") }.flatMap {
                    ["a\($0)b", "a\($0)b\($0)messages", "a\($0)"]
                } + ["a", "b", "messages", "session", "sessions"]
            try await expectApart(ids, in: store)
        },
    ]

    /// Saves a session for each ID and expects each unchanged, then deletes every second one and expects the others.
    private static func expectApart(
        _ ids: [String], in store: any SessionStorageProtocol & Sendable
    ) async throws {
        for (number, id) in ids.enumerated() {
            try await store.saveSession(id: id, firstMessage: "first \(number)")
            try await store.updateSessionMessages(id: id, messages: SampleData.transcript(1, "\(number)."))
        }
        try await expectThese(Array(ids.enumerated()), in: store)
        for (number, id) in ids.enumerated() where number.isMultiple(of: 2) { try await store.deleteSession(id: id) }
        try await expectThese(ids.enumerated().filter { !$0.offset.isMultiple(of: 2) }, in: store)
    }

    private static func expectThese(
        _ ids: [(offset: Int, element: String)], in store: any SessionStorageProtocol & Sendable
    ) async throws {
        let listed = try await store.listedIDs().map { Array($0.utf8) }
        try expectEqual(
            listed.sorted { $0.lexicographicallyPrecedes($1) },
            ids.map { Array($0.element.utf8) }.sorted { $0.lexicographicallyPrecedes($1) },
            "listed IDs as bytes, sorted")
        for (number, id) in ids {
            let session = try await store.session(id)
            try expect(
                session.id.hasSameBytes(as: id), "the ID \(id.debugDescription)", actual: session.id.debugDescription)
            try expectEqual(session.firstUserMessage, "first \(number)", "the first message of \(id.debugDescription)")
            try expectTranscript(
                session.messages, SampleData.transcript(1, "\(number)."), "the transcript of \(id.debugDescription)")
        }
    }
}
