import Foundation
import RecollectCore

/// A row of ClaudeCodeUI's table `messages`, as a transcript entry.
struct ClaudeCodeUIMessage {
    /// The metadata key for columns without a field of their own.
    static let metadataKey = "claudeCodeUI"

    let chat: ChatMessage
    /// Whether the row names its tool call, as in databases from version 3 on.
    let namesItsCall: Bool

    /// Creates a message from a row. `attachments` returns the attachments of a message ID.
    /// - Throws: `unreadable` for a row without a valid message.
    init(_ row: ForeignRow, attachments: (UUID) throws -> [Attachment]) throws {
        var row = row
        let text = row.text("id") ?? ""
        guard let id = UUID(uuidString: text) else {
            throw RecollectError(.unreadable, "its ID '\(text.prefix(80))' is not a UUID")
        }
        guard let role = row.text("role"), !role.isEmpty else { throw RecollectError(.unreadable, "it has no role") }
        guard let timestamp = row.date("timestamp") else {
            throw RecollectError(.unreadable, "its timestamp is not in the date format of SQLite.swift")
        }
        _ = row.take("session_id")
        let type = row.text("message_type").map(MessageType.init(rawValue:)) ?? .text
        let callId = row.text("tool_use_id")
        let group = row.text("task_group_id")
        let input = row.text("tool_input_data")
        var chat = ChatMessage(
            id: id, role: MessageRole(rawValue: role), content: row.text("content") ?? "", timestamp: timestamp,
            isComplete: row.isTrue("is_complete") ?? true, messageType: type, toolName: row.text("tool_name"),
            toolInputData: input.flatMap(Self.toolInput), isError: row.isTrue("is_error") ?? false,
            attachments: try attachments(id), wasCancelled: row.isTrue("was_cancelled") ?? false,
            taskGroupId: group.flatMap(UUID.init(uuidString:)),
            isTaskContainer: row.isTrue("is_task_container") ?? false)
        var rest = row.rest
        if chat.taskGroupId == nil { rest["task_group_id"] = group.map { .string($0) } }
        if chat.toolInputData == nil, let input, !Self.isNothing(input) { rest["tool_input_data"] = .string(input) }
        if let callId { chat.metadata[Self.toolCallId] = .string(callId) }
        if !rest.isEmpty { chat.metadata[Self.metadataKey] = .object(rest) }
        self.chat = chat
        namesItsCall = callId != nil
    }

    /// The metadata key for a call's ID in the mapping between the two message models.
    private static let toolCallId = "toolCallId"

    private static func toolInput(_ base64: String) -> ToolInputData? {
        guard let json = Data(base64Encoded: base64) else { return nil }
        // Data other than tool input is kept unchanged.
        return try? JSONDecoder().decode(ToolInputData.self, from: json)
    }

    /// Whether the column means no input: apps encode `null` there.
    private static func isNothing(_ base64: String) -> Bool {
        base64.isEmpty || Data(base64Encoded: base64) == Data("null".utf8)
    }
}
