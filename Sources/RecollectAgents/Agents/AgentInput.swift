import Foundation
import RecollectCore

/// What a user says in a turn.
///
/// It is a message that is not yet saved, with its id from the start: a UI that shows and saves the turn itself gives its message
/// the same id, and in a session one id is one message.
///
/// ```swift
/// orchestrator.route("What did we decide?", userId: "ada", sessionId: "today")
/// orchestrator.route(.text("And why?", id: shown.id.uuidString), userId: "ada", sessionId: "today")
/// ```
public struct AgentInput: Hashable, Sendable {
    /// The message, of the role `user`.
    public var message: ConversationMessage

    /// Whether the caller chose the id: another view of the session may then hold the message already.
    package let hasGivenId: Bool

    /// Makes an input of a whole message: with attachments, say. Its role becomes `user`.
    public init(_ message: ConversationMessage) {
        self.message = message
        self.message.role = .user
        hasGivenId = true
    }

    private init(text: String, id: String?) {
        message = ConversationMessage(id: id ?? UUID().uuidString, role: .user, text: text)
        hasGivenId = id != nil
    }

    /// Prose.
    /// - Parameters:
    ///   - text: what the user says.
    ///   - id: the message's id in the session; `nil` for a new one.
    public static func text(_ text: String, id: String? = nil) -> AgentInput {
        AgentInput(text: text, id: id)
    }

    /// The id of the message.
    public var id: String { message.id }

    /// The prose of the message; empty if it has none.
    public var text: String { message.text }
}

extension AgentInput: ExpressibleByStringLiteral {
    /// Prose with an id of its own.
    public init(stringLiteral value: String) {
        self = .text(value)
    }
}
