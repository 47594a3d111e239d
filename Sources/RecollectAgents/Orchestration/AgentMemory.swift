import Foundation
import RecollectCore

/// What is kept of one agent's part in a session, over any store; without a store, nothing.
struct AgentMemory: Sendable {
    let store: (any ChatStorage)?
    let scope: Scope
    let maxMessages: Int?
    /// Whether this agent's turns are kept.
    let isKept: Bool

    // MARK: What was said

    /// What was said before. Replies whose process has ended are there as far as they had come.
    func history() async throws -> [ConversationMessage] {
        guard let store else { return [] }
        let history = try await fetch(from: store)
        guard history.last?.role == .user, let drafting = store as? any DraftingChatStorage else { return history }
        // The question was asked by a process that may have ended in the middle of the reply.
        _ = try await drafting.repliesInFlight(userId: scope.userId, sessionId: scope.sessionId)
        return try await fetch(from: store)
    }

    private func fetch(from store: any ChatStorage, last count: Int? = nil) async throws -> [ConversationMessage] {
        try await store.fetch(
            userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId, maxMessages: count ?? maxMessages)
    }

    // MARK: What is said now

    /// Saves the user's message behind what was said before, and gives what the agent is given: what was said before, without any
    /// half of a tool exchange.
    ///
    /// The budget is left to the reply: a question that trims alone would leave a window that begins with an answer. Cancellation does
    /// not reach this: what a user has said in a turn that has begun is kept.
    func save(_ input: AgentInput, after history: [ConversationMessage]) async throws -> [ConversationMessage] {
        var before = history
        if let last = history.last, last.role == .user {
            if last.id.hasSameBytes(as: input.id) {
                before.removeLast()
            } else {
                let closing = Self.closing(last)
                try await save(closing, maxMessages: nil)
                before.append(closing)
            }
        }
        try await save(input.message, maxMessages: nil)
        if input.hasGivenId { try await makeSure(of: input.message) }
        return before.wholeExchanges()
    }

    /// Another agent's part of the session may hold a message of that id; then this one was not taken, and the reply would be the
    /// second in a row, and dropped. It is saved under an id of its own.
    private func makeSure(of message: ConversationMessage) async throws {
        guard isKept, let store else { return }
        let last = try await uncancelled { try await fetch(from: store, last: 2).last }
        guard last?.role != .user else { return }
        let copy = ConversationMessage(
            id: message.copyId(from: scope.agentId), role: .user, parts: message.parts, timestamp: message.timestamp,
            metadata: message.metadata, unknownFields: message.unknownFields)
        try await save(copy, maxMessages: nil)
    }

    /// The reply to a message that never got one: empty and interrupted. Its id is made of the message's, so that two who close it
    /// at once close it once.
    private static func closing(_ message: ConversationMessage) -> ConversationMessage {
        var closing = ConversationMessage(
            id: message.copyId(from: "interrupted reply"), role: .assistant, parts: [],
            timestamp: message.timestamp)
        closing.isInterrupted = true
        return closing
    }

    /// Begins a reply. `isStreaming` tells whether it will take its time: then it is kept meanwhile where the store can.
    func beginReply(_ message: ConversationMessage, isStreaming: Bool) async -> ReplyDraft {
        if isStreaming, isKept, let drafting = store as? any DraftingChatStorage,
            // Where this fails the reply goes on, and the save at its end tells what still fails then.
            let draft = try? await drafting.beginReply(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        {
            return draft
        }
        return ReplyDraft(message, scope: scope, keeper: ReplySaving(memory: self))
    }

    /// Saves a message, past any cancellation.
    fileprivate func save(_ message: ConversationMessage, maxMessages: Int?) async throws {
        guard isKept, let store else { return }
        try await uncancelled { [scope] in
            try await store.save(
                message, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                maxMessages: maxMessages)
        }
    }

    /// Runs work that cancellation must not reach; it may be begun twice, which must be the same as once.
    private func uncancelled<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws
        -> Value
    {
        if !Task.isCancelled {
            do {
                return try await work()
            } catch  where Task.isCancelled {
                // It was cancelled in the middle. A task of its own knows nothing of that.
            }
        }
        return try await Task { try await work() }.value
    }
}

/// Keeps a reply in memory until its end, and then saves it as a message like any other.
private struct ReplySaving: ReplyKeeping {
    let memory: AgentMemory

    func keep(_ text: String) async throws {}

    func finish(_ message: ConversationMessage) async throws {
        try await memory.save(message, maxMessages: memory.maxMessages)
    }
}
