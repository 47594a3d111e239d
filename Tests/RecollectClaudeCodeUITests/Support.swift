import Foundation
import RecollectCore
import RecollectSQLite
import Testing

/// A folder removed after the test.
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

    /// Writes a file, creates its folders, and returns its path.
    @discardableResult
    func write(_ name: String, _ bytes: Data) throws -> String {
        let file = URL(fileURLWithPath: path).appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file)
        return file.path
    }
}

/// A history in memory, for imports.
struct Imported {
    let history = SQLiteHistoryStore(inMemory: HistoryConfiguration())
    let userId = "ada"

    func sessions() async throws -> [Session] {
        try await history.sessions(of: userId, sessionIdPrefix: "", limit: 1_000)
    }

    func only() async throws -> Session {
        let all = try await sessions()
        try #require(all.count == 1)
        return all[0]
    }

    func messages(_ session: Session) async throws -> [ConversationMessage] {
        try await history.messages(of: session.id, agentId: nil, page: PageRequest(limit: 1_000_000)).elements.map(
            \.message)
    }
}
