import Foundation
import Recollect

func remember(in folder: URL) async throws {
    // One history for the whole app: this many lines, and it keeps.
    let history = SQLiteHistoryStore(directory: folder)
    let chat = DeviceChatStorage(history: history, userId: "ana")
    try await chat.saveMessages(
        [
            ConversationMessage(role: .user, text: "Why does the WebSocketTask close?"),
            ConversationMessage(role: .assistant, text: "Nobody answers its pings."),
        ], userId: "ana", sessionId: "trip", agentId: "researcher", maxMessages: 100)

    // What the next turn's prompt is made of, and what all agents of the session said.
    let context = try await chat.fetch(userId: "ana", sessionId: "trip", agentId: "researcher", maxMessages: 20)
    let everything = try await chat.fetchAllChats(userId: "ana", sessionId: "trip")
    print(context.count, everything[1].text)  // 2 [researcher] Nobody answers its pings.

    // All sessions and agents of this user, best first; any text is a valid query.
    let found = try await history.search(SearchQuery(userId: "ana", text: "socket"))
    for hit in found.elements {
        print(hit.conversation.sessionId, hit.snippet.marked())  // trip Why does the Web«Socket»Task close?
    }
}
