import RecollectCore

/// A type that replies to the inputs of users: a built-in agent, or one of your own.
///
/// ```swift
/// struct Echo: AgentProtocol {
///     let name = "Echo"
///     let description = "Repeats the input."
///
///     func process(
///         _ input: AgentInput, history: [ConversationMessage], context: AgentContext
///     ) -> AsyncThrowingStream<AgentEvent, any Error> {
///         AsyncThrowingStream { stream in
///             stream.yield(.textDelta(input.text))
///             stream.finish()
///         }
///     }
/// }
/// ```
///
/// An agent stores no messages: it receives the history, and the orchestrator saves the reply. Its methods may be
/// called from any task, for many sessions concurrently.
public protocol AgentProtocol: Sendable {
    /// The agent's ID in stores and for classifiers: the third part of a scope. The default is the slug of `name`.
    /// It must stay the same as long as the history is needed.
    var id: String { get }
    /// The display name.
    var name: String { get }
    /// The agent's purpose, in a sentence or two. Classifiers choose by it.
    var description: String { get }
    /// Whether turns with this agent are saved. The default is `true`.
    var saveChat: Bool { get }

    /// Replies to an input.
    ///
    /// The stream sends the reply in pieces as they come (`thinking`, `textDelta`, `toolCall`, `toolResult`), and
    /// at most one `final` with the whole reply, as the last event. Without `final`, the pieces are the reply. A
    /// reply is one message; the calls and results of a tool loop are parts of it, in order. A thrown error ends
    /// the turn. After an `error` event, a message for the user, the turn continues.
    ///
    /// Stopping the reply cancels the stream: end the work behind it in its `onTermination`.
    /// - Parameters:
    ///   - input: The user's new message.
    ///   - history: The earlier messages between the user and this agent, oldest first, without incomplete tool
    ///     exchanges.
    ///   - context: The user and the session of the turn.
    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error>
}

extension AgentProtocol {
    /// The slug of the name: lowercase letters and digits of any script, with words joined by `-`.
    public var id: String { name.slug }

    /// The default: turns are saved.
    public var saveChat: Bool { true }
}

extension String {
    /// The string as a readable ID: lowercase letters and digits of any script, with words joined by `-`. Hyphens
    /// are kept, and all other characters are removed. `"Über Café 2!"` becomes `über-café-2`.
    ///
    /// Agents' IDs are formed by this rule, as in Agent Squad. It must never change, or histories are no longer
    /// found.
    package var slug: String {
        filter { $0.isLetter || $0.isNumber || $0.isWhitespace || $0 == "-" }
            .split(whereSeparator: \.isWhitespace)
            .joined(separator: "-")
            .lowercased()
    }
}
