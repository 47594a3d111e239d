import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A session storage writes the difference between two transcripts, for any change.
@Suite("Saving a transcript") struct SaveTranscriptOperationTests {
    private let history = memory()
    private var sessions: SQLiteSessionStorage { SQLiteSessionStorage(history: history, userId: "u", agentId: "ui") }

    private func entry(_ text: String, _ role: MessageRole = .user) -> ChatMessage {
        ChatMessage(role: role, content: text, timestamp: Date(millisecondsSince1970: 1_700_000_000_000))
    }

    private func contents(_ id: String = "s", _ storage: SQLiteSessionStorage) async throws -> [String] {
        try #require(try await storage.getSession(id: id)).messages.map(\.content)
    }

    @Test("Random edits, insertions, removals and moves are read back by the same storage and by a new one")
    func randomTranscripts() async throws {
        await Seeds.run(60) { seed in
            var random = SeededGenerator(seed: seed)
            let id = "s \(seed)"
            var storage = sessions
            var transcript: [ChatMessage] = []
            for step in 0..<12 {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let position = transcript.isEmpty ? 0 : Int.random(in: 0..<transcript.count, using: &random)
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: transcript.insert(entry("inserted \(step)"), at: position)
                    case 1 where !transcript.isEmpty: transcript.remove(at: position)
                    case 2 where !transcript.isEmpty: transcript[position].content += " edited"
                    case 3 where !transcript.isEmpty: transcript.append(transcript.remove(at: position))
                    case 4: transcript.shuffle(using: &random)
                    default: transcript.append(entry("appended \(step)", .assistant))
                    }
                }
                // A storage that has shown or saved nothing removes nothing, so a new storage reads the session first.
                if Int.random(in: 0..<4, using: &random) == 0 {
                    storage = sessions
                    _ = try await storage.getSession(id: id)
                }
                try await storage.updateSessionMessages(id: id, messages: transcript)
                let saved = try await #require(storage.getSession(id: id)).messages
                #expect(saved == transcript, "step \(step)")
                let count = try await history.session(SessionKey(userId: "u", sessionId: id))?.messageCount
                #expect(count == transcript.count, "step \(step)")
            }
        }
        #expect(try await history.check().problems.isEmpty)
    }
}
