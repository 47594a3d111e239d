import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@testable import RecollectTranscripts

/// The test files, each named after its content.
enum Fixtures {
    static func path(_ name: String) throws -> String {
        try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures/\(name)").path
    }
}

/// A history in memory, and imports into it.
struct Imported {
    let history = SQLiteHistoryStore.inMemory()
    let userId = "ada"

    func run(_ paths: String...) async throws -> ImportReport {
        try await TranscriptImporter(history: history, userId: userId).run(paths)
    }

    func fixture(_ names: String...) async throws -> ImportReport {
        try await TranscriptImporter(history: history, userId: userId).run(names.map { try Fixtures.path($0) })
    }

    func sessions() async throws -> [Session] {
        try await history.allSessions(of: userId)
    }

    func only() async throws -> Session {
        let all = try await sessions()
        try #require(all.count == 1)
        return all[0]
    }

    func messages(_ session: Session, agentId: String? = nil) async throws -> [ConversationMessage] {
        try await stored(session, agentId: agentId).map(\.message)
    }

    func stored(_ session: Session, agentId: String? = nil) async throws -> [StoredMessage] {
        try await history.allMessages(in: session, agentId: agentId)
    }

    /// The export of a session.
    func export(_ session: Session, _ format: SessionExporter.Format) async throws -> String {
        var bytes: [UInt8] = []
        try await SessionExporter(history: history).export(session.id, as: format) { bytes += $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A user line of a transcript.
func userLine(_ uuid: String, _ text: String = "hello", session: String = "s") -> String {
    let message: JSONValue = [
        "type": "user", "uuid": .string(uuid), "sessionId": .string(session), "timestamp": "2026-02-03T09:00:00.000Z",
        "message": ["role": "user", "content": .string(text)],
    ]
    return message.jsonString + "\n"
}
