import Foundation
import RecollectCore

/// Checks of rule 7: saved messages are there after the same location is opened again.
enum PersistenceChecks {
    static let all: [ChatStorageCheck] = [
        ChatStorageCheck(
            "persistence.keepsEverything", rule: 7, "After reopening a location, every scope is unchanged.",
            needs: .persistent,
            trial: { trial in
                let scopes =
                    EdgeCaseIDs.all.filter { !$0.contains("\u{0}") }.map { Scope.plain.agent($0) }
                    + [.plain, Scope.plain.session(""), Scope.plain.user("..")]
                let messages = Self.messages
                try await saving(trial) { store in
                    for (number, scope) in scopes.enumerated() {
                        try await store.add(messages.map { $0.with(id: "\(number).\($0.id)") }, to: scope)
                    }
                }
                let store = try await trial.open()
                for (number, scope) in scopes.enumerated() {
                    let expected = messages.map { $0.with(id: "\(number).\($0.id)") }
                    try await expectMessages(store.messages(in: scope), expected, "\(scope.shown) after reopening")
                }
                let merged = try await store.merged(SessionKey(userId: "user", sessionId: ""))
                try expectEqual(merged.count, messages.count, "the number of messages in fetchAllChats after reopening")
            }),
        ChatStorageCheck(
            "persistence.keepsTrimmedWindows", rule: 7, "After reopening a location, trimmed windows stay trimmed.",
            needs: .persistent,
            trial: { trial in
                try await saving(trial) { store in
                    try await store.add(SampleData.dialogue(10), to: .plain, keeping: 4)
                    try await store.add(SampleData.dialogue(10), to: Scope.plain.session("emptied"), keeping: 0)
                }
                let store = try await trial.open()
                try await expectIDs(
                    store.messages(in: .plain), ["m6", "m7", "m8", "m9"], "a window of 4 messages after reopening")
                try await expectMessages(
                    store.messages(in: Scope.plain.session("emptied")), [], "an emptied window after reopening")
            }),
        ChatStorageCheck(
            "persistence.continuesAfterReopening", rule: 7,
            "After reopening, known IDs are recognized, repeated roles dropped, and new messages appended.",
            needs: [.persistent, .dropsSameRole],
            trial: { trial in
                let messages = SampleData.dialogue(4)
                try await saving(trial) { try await $0.add(messages, to: .plain) }
                try await saving(trial) { store in
                    try await store.add(messages, to: .plain)
                    try await store.add(SampleData.message(.assistant, "repeats"), to: .plain)
                    try await store.add(SampleData.message(.user, "new", at: -1), to: .plain)
                }
                let store = try await trial.open()
                try await expectIDs(
                    store.messages(in: .plain), messages.map(\.id) + ["new"], "messages after reopening twice")
            }),
        ChatStorageCheck(
            "persistence.savedBeforeReturning", rule: 7,
            "A second instance reads saved messages as soon as the save has returned.",
            needs: [.durable, .sharesLocation],
            trial: { trial in
                let (writer, reader) = (try await trial.open(), try await trial.open())
                for start in stride(from: 0, to: 10, by: 2) {
                    try await writer.add(SampleData.dialogue(2, from: start), to: .plain)
                    let expected = SampleData.dialogue(start + 2)
                    try await expectMessages(reader.messages(in: .plain), expected, "messages of the second instance")
                }
            }),
        ChatStorageCheck(
            "persistence.instancesShareLocation", rule: 6,
            "Two instances saving concurrently to one location lose nothing.",
            needs: [.persistent, .sharesLocation, .concurrent],
            trial: { trial in
                let stores = [try await trial.open(), try await trial.open()]
                try await together(16) { task in
                    for start in stride(from: 0, to: 8, by: 2) {
                        let batch = SampleData.dialogue(2, "\(task).", from: start)
                        try await stores[task % 2].add(batch, to: .plain)
                    }
                }
                let wanted = (0..<16).flatMap { task in (0..<8).map { "\(task).\($0)" } }
                for store in stores + [try await trial.open()] {
                    let came = try await store.messages(in: .plain).map(\.id)
                    try expectEqual(came.sorted(), wanted.sorted(), "IDs saved by two instances, sorted")
                    for start in stride(from: 0, to: came.count, by: 2) {
                        let task = came[start].prefix { $0 != "." }
                        try expect(
                            came[start + 1].hasPrefix("\(task)."), "a contiguous batch",
                            actual: "\(came[start...(start + 1)])")
                    }
                }
            }),
    ]

    /// Opens the location, calls `work` to save, and releases the store.
    private static func saving(
        _ trial: Trial<any ChatStorage>, _ work: (any ChatStorage) async throws -> Void
    ) async throws {
        try await work(try await trial.open())
    }

    /// Messages of each kind: text, a tool exchange, a foreign role and part, a date before 1970.
    private static let messages: [ConversationMessage] = [
        SampleData.message(.user, "u", "Grüße \u{1F980}\r\n"), SampleData.call("c", of: "1"),
        SampleData.result("r", of: "1"),
        ConversationMessage(
            id: "x", role: Role(rawValue: "critic"), parts: [.unknown(["hologram": ["depth": 0.1]])],
            timestamp: Date(millisecondsSince1970: -1), metadata: ["model": "m", "usage": ["input": 12]]),
    ]
}
