import Foundation
import Recollect
import RecollectBuiltInAgents

func converse(in folder: URL) async throws {
    let history = SQLiteHistoryStore(directory: folder)
    let journal = JournalFolder(baseURL: folder.appendingPathComponent("journal"))
    let orchestrator = Orchestrator(
        agents: [HistorianAgent(history: history), ScribeAgent(journal: journal)],
        classifier: KeywordClassifier(),  // by keywords; or LLMClassifier(model:)
        store: DeviceChatStorage(history: history, userId: "ana"))

    // The input is saved before the agent runs, and the reply while it streams: a crash loses a second of it at most.
    for line in ["Note: the ferry to Tromsø leaves at nine.", "What did I note about the ferry?"] {
        for try await event in orchestrator.route(.text(line), userId: "ana", sessionId: "trip") {
            switch event {
            case .began(let reply): print("\(reply.agentId):", terminator: " ")  // scribe:
            case .textDelta(let piece): print(piece, terminator: "")
            case .final(let message): print(message.isInterrupted ? " (stopped)" : "")
            default: break
            }
        }
    }
}
