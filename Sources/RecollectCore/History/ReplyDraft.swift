import Foundation

/// A reply that is kept while it streams.
///
/// ```swift
/// let reply = try await history.beginReply(ConversationMessage(role: .assistant, text: ""), in: scope)
/// for try await piece in model.stream() { reply.append(piece) }
/// try await reply.finish()
/// ```
///
/// What is appended lies in memory for at most half a second and is then saved beside the history, as durably as the history
/// saves: a crash or a power cut takes at most the last second of text. When the process ends without `finish` or `interrupt`,
/// the next one that opens the history finds the reply there and saves it, marked as interrupted. A draft that is released
/// unfinished is interrupted.
///
/// A finished or interrupted reply is a message of its scope like any other, saved as durably as any; until then agents are not
/// given it. May be used from any task; pieces keep the order of the calls.
public final class ReplyDraft: Sendable {
    /// The scope that the reply was begun in.
    public let scope: Scope
    /// The id of the finished message. If a merge or a restored branch brings another message of this id into the conversation, the
    /// reply is saved beside it under a new id.
    public let id: String

    private let writing: ReplyWriting

    /// For engines: a draft whose first state is kept already.
    ///
    /// - Parameter pause: waits so many milliseconds; tests decide for themselves how long that is.
    package init(
        _ message: ConversationMessage, scope: Scope, keeper: any ReplyKeeping,
        pause: @escaping @Sendable (Int) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }
    ) {
        self.scope = scope
        id = message.id
        writing = ReplyWriting(message, keeper: keeper, pause: pause)
    }

    deinit {
        writing.giveUp()
    }

    /// What has been said so far, with `isInFlight` set; after the end, the message that was saved.
    public var message: ConversationMessage { writing.message }

    /// Adds a piece: to the last part if that is prose, else as a new part of prose behind it.
    ///
    /// Returns at once, whatever the disk does. Pieces that come after `finish` or `interrupt` was called are ignored. Text that
    /// could not be saved is tried again twice a second, and `finish` saves the whole message in any case.
    public func append(_ text: String) {
        writing.append(text)
    }

    /// Adds a part that is no prose, a tool call or its result, say, behind what is there; prose that follows grows behind it.
    ///
    /// Kept like text, and as quick; prose is added as `append(_:)` adds text. A part is added as it is: pieces of one thought, for
    /// instance, are the caller's to join. Prose of no length, as a reply often begins with, makes way for it. With a value that is
    /// nested too deep (`JSONValue.depthLimit`) nothing more is kept, and the end throws `tooLarge` unless it is given another message.
    public func append(_ part: ContentPart) {
        writing.append(part)
    }

    /// Makes the reply a message of its scope; the draft is gone in the same step. The second end of a reply does nothing but
    /// wait for the first.
    ///
    /// Cancellation of the calling task changes nothing: the task that streams is often cancelled just before this is called.
    /// After a failure the reply is in flight still, and this may be called again.
    /// - Parameter message: the whole reply, where the caller has it (with tool calls and usage, say), instead of what was
    ///   appended; it must have the draft's id.
    /// - Throws: `invalidArgument` for a message of another id; `notFound` if the conversation was deleted meanwhile, and then
    ///   nothing is saved; what saving throws, `diskFull` for instance.
    public func finish(_ message: ConversationMessage? = nil) async throws {
        if let message, !message.id.hasSameBytes(as: id) {
            throw RecollectError(
                .invalidArgument,
                "the reply in flight has another id than the message that shall end it; give that one its id")
        }
        try await writing.end { message ?? $0 }
    }

    /// Makes the reply a message of its scope as far as it has come, marked with `isInterrupted`; else like `finish`.
    /// - Throws: what `finish` throws.
    public func interrupt() async throws {
        try await writing.end(\.asInterrupted)
    }
}

extension ConversationMessage {
    /// The message as its reply's end before its time leaves it.
    package var asInterrupted: ConversationMessage {
        var message = self
        message.isInterrupted = true
        return message
    }

    /// Takes out the last part if it is prose: it is what a reply in flight grows at.
    package mutating func takeLastText() -> String? {
        guard let text = parts.last?.text else { return nil }
        parts.removeLast()
        return text
    }
}

/// Where an engine keeps a draft.
package protocol ReplyKeeping: Sendable {
    /// Keeps what the draft has grown to, instead of what was kept of it before: so a call whose result was not known can be made
    /// again.
    /// - Parameters:
    ///   - text: the prose at its end; `nil` where it ends in something else.
    ///   - parts: all before that, never none; `nil` where it is as it was kept last.
    func keep(_ text: String?, behind parts: [ContentPart]?) async throws
    /// Makes the draft a message and forgets the draft, in one step. A message of that id that the scope holds is edited.
    func finish(_ message: ConversationMessage) async throws
}
