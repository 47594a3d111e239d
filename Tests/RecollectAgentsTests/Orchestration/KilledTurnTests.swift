import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Process death during a turn", .needs(.processes))
struct KilledTurnTests {
    @Test(
        "A killed process loses no finished message, and the next turn works",
        arguments: [("history:", 1), ("history:", 40), ("history:", 150), ("", 1), ("", 40)])
    func killed(kind: String, pieces: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let worker = try Worker(["turns", kind + folder.path, "drop", "3", "1000000"])
        let said = await worker.wait(forLines: 4 + pieces)
        worker.kill()
        _ = await worker.finish()
        try #require(said.contains("kept 0 1 2 "))

        let store: any ChatStorage =
            kind.isEmpty
            ? FileChatStorage(baseURL: folder)
            : DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "u")
        let given = Locked<[ConversationMessage]>([])
        let agent = ScriptedAgent { _, history, say in
            given.withLock { $0 = history }
            say(.textDelta("still here"))
        }
        let orchestrator = Orchestrator(agents: [agent], store: store)
        for try await _ in orchestrator.route("and?", userId: "u", sessionId: "s") {}

        let saved = try await store.fetch(userId: "u", sessionId: "s", agentId: "agent", maxMessages: nil)
        #expect(saved.map(\.role) == [.user, .assistant, .user, .assistant, .user, .assistant])
        #expect(saved.map(\.isInterrupted) == [false, false, false, true, false, false])
        #expect(saved[1].text == "0 1 2 ")
        #expect(saved[5].text == "still here")
        #expect(given.withLock { $0 } == saved.dropLast(2).wholeExchanges())
        if !kind.isEmpty, pieces == 150 {
            // After more than half a second of the reply, part of it was on disk.
            let count = saved[3].text.split(separator: " ").count
            let whole = (0..<count).map { "\($0) " }.joined()
            #expect(!saved[3].text.isEmpty && whole.hasPrefix(saved[3].text))
            #expect(saved[3].parts.first == .toolCall(id: "call", name: "count", arguments: [:]))
        }
    }
}
