import Foundation
import Recollect

func showLibrary(in folder: URL) async throws {
    // What an orchestrator saves…
    let history = SQLiteHistoryStore(directory: folder)
    let chat = DeviceChatStorage(history: history, userId: "ana")
    try await chat.save(
        ConversationMessage(role: .user, text: "Plan a trip to Tromsø."),
        userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)

    // …a chat UI lists, opens and goes on with, and the agent is given what the UI has saved.
    let sessions = SQLiteSessionStorage(history: history, userId: "ana", agentId: "planner")
    var transcript = try await sessions.getSession(id: "trip")?.messages ?? []
    transcript.append(ChatMessage(role: .assistant, content: "By train or by ship?"))
    try await sessions.updateSessionMessages(id: "trip", messages: transcript)  // writes one message

    // A reply is kept while it streams: after a crash it is there, marked as interrupted.
    let reply = try await sessions.beginReply(in: "trip")
    for piece in ["The polar night ", "ends in January."] { reply.append(piece) }
    try await reply.finish()

    // What a sidebar shows; `RecollectObservation` has a model that keeps it up to date.
    try await sessions.update("trip", with: ConversationDetails(isPinned: true, addedTags: ["travel"]))
    let query = ConversationQuery(userId: "ana", order: .lastAccess, text: "polar", tags: ["travel"])
    for session in try await history.conversations(query, page: PageRequest(limit: 50)).elements {
        print(session.displayTitle, session.messageCount)  // Plan a trip to Tromsø. 3
    }
}
