import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

@Suite("Interrupted imports")
struct InterruptedImportTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// An export of a session with every field of a header.
    private func export(_ session: String, messages: Int, tags: [JSONValue] = ["work", "harbour"]) -> String {
        let header: JSONValue = [
            "recollect": "history", "version": 1,
            "session": [
                "id": .string(session), "title": "Mine", "workingDirectory": "/w", "tags": .array(tags),
                "isPinned": true, "isArchived": true, "metadata": ["k": [1]],
            ],
        ]
        let lines = (0..<messages).map { number -> JSONValue in
            [
                "id": .string("m\(number)"), "role": number.isMultiple(of: 2) ? "user" : "assistant",
                "timestamp": .integer(1_700_000_000_000 + Int64(number)), "agentId": number < 5 ? "a" : "b",
                "parts": [["text": ["_0": .string("text \(number)")]]],
            ]
        }
        return ([header] + lines).map { $0.jsonString + "\n" }.joined()
    }

    /// Imports in batches of two messages, and cancels the import after the given number of batches.
    private func interrupt(_ imported: Imported, after batches: Int) async {
        let count = Locked(0)
        let task = Task { [history = imported.history, userId = imported.userId, path = folder.path] in
            var importer = TranscriptImporter(history: history, userId: userId)
            importer.batchSize = 2
            _ = try await importer.run([path]) { _ in
                let isLast = count.withLock { count in
                    count += 1
                    return count == batches
                }
                if isLast { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("An import interrupted at any batch and repeated gives the same sessions as an uninterrupted import")
    func repeated() async throws {
        try folder.write("a.jsonl", export("first", messages: 7))
        try folder.write("b.jsonl", export("second", messages: 4, tags: []))
        try folder.write("c.jsonl", userLine("1", session: "third") + userLine("2", session: "third"))
        let whole = Imported()
        _ = try await whole.run(folder.path)
        let expected = try await whole.sessions()
        #expect(expected.map(\.tags) == [["harbour", "work"], [], []])
        #expect(expected.map(\.isPinned) == [true, true, false])
        #expect(expected.allSatisfy { !$0.isUnread })
        for batches in 1...6 {
            let imported = Imported()
            await interrupt(imported, after: batches)
            _ = try await imported.run(folder.path)
            #expect(try await imported.sessions() == expected, "interrupted after \(batches) batches")
        }
    }

    @Test("An interrupted import of new messages leaves a read session read, and an unread session unread")
    func growing() async throws {
        try folder.write("a.jsonl", export("first", messages: 4))
        let (read, unread) = (Imported(), Imported())
        for imported in [read, unread] { _ = try await imported.run(folder.path) }
        let id = try await read.only().id
        try await unread.history.update(id, with: SessionDetails(isRead: false))
        try folder.write("a.jsonl", export("first", messages: 9))
        for (imported, isUnread) in [(read, false), (unread, true)] {
            await interrupt(imported, after: 3)
            #expect(try await imported.only().isUnread == isUnread)
            _ = try await imported.run(folder.path)
            #expect(try await imported.only().isUnread == isUnread)
            #expect(try await imported.only().messageCount == 9)
        }
    }

    @Test("Changes by the user between an interrupted import and the next one stay")
    func changedBetween() async throws {
        try folder.write("a.jsonl", export("first", messages: 9))
        let imported = Imported()
        await interrupt(imported, after: 2)
        let id = try await imported.only().id
        try await imported.history.update(
            id,
            with: SessionDetails(
                title: "Another", isPinned: false, isArchived: false, isRead: false, removedTags: ["work"]))
        _ = try await imported.run(folder.path)
        let session = try await imported.only()
        #expect((session.title, session.tags) == ("Another", ["harbour"]))
        #expect((session.isPinned, session.isArchived, session.isUnread) == (false, false, true))
        #expect(session.metadata.keys.sorted() == ["k"])
    }
}
