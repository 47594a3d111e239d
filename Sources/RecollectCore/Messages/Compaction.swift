import Foundation

/// A summary for a model, in place of the first messages of a scope. The messages stay unchanged.
///
/// ```swift
/// let chat = try await history.compactedMessages(of: scope)
/// let old = chat.messages.dropLast(20)
/// let summary = try await summarize(chat.compaction?.summary, Array(old))
/// try await history.compact(
///     Array(old), of: scope, into: summary, by: "my-model", after: chat.compaction?.id)
/// ```
///
/// A compaction covers all messages of its scope up to a boundary, except the instructions. Each one continues the one
/// before: it covers the same messages and more. The last one is in effect; removing it restores the one before.
public struct Compaction: Hashable, Sendable {
    /// The ID, unique in the scope.
    public var id: String
    /// The text in place of the covered messages.
    public var summary: String
    /// The writer of the summary: the name of a model or a program.
    public var author: String
    /// The date of the compaction, in whole milliseconds.
    public var createdAt: Date
    /// The ID of the last covered message.
    public var lastMessageId: String
    /// The number of covered messages when the compaction was saved.
    public var messageCount: Int
    /// The ID of the compaction continued by this one; `nil` for the first.
    public var previousId: String?

    /// Creates a compaction.
    public init(
        id: String, summary: String, author: String, createdAt: Date, lastMessageId: String, messageCount: Int,
        previousId: String?
    ) {
        self.id = id
        self.summary = summary
        self.author = author
        self.createdAt = Date(millisecondsSince1970: createdAt.millisecondsSince1970)
        self.lastMessageId = lastMessageId
        self.messageCount = messageCount
        self.previousId = previousId
    }

    /// The prefix of the IDs of summaries as messages.
    package static let messagePrefix = "recollect.summary/"

    /// The summary as a message for a model, with the role `system`. Its ID begins with
    /// `SummarizingChatStorage.reservedPrefix`, and its metadata has the other values under the key `compaction`.
    public var message: ConversationMessage {
        ConversationMessage(
            id: Self.messagePrefix + id, role: .system, parts: [.text(summary)], timestamp: createdAt,
            metadata: ["compaction": .object(fields)])
    }

    /// The values other than the summary and the date, as JSON.
    package var fields: [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "id": .string(id), "author": .string(author), "lastMessageId": .string(lastMessageId),
            "messageCount": .integer(Int64(messageCount)),
        ]
        fields["previousId"] = previousId.map { .string($0) }
        return fields
    }
}
