import Foundation
import RecollectFileSystem

/// A message of a session, the same in every store.
///
/// ```swift
/// let answer = ConversationMessage(
///     role: .assistant,
///     parts: [
///         .toolCall(id: "call_1", name: "weather", arguments: ["city": "Tromsø"]),
///         .toolResult(id: "call_1", content: ["sky": "clear"]),
///         .text("Clear all night."),
///     ])
/// print(answer.text)  // Clear all night.
/// ```
///
/// Its JSON is Agent Squad's: `id`, `role`, `parts`, and `timestamp` in milliseconds since 1970, with the addition
/// of `metadata` if it is not empty. Unknown fields are preserved in `unknownFields` and written back.
public struct ConversationMessage: Hashable, Identifiable, Sendable {
    /// The message's identifier, any string. In one scope (user, session, agent), an ID names one message.
    public let id: String
    /// The author's role.
    public var role: Role
    /// The content, in order.
    public var parts: [ContentPart]
    /// The date of the message, in whole milliseconds. It orders messages of different agents, but not those of one
    /// scope.
    public var timestamp: Date {
        didSet { timestamp = timestamp.wholeMilliseconds }
    }
    /// Additional data, for example the model, its usage or an interruption.
    public var metadata: [String: JSONValue]
    /// Unknown top-level JSON fields of a newer version or another program.
    public var unknownFields: [String: JSONValue]

    /// Creates a message with any parts. The timestamp is rounded to whole milliseconds.
    public init(
        id: String = UUID.random().uuidString,
        role: Role,
        parts: [ContentPart],
        timestamp: Date = Date(),
        metadata: [String: JSONValue] = [:],
        unknownFields: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.role = role
        self.parts = parts
        self.timestamp = timestamp.wholeMilliseconds
        self.metadata = metadata
        self.unknownFields = unknownFields
    }

    /// Creates a message with one text part. The timestamp is rounded to whole milliseconds.
    public init(
        id: String = UUID.random().uuidString,
        role: Role,
        text: String,
        timestamp: Date = Date(),
        metadata: [String: JSONValue] = [:]
    ) {
        self.init(id: id, role: role, parts: [.text(text)], timestamp: timestamp, metadata: metadata)
    }
}

extension ConversationMessage {
    /// The text of all text parts, joined; empty if there are none.
    public var text: String {
        parts.count == 1 ? parts[0].text ?? "" : parts.compactMap(\.text).joined()
    }

    /// Returns the message with another ID.
    package func with(id: String) -> ConversationMessage {
        ConversationMessage(
            id: id, role: role, parts: parts, timestamp: timestamp, metadata: metadata, unknownFields: unknownFields)
    }

    /// Whether any part is a tool call or a tool result.
    public var belongsToToolExchange: Bool {
        parts.contains(where: \.belongsToToolExchange)
    }

    /// Returns a message of an assistant with the prefix `[agentId]` before its first text, and any other message
    /// unchanged.
    ///
    /// The prefix distinguishes the agents in the merged view, for example for a classifier. A message without text
    /// gets the prefix as a new first part.
    public func attributed(agentId: String) -> ConversationMessage {
        guard role == .assistant else { return self }
        var message = self
        if let index = parts.firstIndex(where: { $0.text != nil }), let text = parts[index].text {
            message.parts[index] = .text("[\(agentId)] \(text)")
        } else {
            message.parts.insert(.text("[\(agentId)]"), at: 0)
        }
        return message
    }

    /// Returns the message with every text part transformed and all other data unchanged.
    public func mappingText(_ transform: (String) throws -> String) rethrows -> ConversationMessage {
        var message = self
        message.parts = try parts.map { part in
            guard case .text(let text) = part else { return part }
            return .text(try transform(text))
        }
        return message
    }
}
