import Foundation
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Migration of sessions to and from a history")
struct HistorySessionMigrationTests {
    @Test("UI transcripts and agents' turns keep every field, and a second migration writes nothing")
    func both() async throws {
        let (first, second) = (memory(), memory())
        let source = SQLiteSessionStorage(history: first)
        let picture = Attachment(mediaType: "image/png", content: .inline(Data("picture".utf8)))
        let long = String(repeating: "long ", count: 200)
        try await source.saveSession(id: "ui", firstMessage: long)
        try await source.updateSessionMessages(
            id: "ui",
            messages: [
                ChatMessage(role: .user, content: long, attachments: [picture]),
                ChatMessage(
                    role: .toolUse, content: "Read", messageType: .toolUse, toolName: "Read",
                    toolInputData: ToolInputData(parameters: ["p": "1"], rawParameters: ["p": "one"])),
                ChatMessage(
                    role: .toolDenied, content: "no", messageType: .toolDenied, toolName: "Read", isError: true),
                ChatMessage(role: .assistant, content: "half", isComplete: false, wasCancelled: true),
            ])
        try await first.append(
            [
                ConversationMessage(id: "q", role: .user, text: "question"),
                ConversationMessage(
                    id: "a", role: .assistant,
                    parts: [
                        .thinking("hm", signature: "s"), .text("answer"),
                        .toolCall(id: "c", name: "n", arguments: ["x": [1]]),
                    ]),
                ConversationMessage(id: "r", role: .tool, parts: [.toolResult(id: "c", content: ["y": 2])]),
            ], to: Scope(userId: "local", sessionId: "agent", agentId: "moon"))

        let target = SQLiteSessionStorage(history: second)
        let report = try await source.migrate(to: target)
        #expect((report.sessionCount, report.messageCount, report.addedMessageCount) == (2, 9, 9))
        for id in ["ui", "agent"] {
            let (expected, found) = (try await source.getSession(id: id), try await target.getSession(id: id))
            #expect(found?.messages == expected?.messages)
            #expect(found?.firstUserMessage == expected?.firstUserMessage)
        }
        let latest = try await second.latestChangeCursor()
        #expect(try await source.migrate(to: target).movedSessionCount == 0)
        #expect(try await second.latestChangeCursor() == latest)
        let out = InMemorySessionStorage()
        #expect(try await target.migrate(to: out).addedMessageCount == 9)
        let listed = try await source.getAllSessions().map(\.id)
        #expect(try await out.getAllSessions().map(\.id) == listed)
    }
}
