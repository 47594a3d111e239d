import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// A folder that is removed at the end of the test.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do { try FileManager.default.removeItem(at: url) } catch { print("left behind: \(url.path)") }
    }

    /// A history in this folder. It indexes only when searched, so that tests control the order of events.
    func history(durability: Durability = .full, retention: Retention = .everything) -> SQLiteHistoryStore {
        SQLiteHistoryStore(
            directory: url,
            configuration: HistoryConfiguration(
                durability: durability, retention: retention, indexesInBackground: false))
    }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }
}

extension SQLiteHistoryStore {
    /// Waits until everything deleted is erased, for at most five minutes, because other tests run at the same time.
    func erasesAll() async throws -> Bool {
        try await waitUntilErased(atMost: .seconds(300)).isComplete
    }
}

let scope = Scope(userId: "ann", sessionId: "s", agentId: "a")

/// A history in memory.
func memory() -> SQLiteHistoryStore { SQLiteHistoryStore.inMemory() }

/// Messages that alternate between user and assistant, one second apart.
func messages(_ range: Range<Int>, prefix: String = "m") -> [ConversationMessage] {
    range.map {
        ConversationMessage(
            id: "\(prefix)\($0)", role: $0.isMultiple(of: 2) ? .user : .assistant, text: "text \($0)",
            timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double($0)))
    }
}

/// Calls `body` and expects a `RecollectError` with that code.
func expectError(
    _ code: RecollectError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
    do {
        try await body()
        Issue.record("expected \(code.rawValue), but nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as RecollectError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected \(code.rawValue), got \(error)", sourceLocation: sourceLocation)
    }
}
