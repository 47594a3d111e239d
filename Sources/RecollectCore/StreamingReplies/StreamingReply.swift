import Foundation

/// A streaming reply, saved in increments.
///
/// ```swift
/// let reply = try await history.beginReply(ConversationMessage(role: .assistant, text: ""), in: scope)
/// for await piece in pieces { reply.append(piece) }
/// try await reply.finish()
/// ```
///
/// Appended content stays in memory for at most half a second. It is then saved beside the history, with the
/// durability of the history: a crash or a power loss costs at most the last second of text. If the process ends
/// without `finish` or `interrupt`, the next process to open the history saves the reply as interrupted. A
/// `StreamingReply` released without an end is interrupted too.
///
/// A finished or interrupted reply is an ordinary message of its scope with the same durability. Until then it is
/// not given to agents. Any task can use a reply; increments keep the order of the calls.
public final class StreamingReply: Sendable {
    /// The scope of the reply.
    public let scope: Scope
    /// The ID of the finished message. If a merge or a restored branch brings another message with this ID into the
    /// session, the reply is saved beside it under a new ID.
    public let id: String

    private let writing: ReplyBuffer

    /// Creates a streaming reply with an already saved first state, for stores.
    ///
    /// - Parameter pause: Waits for the given number of milliseconds; tests replace it.
    package init(
        _ message: ConversationMessage, scope: Scope, writer: any ReplyWriter,
        pause: @escaping @Sendable (Int) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }
    ) {
        self.scope = scope
        id = message.id
        writing = ReplyBuffer(message, writer: writer, pause: pause)
    }

    deinit {
        writing.giveUp()
    }

    /// The content so far, with `isStreaming` set; after the end, the saved message.
    public var message: ConversationMessage { writing.message }

    /// Appends text to the last part, or as a new part if the last one is not text.
    ///
    /// Returns at once, without waiting for the disk. Text appended after a call of `finish` or `interrupt` is
    /// ignored. A failed save is retried twice a second, and `finish` saves the whole message in any case.
    public func append(_ text: String) {
        writing.append(text)
    }

    /// Appends reasoning to the last part, or as a new part if the last one is not reasoning appended by this method.
    ///
    /// It is saved like text, and returns as quickly. Text or a part appended later becomes a new part after it.
    public func append(thinking piece: String) {
        writing.append(thinking: piece)
    }

    /// Appends a part other than text, for example a tool call or its result. Later text becomes a new part after
    /// it.
    ///
    /// The part is saved like text and returns as quickly; a text part is handled by `append(_:)` for text. Parts
    /// are not joined; for increments of reasoning, use `append(thinking:)`. An empty text part
    /// before the new part, common at the beginning of a reply, is removed. After a value nested deeper than
    /// `JSONValue.depthLimit`, nothing more is saved, and the end throws `tooLarge` unless it gets another message.
    public func append(_ part: ContentPart) {
        writing.append(part)
    }

    /// Makes the reply a message of its scope and removes the streaming reply, in one step. Text saved for the reply by a
    /// session view stays if it continues the appended one.
    ///
    /// A second end of the reply only waits for the first. Cancellation of the calling task has no effect, because
    /// a streaming task is often canceled just before this call. After a failure the reply is still streaming, and
    /// this method can be called again.
    /// - Parameter message: The whole reply, for example with tool calls and usage, in place of the appended
    ///   content. It must have the ID of the streaming reply.
    /// - Throws: `invalidArgument` for a message with another ID; `notFound` if the session was deleted in the
    ///   meantime, and then nothing is saved; errors of the save, for example `diskFull`.
    public func finish(_ message: ConversationMessage? = nil) async throws {
        if let message, !message.id.hasSameBytes(as: id) {
            throw RecollectError(
                .invalidArgument,
                "the final message has a different ID than the streaming reply; give the message the reply's ID"
            )
        }
        try await writing.end(isAppended: message == nil) { message ?? $0 }
    }

    /// Makes the content so far a message of the scope, marked with `isInterrupted`; otherwise like `finish`.
    ///
    /// A saved message with the reply's ID stays if it begins with the content so far. If it has different text, the content
    /// so far is saved beside it under a new ID. So nothing saved meanwhile is lost.
    /// - Throws: The same errors as `finish`.
    public func interrupt() async throws {
        try await writing.end(isAppended: true, \.asInterrupted)
    }
}

extension ConversationMessage {
    /// The message marked as an interrupted reply.
    package var asInterrupted: ConversationMessage {
        var message = self
        message.isInterrupted = true
        return message
    }

    /// Removes and returns the last part if it is text: the growing part of a streaming reply.
    package mutating func takeLastText() -> String? {
        guard let text = parts.last?.text else { return nil }
        parts.removeLast()
        return text
    }
}
