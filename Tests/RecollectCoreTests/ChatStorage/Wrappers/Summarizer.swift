@testable import RecollectCore

/// Summarizes messages as a list of their IDs, so that a summary shows exactly what it covers.
final class Summarizer: Sendable {
    struct Call: Sendable {
        let summary: String?
        let ids: [String]
    }

    private let calls = Locked<[Call]>([])
    private let before = Locked<(@Sendable () async throws -> Void)?>(nil)

    /// The calls so far.
    var all: [Call] { calls.withLock { $0 } }

    /// Sets a body that runs in each call before the summary is returned.
    func beforeAnswering(_ body: (@Sendable () async throws -> Void)?) {
        before.withLock { $0 = body }
    }

    var summarize: ChatSummarizer {
        { summary, messages in
            self.calls.withLock { $0.append(Call(summary: summary, ids: messages.map(\.id))) }
            try await self.before.withLock { $0 }?()
            return ((summary.map { [$0] } ?? []) + messages.map(\.id)).joined(separator: " ")
        }
    }
}

extension [ConversationMessage] {
    /// The IDs of all messages that an agent receives: those covered by the summary, then those that follow.
    var givenIDs: [String] {
        flatMap { message in
            StoredCompaction.isReserved(message.id) ? message.text.split(separator: " ").map(String.init) : [message.id]
        }
    }
}
