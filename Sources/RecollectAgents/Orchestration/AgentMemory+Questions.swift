import Foundation
import RecollectCore

/// The user's message of a turn: finding it, saving it, and closing one that got no reply.
extension AgentMemory {
    /// The number of attempts found by the id.
    private static let mostCopies = 32
    /// How many messages are looked at for one that was just saved. Others may have saved some behind it.
    static let tail = 8
    /// How often a question is saved that the store does not hold, without another one being in its way.
    private static let mostAttempts = 3
    /// How often a question is tried that others' questions get in the way of.
    private static let mostCollisions = 20

    // MARK: Finding

    /// The kept reply to an input; `nil` if it is interrupted or empty.
    ///
    /// Replies of two orchestrators may stand in another order than their questions. A reply that another program saved has
    /// another id: it stands before the next question.
    func answer(to input: AgentInput, in history: [ConversationMessage]) -> ConversationMessage? {
        guard input.hasGivenId, let question = history.lastIndex(where: isQuestion(of: input)) else { return nil }
        let (id, rest) = (replyId(to: history[question]), history[(question + 1)...])
        let reply =
            rest.first { $0.id.hasSameBytes(as: id) }
            ?? rest.prefix { $0.role != .user }.first { $0.role == .assistant }
        guard let reply, !reply.isInterrupted, !reply.parts.isEmpty else { return nil }
        return reply
    }

    /// The last message in the agent's history with an id of the input.
    func question(of input: AgentInput) async throws -> ConversationMessage? {
        guard isKept, let store else { return nil }
        return try await fetch(from: store, last: nil).last(where: isQuestion(of: input))
    }

    /// Tells the messages that are this input: under its id, or under that of a copy.
    private func isQuestion(of input: AgentInput) -> (ConversationMessage) -> Bool {
        let ids = Set(ids(of: input.message).map(ByteString.init))
        return { $0.role == .user && ids.contains(ByteString($0.id)) }
    }

    /// The ids of a message and its copies, its own first. Each new attempt needs a new id.
    private func ids(of message: ConversationMessage) -> [String] {
        [message.id, message.copyId(from: scope.agentId)]
            + (2...Self.mostCopies).map { message.copyId(from: "\(scope.agentId)\u{0}\($0)") }
    }

    // MARK: Saving

    /// Saves the user's message behind what was said before.
    ///
    /// The budget is left to the reply: a question that trims alone would leave a window that begins with an answer. Cancellation does
    /// not reach this: what a user has said in a turn that has begun is kept.
    /// - Throws: `notKept` if the questions of others in the session keep this one out; what the store throws.
    func save(_ input: AgentInput, after past: AgentPast) async throws -> AskedQuestion {
        var before = past.messages
        var asked: ConversationMessage?
        if let last = before.last, last.role == .user {
            if isQuestion(of: input)(last) {
                asked = last
                before.removeLast()
            } else if !past.inFlight.contains(ByteString(replyId(to: last))) {
                before = try await close(last, of: before)
            }
        }
        let given = MessageWindow.size(for: maxMessages) == 0 ? [] : before.wholeExchanges()
        if let asked { return AskedQuestion(message: asked, isStored: true, before: given) }
        let (question, isStored) = try await saveQuestion(input, after: past.messages)
        return AskedQuestion(message: question, isStored: isStored, before: given)
    }

    /// Saves the user's message under the first free id of its copies, else under a new id, until the store holds it.
    ///
    /// A store drops a message with a known id: an earlier attempt, or a message outside the window. It also drops one that
    /// repeats the last role, where somebody else has asked since the history was read: that question is closed, and this one saved
    /// behind it.
    private func saveQuestion(
        _ input: AgentInput, after history: [ConversationMessage]
    ) async throws -> (ConversationMessage, isStored: Bool) {
        guard isKept, let store else { return (input.message, false) }
        var question = input.message
        var copies = [String]()[...]
        if input.hasGivenId {
            // The window may hold less than is looked at behind the save.
            let earlier = try await fetch(from: store, last: Self.tail)
            let taken = Set((history + earlier).map { ByteString($0.id) })
            copies = (ids(of: question).filter { !taken.contains(ByteString($0)) } + [UUID().uuidString])[...]
            question = question.with(id: copies.removeFirst())
        }
        var attempts = 0
        var end: String?
        for _ in 0..<(Self.mostCollisions + Self.mostCopies) {
            try await save(question, maxMessages: nil)
            let tail = try await uncancelled { try await fetch(from: store, last: Self.tail) }
            if tail.contains(where: { $0.id.hasSameBytes(as: question.id) }) { return (question, true) }
            if let last = tail.last, last.role == .user {
                _ = try await close(last, of: tail)
            } else if let copy = copies.popFirst() {
                question = question.with(id: copy)
            } else {
                // Where nobody has said anything between two attempts, the store leaves this message out on purpose: see
                // `TransformingChatStorage`.
                attempts = end == tail.last?.id ? attempts + 1 : 1
                end = tail.last?.id
                if attempts == Self.mostAttempts { return (question, false) }
            }
        }
        throw RecollectError(
            .notKept,
            "the question could not be kept: others ask in session \(scope.sessionId) at the same time; ask again, share one "
                + "orchestrator, or make the store with sameRole: .keep")
    }

    // MARK: Closing

    /// Gives a message that never got a reply an empty, interrupted one; returns the history with it, within the budget.
    ///
    /// Where the reply is in flight after all, in another process, its end takes the place of this one: they have one id.
    private func close(
        _ message: ConversationMessage, of history: [ConversationMessage]
    ) async throws -> [ConversationMessage] {
        var closing = ConversationMessage(
            id: replyId(to: message), role: .assistant, parts: [], timestamp: message.timestamp)
        closing.isInterrupted = true
        guard isKept, let store else { return history + [closing] }
        try await save(closing, maxMessages: nil)
        return try await uncancelled { try await fetch(from: store) }
    }

    /// The id of the reply to a message, made of the message's: two who close it at once close it once.
    func replyId(to message: ConversationMessage) -> String {
        message.copyId(from: "\(scope.agentId)\u{0}reply")
    }
}
