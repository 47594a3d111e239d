import Foundation
import RecollectAgents
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

@Suite("Process death during tool calls")
struct KilledToolRoundTests {
    @Test("The next turn omits the unfinished exchange and keeps the finished one", arguments: [true, false])
    func killed(isHistory: Bool) async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        func store(_ name: String) -> any ChatStorage {
            let folder = root.appendingPathComponent(name)
            return isHistory
                ? DeviceChatStorage(history: SQLiteHistoryStore(directory: folder), userId: "user")
                : FileChatStorage(baseURL: folder)
        }
        let tools = [
            AgentTool(name: "clock", description: "Tells the time.") { _, _ in .text("noon") },
            AgentTool(name: "hang", description: "Never ends.") { _, _ in
                try await Gate().wait()
                return .text("never")
            },
        ]
        func orchestrator(_ model: ScriptedModel, over store: any ChatStorage) -> Orchestrator {
            Orchestrator(agents: [Agent(name: "Agent", description: "", model: model, tools: tools)], store: store)
        }

        let asked = ScriptedModel(
            says: [.textDelta("Let me see. "), .toolCall(id: "a", name: "clock", arguments: [:])],
            [.toolCall(id: "b", name: "hang", arguments: [:])])
        let first = orchestrator(asked, over: store("before"))
        for try await event in first.route("What time is it?", userId: "user", sessionId: "session") {
            guard case .toolCall(_, "hang", _) = event else { continue }
            // A copy of the folder at this point is what a killed process leaves.
            try FileManager.default.copyItem(
                at: root.appendingPathComponent("before"), to: root.appendingPathComponent("after"))
            break
        }
        await first.waitUntilIdle()

        let model = ScriptedModel(says: [.textDelta("Here I am.")])
        let reply = try await orchestrator(model, over: store("after")).say("Are you there?").reply
        #expect(reply?.text == "Here I am.")
        let request = try #require(model.requests.first)
        #expect(request.messages == request.messages.wholeExchanges())
        #expect(request.messages.map(\.role) == [.user, .assistant, .user])
        #expect(request.messages.first?.text == "What time is it?")
        let saved = try await store("after").all()
        #expect(saved.map(\.role) == [.user, .assistant, .user, .assistant])
        #expect(saved.map(\.isInterrupted) == [false, true, false, false])

        // The process that was not killed has saved the finished exchange, and passes no unfinished one to the model.
        let again = ScriptedModel(says: [.textDelta("Yes.")])
        try await orchestrator(again, over: store("before")).say("Are you there?")
        #expect(
            again.requests.first?.messages.dropFirst().first?.parts == [
                .text("Let me see. "), .toolCall(id: "a", name: "clock", arguments: [:]),
                .toolResult(id: "a", content: "noon"),
            ])
    }
}
