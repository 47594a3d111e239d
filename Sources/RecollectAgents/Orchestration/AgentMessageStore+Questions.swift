import Foundation
import RecollectCore
import RecollectFileSystem

/// Finds and saves the user's message of a turn, and closes a message without a reply.
extension AgentMessageStore {
    /// The number of copies with an ID derived from the input's ID.
    private static let maxCopyCount = 32
    /// The number of newest messages read to find a message just saved. Other writers may have saved messages after
    /// it.
    static let tail = 8
    /// The number of attempts to save a question if no other writer's message is in its way.
    private static let maxAttempts = 3
    /// The number of attempts allowed for collisions with the questions of other writers.
    private static let maxCollisionCount = 20

    // MARK: Finding

    /// Returns the saved reply to an input; `nil` if the reply is missing, interrupted or empty.
    ///
    /// If the input was saved several times, under the IDs of its copies, the newest one with such a reply counts.
    func answer(to input: AgentInput, in history: [ConversationMessage]) -> ConversationMessage? {
        let isQuestion = isQuestion(of: input)
        let questions = history.indices.reversed().lazy.filter { isQuestion(history[$0]) }
        return questions.compactMap { answer(toQuestionAt: $0, in: history) }.first
    }

    /// Returns the saved reply to one question.
    ///
    /// With two orchestrators, replies may be saved in a different order than their questions, so the reply is
    /// first searched by its ID. A reply saved by another program has another ID: it is the first assistant message
    /// before the next user message, unless its ID is that of a reply to another question. In merged sessions, several
    /// questions may precede their replies, and replies have derived IDs: then it is unknown which is whose. A merge
    /// may also have given a question a new ID, but not its reply, whose ID then seems to belong to this question.
    private func answer(toQuestionAt question: Int, in history: [ConversationMessage]) -> ConversationMessage? {
        let (ids, rest) = (replyIDs(to: history[question]), history[(question + 1)...])
        let replies = rest.filter { ids.contains($0.id) }
        guard replies.isEmpty else {
            // A merge puts a question with a new ID after the one with its earlier ID. Copies have such IDs, too.
            let isMerged =
                rest.first.map { next in
                    next.role == .user && UUID.isNameBased(next.id) && !history.contains { isCopy(next, of: $0) }
                } ?? false
            return isMerged ? nil : replies.first(where: \.isAnswer)
        }
        guard history[..<question].last?.role != .user else { return nil }
        let reply = rest.prefix { $0.role != .user }.first { $0.role == .assistant && !ReplyIDs.isDerived($0.id) }
        return reply.flatMap { $0.isAnswer ? $0 : nil }
    }

    /// Whether the agent's history has a message with one of the input's IDs. Without a store, and for an agent whose
    /// turns are not saved, there is none.
    /// - Parameter chats: All messages of the session. Only if one of them has such an ID is the agent's history read.
    func hasQuestion(of input: AgentInput, in chats: [ConversationMessage]) async throws -> Bool {
        guard savesMessages, let store, chats.contains(where: hasID(of: input)) else { return false }
        return try await fetch(from: store, last: nil).contains(where: hasID(of: input))
    }

    /// Returns a predicate for user messages with the input's ID or the ID of one of its copies. The IDs of copies are
    /// computed only for a message whose ID has their form, which is rare: each takes a hash.
    private func hasID(of input: AgentInput) -> (ConversationMessage) -> Bool {
        lazy var copies = Set(copyIDs(of: input.message).map(ByteString.init))
        return { message in
            guard message.role == .user else { return false }
            return message.id.hasSameBytes(as: input.id)
                || UUID.isNameBased(message.id) && copies.contains(ByteString(message.id))
        }
    }

    /// Returns a predicate for the saved messages of an input: they have its ID or the ID of one of its copies, and its
    /// content. With other content, the question is another one.
    private func isQuestion(of input: AgentInput) -> (ConversationMessage) -> Bool {
        let hasID = hasID(of: input)
        return { hasID($0) && isSame($0, input.message) }
    }

    /// Compares the parts of a saved message with those of another one, unless the store changes content.
    private func isSame(_ saved: ConversationMessage, _ message: ConversationMessage) -> Bool {
        store?.preservesContent == false || saved.hasSameParts(as: message)
    }

    private func isCopy(_ copy: ConversationMessage, of message: ConversationMessage) -> Bool {
        message.role == .user && copyIDs(of: message).contains { $0.hasSameBytes(as: copy.id) }
    }

    /// Returns the IDs of a message's copies. Each new attempt needs a new ID.
    private func copyIDs(of message: ConversationMessage) -> [String] {
        // A merge derives the IDs of its copies from the session's ID alone, possibly the same as the agent's.
        (1...Self.maxCopyCount).map { message.copyId(from: "\(scope.agentId)\u{0}\($0)") }
    }

    // MARK: Saving

    /// Saves the user's message after the agent's past messages.
    ///
    /// The save does not trim: a window trimmed at the question would begin with an answer. Saving the reply trims.
    /// An earlier question without a reply is closed first, unless its reply is still streaming. So is the input's own
    /// question, if it was saved with other content: the new content is saved under the ID of a copy. Cancellation does not
    /// affect the save: in a turn already begun, the user's message is saved.
    /// - Throws: `invalidArgument` if another turn has saved the same input since the history was read, or is streaming
    ///   the reply to it; `verificationFailed` if the questions of other writers in the session prevent the save; errors of the
    ///   store.
    func save(_ input: AgentInput, after past: AgentHistory) async throws -> SavedInput {
        var before = past.messages
        var asked: ConversationMessage?
        if let last = before.last, last.role == .user {
            let isStreaming = past.streaming.contains(ByteString(replyIDs(to: last).derived))
            // Compared in any store, so that no content is lost. A store that changes messages then has the question twice.
            if hasID(of: input)(last), last.hasSameParts(as: input.message) {
                asked = last
                before.removeLast()
            } else if !isStreaming {
                before = try await close(last, of: before)
            }
        }
        let given = MessageWindow.size(for: maxMessages) == 0 ? [] : try await window(of: before)
        if let asked { return SavedInput(message: asked, isStored: true, before: given) }
        let (question, isStored) = try await saveQuestion(input, after: past.messages)
        return SavedInput(message: question, isStored: isStored, before: given)
    }

    /// Returns the past messages for the agent: within a budget of tokens, with a summary in place of the messages covered by
    /// the store's compaction.
    private func window(of messages: [ConversationMessage]) async throws -> [ConversationMessage] {
        guard let tokenWindow else { return messages.wholeExchanges() }
        guard let store, let last = messages.last else { return tokenWindow.messages(of: messages) }
        let compacted = try await uncancelled { [scope] () -> CompactedMessages? in
            let (user, session, agent) = (scope.userId, scope.sessionId, scope.agentId)
            // Without a compaction, `compacted` reads the whole history.
            let compactions = try await store.compactions(userId: user, sessionId: session, agentId: agent)
            guard !compactions.isEmpty else { return nil }
            return try await store.compactedMessages(userId: user, sessionId: session, agentId: agent)
        }
        // Without a compaction, or if it covers the last message, the messages are used as they are.
        guard let compacted, compacted.compaction != nil,
            let past = compacted.ending(at: last.id, last: MessageWindow.size(for: maxMessages))
        else { return tokenWindow.messages(of: messages) }
        return past.window(tokens: tokenWindow.tokens, counter: tokenWindow.counter)
            ?? tokenWindow.messages(of: messages)
    }

    /// Saves the user's message under the first unused ID of its copies, otherwise under a new ID, until the store
    /// has it.
    ///
    /// A store drops a message with a known ID: an earlier attempt, or a message outside the window. It also drops
    /// a message repeating the role of the last one. If another writer has asked since the history was read, that
    /// question is closed, and this one is saved after it. That question may have its reply by the time this one is
    /// missing. So an ID is known only if this one is missing although no other message was saved meanwhile.
    /// - Returns: The message as saved, and whether the store has it.
    /// - Throws: See `save`.
    private func saveQuestion(
        _ input: AgentInput, after history: [ConversationMessage]
    ) async throws -> (ConversationMessage, isStored: Bool) {
        guard savesMessages, let store else { return (input.message, false) }
        // The window may be shorter than the tail read after the save.
        let earlier = try await fetch(from: store, last: Self.tail)
        var end = earlier.last?.id
        // Another turn has saved the same input since the history was read.
        let newer = earlier.reversed().prefix { $0.id != history.last?.id }
        if history.isEmpty || newer.count < earlier.count, newer.contains(where: isQuestion(of: input)) {
            throw answeredElsewhere(input.message)
        }
        lazy var newID = UUID.random().uuidString
        func isTaken(_ id: String) -> Bool {
            [history, earlier].contains { $0.contains { $0.id.hasSameBytes(as: id) } }
        }
        lazy var copies = copyIDs(of: input.message).filter { !isTaken($0) } + [newID]
        var question = input.message
        // The last saved message with other content.
        var other: ConversationMessage?
        var attempts = 0
        if isTaken(question.id) {
            question = question.with(id: copies.removeFirst())
            try await checkUnanswered(input)
        }
        for _ in 0..<(Self.maxCollisionCount + Self.maxCopyCount) {
            try await save(question, maxMessages: nil)
            let tail = try await uncancelled { try await fetch(from: store, last: Self.tail) }
            if let saved = try await saved(question.id, after: history.last?.id, in: tail) {
                // Under a new ID, only the store can have changed the content.
                if isSame(saved, question) || question.id == newID { return (question, true) }
                // Another writer has saved another question under the same ID. If it is the same one twice, the store changes the
                // content.
                try await checkUnanswered(input)
                let isByStore = other.map(saved.hasSameParts) ?? false
                other = saved
                question = question.with(id: isByStore ? newID : copies.removeFirst())
                continue
            }
            let isUndisturbed = end == tail.last?.id
            end = tail.last?.id
            if let last = tail.last, last.role == .user {
                _ = try await close(last, of: tail)
            } else if !isUndisturbed {
                attempts = 0
            } else if !copies.isEmpty {
                if question.id.hasSameBytes(as: input.id) { try await checkUnanswered(input) }
                question = question.with(id: copies.removeFirst())
            } else {
                // Without another writer's message and under a new ID, the store omits this message on purpose: see
                // `TransformingChatStorage`.
                attempts += 1
                if attempts == Self.maxAttempts { return (question, false) }
            }
        }
        throw RecollectError(
            .verificationFailed,
            "the input could not be saved: other turns are writing to session \(scope.sessionId); send the input again, share one "
                + "orchestrator, or create the store with sameRole: .keep")
    }

    /// Checks that no other turn answers an input that was saved before, and is about to be saved again under the ID of a
    /// copy.
    ///
    /// The last message may be another question or its reply: the reply to the input streams on in another turn. It
    /// may also have been completed since the history was read.
    private func checkUnanswered(_ input: AgentInput) async throws {
        guard let store else { return }
        try await uncancelled {
            let streaming = try await streamingReplies()
            let replies =
                streaming.isEmpty
                ? []
                : ([input.id] + copyIDs(of: input.message)).map { replyIDs(to: input.message.with(id: $0)) }
            let isStreaming = streaming.contains { id in replies.contains { $0.contains(id.string) } }
            // Read after the streaming replies: a reply that is no longer one of them has been saved.
            guard !isStreaming, try await answer(to: input, in: fetch(from: store)) == nil else {
                throw answeredElsewhere(input.message)
            }
        }
    }

    // MARK: Closing

    /// Saves an empty, interrupted reply to a message without one; returns the history with it, within the limit.
    ///
    /// If the reply is still streaming in another process, its end replaces this one: both have the same ID. If an
    /// earlier message has this ID, as in a history whose question alone was deleted and asked again, the reply gets
    /// a new one.
    private func close(
        _ message: ConversationMessage, of history: [ConversationMessage]
    ) async throws -> [ConversationMessage] {
        let ids = replyIDs(to: message)
        var closing = ConversationMessage(
            id: ids.derived, role: .assistant, parts: [], timestamp: message.timestamp)
        closing.isInterrupted = true
        guard savesMessages, let store else { return history + [closing] }
        try await save(closing, maxMessages: nil)
        let saved = try await uncancelled { try await fetch(from: store) }
        guard let last = saved.last, last.id.hasSameBytes(as: message.id), last.role == .user else { return saved }
        try await save(closing.with(id: ids.new()), maxMessages: nil)
        return try await uncancelled { try await fetch(from: store) }
    }

    /// Returns the IDs of the replies to a message.
    func replyIDs(to message: ConversationMessage) -> ReplyIDs {
        ReplyIDs(of: message, from: scope.agentId)
    }
}

extension ConversationMessage {
    /// Whether this reply answers its question: complete, with something other than reasoning, empty text and half a
    /// tool exchange.
    var isAnswer: Bool {
        let parts = [self].wholeExchanges().flatMap(\.parts)
        return !isInterrupted
            && parts.contains { part in
                if case .thinking = part { return false }
                return part.text?.isEmpty != true
            }
    }
}

/// The IDs of the replies to one message: UUIDs of version 8 (RFC 9562, section 5.8). The first half is derived from
/// the message's ID.
struct ReplyIDs {
    /// The ID with a derived second half, too. Two writers closing a message at the same time save one reply.
    let derived: String

    /// Creates the IDs of an agent's replies to a message.
    init(of message: ConversationMessage, from agentId: String) {
        let id = message.copyId(from: "\(agentId)\u{0}reply")
        derived = "\(id.prefix(14))8\(id.dropFirst(15))"
    }

    /// Returns an ID for one more reply, with a random second half.
    func new() -> String {
        "\(firstHalf)\(UUID.random().uuidString.dropFirst(18))"
    }

    /// Whether an ID is one of the message's replies.
    func contains(_ id: String) -> Bool {
        Self.isReply(id) && id.hasPrefix(firstHalf)
    }

    /// Whether an ID is one of the replies to any message.
    static func isReply(_ id: String) -> Bool {
        UUID(uuidString: id).map { $0.uuid.6 & 0xF0 == 0x80 } ?? false
    }

    /// Whether an ID is that of a reply to any message, or was derived in a merge of sessions.
    static func isDerived(_ id: String) -> Bool {
        isReply(id) || UUID.isNameBased(id)
    }

    private var firstHalf: Substring { derived.prefix(18) }
}
