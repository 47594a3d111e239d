import Foundation

/// A reply that is kept while it streams.
///
/// ```swift
/// let reply = try await history.beginReply(ConversationMessage(role: .assistant, text: ""), in: scope)
/// for try await piece in model.stream() { reply.append(piece) }
/// try await reply.finish()
/// ```
///
/// What is appended lies in memory for at most half a second and is then written beside the history, not synchronised for
/// each piece: a crash or a power cut takes at most the last second of text. When the process ends without `finish` or
/// `interrupt`, the next one that opens the history finds the reply there and saves it, marked as interrupted. A draft that is
/// released unfinished is interrupted.
///
/// A finished or interrupted reply is a message of its scope like any other, saved as durably as any; until then agents are not
/// given it. May be used from any task; pieces keep the order of the calls.
public final class ReplyDraft: Sendable {
    /// The scope that the reply is for.
    public let scope: Scope
    /// The id of the message that it becomes.
    public var id: String { state.withLock { $0.message.id } }

    private let keeper: any ReplyKeeping
    private let state: Locked<State>

    private struct State {
        var message: ConversationMessage
        /// Pieces that the keeper does not have yet.
        var pending = ""
        var isWriting = false
        var hasEnded = false
    }

    /// How long a piece may lie in memory, in milliseconds, before it is given to the keeper.
    package static let flushInterval = 500

    /// For engines: a draft whose first state is kept already.
    package init(_ message: ConversationMessage, scope: Scope, keeper: any ReplyKeeping) {
        self.scope = scope
        self.keeper = keeper
        state = Locked(State(message: message))
    }
}

/// Where an engine keeps a draft.
package protocol ReplyKeeping: Sendable {
    /// Adds text to what is kept of the draft.
    func keep(_ text: String) async throws
    /// Makes the draft a message and forgets the draft, in one step. A message of that id that the session holds is edited.
    func finish(_ message: ConversationMessage) async throws
}
