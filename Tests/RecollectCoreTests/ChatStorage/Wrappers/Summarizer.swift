@testable import RecollectCore

/// Summarises by naming the ids of all messages that were folded, so that a summary tells exactly what it covers.
final class Summarizer: Sendable {
    struct Call: Sendable {
        let summary: String?
        let ids: [String]
    }

    private let calls = Locked<[Call]>([])
    private let before = Locked<(@Sendable () async throws -> Void)?>(nil)

    /// The calls so far.
    var all: [Call] { calls.withLock { $0 } }

    /// What happens in each call before it gives the summary.
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
    /// The ids of all that an agent is told by this: what the summary covers, then what follows.
    var toldIds: [String] {
        flatMap { message in
            StoredSummary.isReserved(message.id) ? message.text.split(separator: " ").map(String.init) : [message.id]
        }
    }
}
