import Foundation
import RecollectCore
import RecollectTesting
import Testing

/// Saves ten messages, and reads the messages left by a crash. An entry is a message ID.
let tenMessages = CrashScenario("ten messages") { run in
    let store = FileChatStorage(baseURL: run.folder)
    for number in 0..<10 {
        let role: Role = number.isMultiple(of: 2) ? .user : .assistant
        let message = ConversationMessage(id: "m\(number)", role: role, text: "text \(number)")
        // The message is certainly saved after the call, and possibly before.
        try await run.change("chat", adding: [message.id]) {
            try await store.save(message, userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        }
    }
} reopen: { image in
    let store = FileChatStorage(baseURL: image.folder)
    let chat = try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
    return CrashedStore(lists: ["chat": chat.map(\.id)])
}

@Test func survivesCrashes() async throws {
    let report = try await CrashExplorer(seed: 7).explore(tenMessages)
    #expect(report.isFaultless, "\(report)")
}
