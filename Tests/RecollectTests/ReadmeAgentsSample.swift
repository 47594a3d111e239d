import Foundation
import Recollect

func converse(in folder: URL) async throws {
    let history = SQLiteHistoryStore(directory: folder)
    let journal = JournalFolder(baseURL: folder.appendingPathComponent("journal"))
    let orchestrator = Orchestrator(
        agents: [HistorianAgent(history: history), ScribeAgent(journal: journal)],
        classifier: KeywordClassifier(),  // who answers: by words, or LLMClassifier(model:)
        store: DeviceChatStorage(history: history, userId: "ana"))

    // The question is saved before the agent runs, the reply is kept while it streams: a crash loses its last second at most.
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
