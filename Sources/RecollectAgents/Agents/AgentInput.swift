import Foundation
import RecollectCore
import RecollectFileSystem

/// A user's request in a turn.
///
/// An input is a message not yet saved, with its ID from the start. In a session, an ID identifies one message: a
/// UI showing and saving the turn itself uses the same ID for its own message.
///
/// ```swift
/// let first = orchestrator.route("What did we decide?", userId: "ada", sessionId: "today")
/// let second = orchestrator.route(.text("And why?", id: shown.id.uuidString), userId: "ada", sessionId: "today")
/// ```
///
/// An input created without an ID gets a new one. Its copies have the same ID: sent again, it is the same request. To
/// ask the same words again, create another input.
public struct AgentInput: Hashable, Sendable {
    /// The message, with the role `user`.
    public var message: ConversationMessage

    /// Creates an input from a whole message, for example with attachments. Its role becomes `user`.
    public init(_ message: ConversationMessage) {
        self.message = message
        self.message.role = .user
    }

    /// Creates an input from text.
    /// - Parameters:
    ///   - text: The user's text.
    ///   - id: The message's ID in the session; `nil` for a new one.
    public static func text(_ text: String, id: String? = nil) -> AgentInput {
        AgentInput(ConversationMessage(id: id ?? UUID.random().uuidString, role: .user, text: text))
    }

    /// The ID of the message.
    public var id: String { message.id }

    /// The text of the message; empty if it has none.
    public var text: String { message.text }
}

extension AgentInput: ExpressibleByStringLiteral {
    /// Creates an input from text, with a new ID.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}
