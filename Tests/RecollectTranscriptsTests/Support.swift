import Foundation
import RecollectCore
import RecollectSQLite
import Testing

@testable import RecollectTranscripts

/// The files that the tests read, each named after what it shows.
enum Fixtures {
    static func path(_ name: String) throws -> String {
        try #require(Bundle.module.resourceURL).appendingPathComponent("Fixtures/\(name)").path
    }
}

/// A folder that goes when the test is over.
final class TemporaryFolder {
    let path: String

    init() throws {
        let name = "recollect-transcripts-\(UUID().uuidString)"
        path = FileManager.default.temporaryDirectory.appendingPathComponent(name).resolvingSymlinksInPath().path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file, making its folders, and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try write(name, Data(text.utf8))
    }

    @discardableResult
    func write(_ name: String, _ bytes: Data) throws -> String {
        let file = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file)
        return file.path
    }
}

/// A history in memory and what an import into it did.
struct Imported {
    let history = SQLiteHistoryStore(inMemory: HistoryConfiguration())
    let userId = "ada"

    func run(_ paths: String...) async throws -> ImportReport {
        try await TranscriptImporter(history: history, userId: userId).run(paths)
    }

    func fixture(_ names: String...) async throws -> ImportReport {
        try await TranscriptImporter(history: history, userId: userId).run(names.map { try Fixtures.path($0) })
    }

    func sessions() async throws -> [Session] {
        try await history.sessions(of: userId, sessionIdPrefix: "", limit: 1_000)
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
        try await history.messages(
            of: session.id, agentId: agentId, page: PageRequest(limit: 1_000_000)
        ).elements
    }

    /// A session as an export.
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
