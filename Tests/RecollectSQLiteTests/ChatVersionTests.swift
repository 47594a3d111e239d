import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Session versions")
struct ChatVersionTests {
    private let session = SessionKey(userId: "u", sessionId: "s")
    private var scope: Scope { session.scope(agentId: "a") }

    @Test("Every write that changes a session's messages changes its version")
    func everyWrite() async throws {
        let folder = try TemporaryFolder()
        let history = SQLiteHistoryStore(
            directory: folder.url, configuration: HistoryConfiguration(durability: .relaxed, indexesInBackground: false)
        )
        let storage = DeviceChatStorage(history: history, userId: "u")
        func message(_ number: Int) -> ConversationMessage {
            ConversationMessage(id: "\(number)", role: number.isMultiple(of: 2) ? .user : .assistant, text: "text")
        }
        var branch: SessionKey?
        let writes: [(String, () async throws -> Void)] = [
            ("a save", { try await history.append((0..<6).map(message), to: scope) }),
            (
                "a trim alone",
                {
                    try await storage.saveMessages(
                        [], userId: "u", sessionId: "s", agentId: "a", maxMessages: 4)
                }
            ),
            (
                "an edit",
                { try await history.edit([ConversationMessage(id: "3", role: .user, text: "!")], in: session) }
            ),
            ("a branch", { branch = try await history.branch(session, from: "4") }),
            (
                "the return of the branch",
                { try await history.restoreBranch(try #require(branch), in: session) }
            ),
            ("a deletion", { try await history.deleteMessages(["5"], in: session) }),
            (
                "the end of a reply",
                { try await history.beginReply(message(7), in: scope).finish() }
            ),
            ("another agent's save", { try await history.append([message(9)], to: session.scope(agentId: "b")) }),
            ("the deletion of the session", { try await history.deleteSession(session) }),
        ]
        var versions = [try await storage.version(userId: "u", sessionId: "s")]
        var views = [try await storage.fetchAllChats(userId: "u", sessionId: "s")]
        for (name, write) in writes {
            try await write()
            versions.append(try await storage.version(userId: "u", sessionId: "s"))
            views.append(try await storage.fetchAllChats(userId: "u", sessionId: "s"))
            #expect(views[views.count - 2] != views[views.count - 1], "\(name)")
        }
        #expect(!versions.contains(nil))
        #expect(Set(versions).count == versions.count)
        let again = try await storage.version(userId: "u", sessionId: "s")
        #expect(again == versions.last)
    }

    @Test("Reopening a history changes a session's version, since its files may have been replaced")
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let history = SQLiteHistoryStore(directory: folder.url)
        let storage = DeviceChatStorage(history: history, userId: "u")
        try await history.append([ConversationMessage(id: "1", role: .user, text: "")], to: scope)
        let version = try await storage.version(userId: "u", sessionId: "s")
        await history.close()
        #expect(try await storage.version(userId: "u", sessionId: "s") != version)
    }

    @Test(
        "A cache returns messages saved by another process at once", .needs(.processes), arguments: ["", "history:"])
    func otherProcesses(_ kind: String) async throws {
        let folder = try TemporaryFolder()
        let below: any ChatStorage =
            kind.isEmpty
            ? FileChatStorage(baseURL: folder.url)
            : DeviceChatStorage(history: SQLiteHistoryStore(directory: folder.url), userId: "u")
        let storage = CachingChatStorage(wrapping: below, lifetime: .seconds(3600))
        func load() async throws -> Int {
            try await storage.fetch(userId: "u", sessionId: "s", agentId: "a", maxMessages: nil).count
        }
        #expect(try await load() == 0)
        let worker = try Worker(["append", kind + folder.url.path, "a", "w", "40", "0", "0"])
        var saved = 0
        while saved < 40 {
            let lines = await worker.wait(forLines: 1)
            guard lines.count > saved else { break }
            saved = lines.count
            // The worker has saved at least the turns it printed.
            #expect(try await load() >= 2 * saved)
            #expect(try await storage.fetchAllChats(userId: "u", sessionId: "s").count >= 2 * saved)
        }
        _ = await worker.finish()
        #expect(try await load() == 80)
    }
}
