/// The background work of a `StreamingReply`: buffering increments, saving them, and ending once.
///
/// Separate from `StreamingReply`, because its release ends the reply: background tasks refer only to this object.
final class ReplyBuffer: Sendable {
    /// The longest time an increment stays in memory before it is saved, in milliseconds.
    static let flushInterval = 500

    private struct State {
        /// The message without the growing part.
        var message: ConversationMessage
        /// The growing reasoning at its end; `nil` if there is none.
        var thinking: String?
        /// The growing text at its end; `nil` if there is none.
        var text: String?
        /// Whether content is not saved yet.
        var isBehind = false
        /// Whether the unsaved content includes parts other than the text.
        var lacksParts = false
        /// The task that saves content, while some is not saved yet.
        var flushing: Task<Void, Never>?
        /// The end, in progress or done; `nil` again after a failure.
        var ending: Task<Void, any Error>?
        var hasEnded = false
        /// Whether the `StreamingReply` was released. Failures are then not retried.
        var isGivenUp = false

        /// The parts before the growing text.
        var parts: [ContentPart] { message.parts + (thinking.map { [.thinking($0, signature: nil)] } ?? []) }

        var whole: ConversationMessage {
            var whole = message
            whole.parts = parts + (text.map { [.text($0)] } ?? [])
            return whole
        }

        mutating func append(_ piece: String) {
            endThinking()
            if text?.append(piece) == nil { text = piece }
        }

        mutating func append(thinking piece: String) {
            endText()
            if thinking?.append(piece) == nil { thinking = piece }
            lacksParts = true
        }

        mutating func append(_ part: ContentPart) {
            endThinking()
            endText()
            message.parts.append(part)
            lacksParts = true
        }

        private mutating func endThinking() {
            guard let thinking else { return }
            message.parts.append(.thinking(thinking, signature: nil))
            self.thinking = nil
        }

        private mutating func endText() {
            if let text, !text.isEmpty { message.parts.append(.text(text)) }
            text = nil
        }
    }

    private let writer: any ReplyWriter
    private let pause: @Sendable (Int) async throws -> Void
    private let state: Locked<State>

    init(
        _ message: ConversationMessage, writer: any ReplyWriter, pause: @escaping @Sendable (Int) async throws -> Void
    ) {
        self.writer = writer
        self.pause = pause
        var message = message
        message.isStreaming = false
        let text = message.takeLastText()
        state = Locked(State(message: message, text: text))
    }

    var message: ConversationMessage {
        state.withLock { state in
            var message = state.whole
            message.isStreaming = !state.hasEnded
            return message
        }
    }

    func append(_ piece: String) {
        guard !piece.isEmpty else { return }
        grow { $0.append(piece) }
    }

    func append(thinking piece: String) {
        guard !piece.isEmpty else { return }
        grow { $0.append(thinking: piece) }
    }

    func append(_ part: ContentPart) {
        if let piece = part.text { return append(piece) }
        grow { $0.append(part) }
    }

    private func grow(_ change: (inout State) -> Void) {
        state.withLock { state in
            guard state.ending == nil else { return }
            change(&state)
            state.isBehind = true
            if state.flushing == nil { state.flushing = Task { await self.flush() } }
        }
    }

    /// Saves new content after each pause, until all is saved or the reply ends. A failed save is retried after the
    /// next pause.
    private func flush() async {
        while true {
            guard (try? await pause(Self.flushInterval)) != nil else { return }
            let (text, parts) = state.withLock { state in
                defer { (state.isBehind, state.lacksParts) = (false, false) }
                return (state.text, state.lacksParts ? state.parts : nil)
            }
            do {
                try await writer.save(text, behind: parts)
            } catch {
                // `finish` saves the whole message and throws any remaining error.
                state.withLock { state in
                    state.isBehind = true
                    if parts != nil { state.lacksParts = true }
                }
            }
            let isDone = state.withLock { state in
                if !state.isBehind { state.flushing = nil }
                return !state.isBehind
            }
            if isDone { return }
        }
    }

    /// Ends the reply with the message returned by `last` for its current content.
    /// - Parameter isAppended: Whether `last` returns the appended content.
    func end(isAppended: Bool, _ last: (ConversationMessage) -> ConversationMessage) async throws {
        let ending = state.withLock { state in
            if let ending = state.ending { return ending }
            var message = last(state.whole)
            message.isStreaming = false
            // In a separate task, unaffected by cancellation of the caller.
            let ending = Task { [message, flushing = state.flushing] in
                try await self.end(as: message, isAppended: isAppended, after: flushing)
            }
            state.ending = ending
            return ending
        }
        try await ending.value
    }

    private func end(
        as message: ConversationMessage, isAppended: Bool, after flushing: Task<Void, Never>?
    ) async throws {
        // `writer` is called by one task at a time. A task in its pause ends at once.
        flushing?.cancel()
        await flushing?.value
        do {
            try await writer.finish(message, isAppended: isAppended)
            state.withLock { state in
                state.message = message
                state.thinking = nil
                state.text = nil
                state.hasEnded = true
            }
        } catch {
            state.withLock { state in
                state.ending = nil
                state.flushing = state.isBehind && !state.isGivenUp ? Task { await self.flush() } : nil
            }
            throw error
        }
    }

    /// Interrupts the reply in the background, unless it has ended, because its `StreamingReply` was released.
    func giveUp() {
        let isUnfinished = state.withLock { state in
            state.isGivenUp = true
            return state.ending == nil
        }
        guard isUnfinished else { return }
        // No caller is left for an error. After a failure the streaming reply stays saved, and the next call of
        // `streamingReplies` saves it as a message.
        Task { try? await end(isAppended: true, \.asInterrupted) }
    }
}
