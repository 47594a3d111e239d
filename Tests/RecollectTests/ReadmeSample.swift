import Foundation
import Recollect

func remember(in folder: URL) async throws {
    // One history for the whole app.
    let history = SQLiteHistoryStore(directory: folder)
    let chat = DeviceChatStorage(history: history, userId: "ana")
    try await chat.saveMessages(
        [
            ConversationMessage(role: .user, text: "Why does the WebSocketTask close?"),
            ConversationMessage(role: .assistant, text: "Nobody answers its pings."),
        ], userId: "ana", sessionId: "trip", agentId: "researcher", maxMessages: 100)

    // The messages for the next prompt, and the messages of all agents in the session.
    let context = try await chat.fetch(userId: "ana", sessionId: "trip", agentId: "researcher", maxMessages: 20)
    let everything = try await chat.fetchAllChats(userId: "ana", sessionId: "trip")
    print(context.count, everything[1].text)  // 2 [researcher] Nobody answers its pings.

    // Searches all sessions of this user, best match first. Any text is a valid query.
    let found = try await history.search(SearchQuery(userId: "ana", text: "socket"))
    for hit in found.elements {
        print(hit.session.sessionId, hit.snippet.marked())  // trip Why does the Web«Socket»Task close?
    }
}
