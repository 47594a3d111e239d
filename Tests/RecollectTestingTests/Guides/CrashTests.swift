import Foundation
import RecollectCore
import RecollectTesting
import Testing

/// Saves five turns, and reads what a crash left of them. An entry is a message's id.
let fiveTurns = CrashScenario("five turns") { run in
    let store = FileChatStorage(baseURL: run.folder)
    for number in 0..<5 {
        let turn = [
            ConversationMessage(id: "q\(number)", role: .user, text: "question \(number)"),
            ConversationMessage(id: "a\(number)", role: .assistant, text: "answer \(number)"),
        ]
        // Stored, both or none, when this returns; until then, perhaps.
        try await run.change("chat", adding: turn.map(\.id)) {
            try await store.saveMessages(turn, userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
        }
    }
} reopen: { image in
    let store = FileChatStorage(baseURL: image.folder)
    let chat = try await store.fetch(userId: "ann", sessionId: "s", agentId: "a", maxMessages: nil)
    return CrashedStore(lists: ["chat": chat.map(\.id)])
}

@Test func survivesCrashes() async throws {
    let report = try await CrashExplorer(seed: 7).explore(fiveTurns)
    #expect(report.isFaultless, "\(report)")
}
