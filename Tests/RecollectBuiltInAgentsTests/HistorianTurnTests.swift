import Foundation
import RecollectAgents
import RecollectBuiltInAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Historian in an orchestrator")
struct HistorianTurnTests {
    /// The store of the orchestrator: files, or the history that the historian searches.
    enum Keeping: String, CaseIterable, CustomTestStringConvertible {
        case file, device

        var testDescription: String { rawValue }
    }

    /// Runs `body` like a process of its own: with a history and a store that are opened for this call.
    private func process<Value>(
        _ keeping: Keeping, in folder: TemporaryFolder,
        _ body: (SQLiteHistoryStore, any ChatStorage, Orchestrator) async throws -> Value
    ) async throws -> Value {
        let history = SQLiteHistoryStore(directory: folder.url.appendingPathComponent("history"))
        let store: any ChatStorage =
            switch keeping {
            case .file: FileChatStorage(baseURL: folder.url.appendingPathComponent("chats"))
            case .device: DeviceChatStorage(history: history, userId: "user")
            }
        let historian = HistorianAgent(history: history, calendar: utc, now: { morning })
        let value = try await body(history, store, Orchestrator(agents: [historian], store: store))
        await history.close()
        return value
    }

    @Test(
        "“More” and “anywhere” continue after restarts, from the quotes in saved replies", arguments: Keeping.allCases
    )
    func restarts(keeping: Keeping) async throws {
        let folder = try TemporaryFolder()
        let first = try await process(keeping, in: folder) { history, _, orchestrator in
            let messages = (0..<8).map { number in
                ConversationMessage(
                    id: "said \(number)", role: number.isMultiple(of: 2) ? .user : .assistant, text: "budget \(number)",
                    timestamp: morning.addingTimeInterval(Double(number - (number == 7 ? 1_000_000 : 100_000))))
            }
            try await history.append(messages, to: Scope(userId: "user", sessionId: "plans", agentId: "coder"))
            return try #require(
                try await orchestrator.say(asked("What did we say about the budget yesterday?", id: "1")).reply)
        }
        #expect(first.quotes.count == 5)
        let second = try await process(keeping, in: folder) { _, store, orchestrator in
            #expect(try await store.all("historian").map(\.quotes) == [[], first.quotes])
            return try #require(try await orchestrator.say(asked("more", id: "2")).reply)
        }
        #expect(Set((first.quotes + second.quotes).map(\.messageId)) == Set((0..<7).map { "said \($0)" }))
        #expect(second.quotes.count == 2)
        let third = try await process(keeping, in: folder) { _, _, orchestrator in
            try #require(try await orchestrator.say(asked("anywhere", id: "3")).reply)
        }
        #expect(third.quotes.map(\.messageId) == ["said 7"])
        let last = try await process(keeping, in: folder) { _, _, orchestrator in
            try #require(try await orchestrator.say(asked("more", id: "4")).reply)
        }
        #expect(last.quotes.isEmpty && last.text.contains("all I found"))
    }
}
