/// What goes on behind a draft: gathering pieces, giving them to the keeper, ending once.
///
/// Apart from `ReplyDraft`, whose release ends the reply: what runs in the background holds this and never the draft.
final class ReplyWriting: Sendable {
    /// How long a piece may lie in memory, in milliseconds, before it is given to the keeper.
    static let flushInterval = 500

    private struct State {
        /// The message without the text that grows.
        var message: ConversationMessage
        /// The prose at its end that pieces are added to; `nil` where there is none.
        var text: String?
        /// Whether the keeper lacks something.
        var isBehind = false
        /// Whether that is more than text.
        var lacksParts = false
        /// Runs while the keeper lacks something.
        var flushing: Task<Void, Never>?
        /// The end, under way or done; `nil` again if it failed.
        var ending: Task<Void, any Error>?
        var hasEnded = false
        /// Whether the draft was released: nothing is tried again then.
        var isGivenUp = false

        var whole: ConversationMessage {
            var whole = message
            if let text { whole.parts.append(.text(text)) }
            return whole
        }

        mutating func append(_ part: ContentPart) {
            if let text, !text.isEmpty { message.parts.append(.text(text)) }
            text = nil
            message.parts.append(part)
            lacksParts = true
        }
    }

    private let keeper: any ReplyKeeping
    private let pause: @Sendable (Int) async throws -> Void
    private let state: Locked<State>

    init(
        _ message: ConversationMessage, keeper: any ReplyKeeping, pause: @escaping @Sendable (Int) async throws -> Void
    ) {
        self.keeper = keeper
        self.pause = pause
        var message = message
        message.isInFlight = false
        let text = message.takeLastText()
        state = Locked(State(message: message, text: text))
    }

    var message: ConversationMessage {
        state.withLock { state in
            var message = state.whole
            message.isInFlight = !state.hasEnded
            return message
        }
    }

    func append(_ piece: String) {
        guard !piece.isEmpty else { return }
        grow { state in
            if state.text?.append(piece) == nil { state.text = piece }
        }
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

    /// Gives the keeper what it lacks, a pause after it came, until it lacks nothing or the reply ends. What fails is tried again
    /// after the next pause.
    private func flush() async {
        while true {
            guard (try? await pause(Self.flushInterval)) != nil else { return }
            let (text, parts) = state.withLock { state in
                defer { (state.isBehind, state.lacksParts) = (false, false) }
                return (state.text, state.lacksParts ? state.message.parts : nil)
            }
            do {
                try await keeper.keep(text, behind: parts)
            } catch {
                // `finish` saves the whole message and tells what still fails then.
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

    /// Ends the reply with what `last` makes of what it is now.
    func end(_ last: (ConversationMessage) -> ConversationMessage) async throws {
        let ending = state.withLock { state in
            if let ending = state.ending { return ending }
            var message = last(state.whole)
            message.isInFlight = false
            // A task of its own, which no cancellation of the caller reaches.
            let ending = Task { [message, flushing = state.flushing] in try await self.end(as: message, after: flushing)
            }
            state.ending = ending
            return ending
        }
        try await ending.value
    }

    private func end(as message: ConversationMessage, after flushing: Task<Void, Never>?) async throws {
        // The keeper is called by one at a time; one that only pauses ends at once.
        flushing?.cancel()
        await flushing?.value
        do {
            try await keeper.finish(message)
            state.withLock { state in
                state.message = message
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

    /// Interrupts the reply in the background, unless it has ended: its draft was released.
    func giveUp() {
        let isUnfinished = state.withLock { state in
            state.isGivenUp = true
            return state.ending == nil
        }
        guard isUnfinished else { return }
        // If it fails, nobody is left to tell: the draft stays kept, and the next that looks for replies in flight saves it.
        Task { try? await end(\.asInterrupted) }
    }
}
