import Foundation
import Recollect
import RecollectModels

func answer(_ question: String, server: URL, history: SQLiteHistoryStore) async throws -> String {
    // Any server with OpenAI's chat-completions API. Waits longer for a local model, and repeats refused requests.
    let model = ChatCompletionsClient(baseURL: server, model: "qwen3", timeouts: .init(idle: .seconds(600)))
    let assistant = Agent(name: "Assistant", description: "Answers questions.", model: model)
    let orchestrator = Orchestrator(
        agents: [assistant], store: DeviceChatStorage(history: history, userId: "ana"))
    var answer = ""
    for try await event in orchestrator.route(.text(question), userId: "ana", sessionId: "trip") {
        if case .textDelta(let piece) = event { answer += piece }
    }
    return answer
}
