import Foundation
import Recollect

func showLibrary(in folder: URL) async throws {
    // An orchestrator saves messages.
    let history = SQLiteHistoryStore(directory: folder)
    let chat = DeviceChatStorage(history: history, userId: "ana")
    try await chat.save(
        ConversationMessage(role: .user, text: "Plan a trip to Tromsø."),
        userId: "ana", sessionId: "trip", agentId: "planner", maxMessages: 100)

    // A chat UI lists the same session, opens it and continues it. The agent gets the UI's messages, too.
    let sessions = SQLiteSessionStorage(history: history, userId: "ana", agentId: "planner")
    var transcript = try await sessions.getSession(id: "trip")?.messages ?? []
    transcript.append(ChatMessage(role: .assistant, content: "By train or by ship?"))
    try await sessions.updateSessionMessages(id: "trip", messages: transcript)  // writes one message

    // A reply is saved while it streams. After a crash it is marked as interrupted.
    let reply = try await sessions.beginReply(in: "trip")
    for piece in ["The polar night ", "ends in January."] { reply.append(piece) }
    try await reply.finish()

    // A list for a sidebar. `RecollectObservation` has an observable model of it.
    try await sessions.update("trip", with: SessionDetails(isPinned: true, addedTags: ["travel"]))
    let query = SessionQuery(userId: "ana", order: .lastAccess, text: "polar", tags: ["travel"])
    for session in try await history.sessions(query, page: PageRequest(limit: 50)).elements {
        print(session.displayTitle, session.messageCount)  // Plan a trip to Tromsø. 3
    }
}
