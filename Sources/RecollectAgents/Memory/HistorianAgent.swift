import Foundation
import RecollectCore

/// Answers from what was said before, without a model: searches all of its user's conversations and quotes the best places, with
/// where, when and by whom.
///
/// ```swift
/// let history = SQLiteHistoryStore()
/// let orchestrator = Orchestrator(
///     agents: [HistorianAgent(history: history)], store: DeviceChatStorage(history: history, userId: "ada"))
/// for try await event in orchestrator.route("What did we say about the budget last week?", userId: "ada", sessionId: "today") { … }
/// ```
///
/// It understands a time ("yesterday", "last week", "in May", "3 May", "2026-05-03"), "in this session", quoted phrases, "when did I
/// mention …", in English, German, French, Spanish and Chinese; "3 days ago" in English, "on Monday" in English, German and Spanish.
/// It answers in English. "More" goes on with the next places, "anywhere" asks the last question again of all sessions and times.
/// Where there is nothing within the time it says so and answers from other times; where no message has all words it quotes those
/// that have most of them. A question without a subject lists the latest conversations. What was said to and by the historian itself
/// is not quoted, nor are summaries.
///
/// The reply's metadata holds what it quotes: see `ConversationMessage.quotes`. Failures of the history end the turn.
public struct HistorianAgent: AgentProtocol {
    /// What people call it.
    public let name: String
    /// What it is for, for classifiers.
    public let description: String

    private let history: any HistoryStore
    private let calendar: Calendar
    private let now: @Sendable () -> Date

    /// Makes a historian.
    /// - Parameters:
    ///   - history: what it answers from.
    ///   - name: what people call it; its slug is the agent's id.
    ///   - description: what it is for, for classifiers.
    ///   - calendar: the user's calendar, time zone and locale: what "yesterday" means and how dates are written.
    ///   - now: the moment of the question.
    public init(
        history: any HistoryStore, name: String = "Historian",
        description: String =
            "Answers from earlier conversations: what did we say, discuss, decide, mention or talk about, who said it, where and "
            + "when. Searches and quotes the history.",
        calendar: Calendar = .current, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.history = history
        self.name = name
        self.description = description
        self.calendar = calendar
        self.now = now
    }

    /// Answers a question: the beginning first, then place by place.
    public func process(
        _ input: AgentInput, history said: [ConversationMessage], context: AgentContext
    ) -> AsyncThrowingStream<AgentEvent, any Error> {
        AsyncThrowingStream(running: { stream in
            let answer = try await answer(to: input, after: said, in: context)
            for piece in answer.pieces { stream.yield(.textDelta(piece)) }
            stream.yield(.final(answer.message))
        })
    }

    private func answer(
        to input: AgentInput, after said: [ConversationMessage], in context: AgentContext
    ) async throws -> HistoryAnswer {
        var asked = HistoryQuestion.asked(input.text, after: said, now: now(), calendar: calendar)
        let writer = HistoryWriter(history: history, calendar: calendar)
        let question = asked.question
        guard !question.words.words.isEmpty else {
            return try await writer.conversations(in: question.time, besides: context.conversation)
        }
        let search = HistorySearch(
            history: history, userId: context.userId, sessionId: question.isOfThisSession ? context.sessionId : nil,
            isHidden: { [id, inputId = input.id] in
                $0.agentId.hasSameBytes(as: id) || $0.messageId.hasSameBytes(as: inputId)
                    || $0.agentId.utf8.starts(with: SummarizingChatStorage.reservedPrefix.utf8)
            })
        var found = try await search.find(question, besides: asked.shown)
        if found.hits.isEmpty, question.time != nil, try await search.find(question, besides: []).hits.isEmpty {
            asked.missedTime = question.time
            asked.question.time = nil
            found = try await search.find(asked.question, besides: asked.shown)
        }
        return try await writer.quotations(found, of: asked)
    }
}
