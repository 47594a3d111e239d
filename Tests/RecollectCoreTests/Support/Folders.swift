import Foundation

@testable import RecollectCore

/// A folder for one test, removed with the test's last reference to it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = Self.base.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// In memory if the system supports it: thousands of syncs would make a busy disk the slowest part of the tests.
    /// Tests that need a disk use a disk of their own.
    private static let base: URL = {
        let memory = "/dev/shm"
        let isThere = FileManager.default.isWritableFile(atPath: memory)
        return isThere ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
    }()

    /// The file of user `u`, session `s`.
    func file(agent: String = "a") -> URL {
        url.appendingPathComponent("u/s/\(agent).json")
    }

    /// The names in the folder of user `u`, session `s`.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent("u/s").path).sorted()
    }

    /// Writes a scope's file as another program would.
    func write(_ bytes: some Sequence<UInt8>, agent: String = "a") throws {
        let file = file(agent: agent)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }
}

/// Calls with the scope that most tests use.
extension ChatStorage {
    func save(
        _ messages: [ConversationMessage], agent: String = "a", session: String = "s", user: String = "u",
        budget: Int? = nil
    ) async throws {
        try await saveMessages(messages, userId: user, sessionId: session, agentId: agent, maxMessages: budget)
    }

    func load(agent: String = "a", session: String = "s", user: String = "u", budget: Int? = nil) async throws
        -> [ConversationMessage]
    {
        try await fetch(userId: user, sessionId: session, agentId: agent, maxMessages: budget)
    }
}

/// A user message and its reply, with IDs that begin with the number.
func turn(_ number: Int, text: String = "text") -> [ConversationMessage] {
    let date = Date(millisecondsSince1970: 1_700_000_000_000 + Int64(number) * 1000)
    return [
        ConversationMessage(id: "\(number)-q", role: .user, text: "\(text) \(number)?", timestamp: date),
        ConversationMessage(id: "\(number)-a", role: .assistant, text: "\(text) \(number)!", timestamp: date),
    ]
}

func turns(_ numbers: some Sequence<Int>) -> [ConversationMessage] {
    numbers.flatMap { turn($0) }
}
