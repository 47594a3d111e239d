import RecollectCore

/// Something that answers a user: the built-in agents, and your own.
///
/// ```swift
/// struct Echo: AgentProtocol {
///     let name = "Echo"
///     let description = "Says what you said."
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
/// An agent keeps nothing of a conversation: it is given what was said, and the orchestrator keeps what it says. Its methods may
/// be called from any task, for many sessions at the same time.
public protocol AgentProtocol: Sendable {
    /// The agent's name in stores and to classifiers: the third part of a scope. By default the slug of `name`; it must stay the
    /// same as long as the history shall.
    var id: String { get }
    /// What people call it.
    var name: String { get }
    /// What it is for, in a sentence or two: classifiers choose by it.
    var description: String { get }
    /// Whether turns with this agent are kept; true by default.
    var saveChat: Bool { get }

    /// Answers.
    ///
    /// The stream gives the reply in pieces as it comes (`thinking`, `textDelta`, `toolCall`, `toolResult`) and at most one `final`
    /// with all of it, last. Without `final`, the pieces are the reply. A reply is one message: calls and results of a tool loop
    /// are parts of it, in order. A throw is a failure that ends the turn; `error` tells the user something and goes on.
    ///
    /// A reply that is stopped cancels the stream: its `onTermination` ends the work behind it.
    /// - Parameters:
    ///   - input: what the user says now.
    ///   - history: what was said before between the user and this agent, the oldest first, without any half of a tool exchange.
    ///   - context: whose turn in which session this is.
    func process(
        _ input: AgentInput, history: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error>
}

extension AgentProtocol {
    /// The slug of the name: lowercase, letters and digits of any script, words joined by `-`.
    public var id: String { name.slug }

    /// Turns are kept.
    public var saveChat: Bool { true }
}

extension String {
    /// The string as an id that people can read: letters and digits of any script in lowercase, words joined by `-`, all else
    /// left out. `"Über Café 2!"` is `über-café-2`.
    ///
    /// Agents' ids are made so, as Agent Squad makes them: the rule must never change, or histories are no longer found.
    public var slug: String {
        filter { $0.isLetter || $0.isNumber || $0.isWhitespace || $0 == "-" }
            .split(whereSeparator: \.isWhitespace)
            .joined(separator: "-")
            .lowercased()
    }
}
