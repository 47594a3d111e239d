import Foundation
import RecollectAgents
import RecollectCore

/// Answers questions about the history, without a model: searches all sessions of the user and quotes the best
/// matches, with session, date and author.
///
/// ```swift
/// let history = SQLiteHistoryStore()
/// let orchestrator = Orchestrator(
///     agents: [HistorianAgent(history: history)], store: DeviceChatStorage(history: history, userId: "ada"))
/// let question = AgentInput.text("What did we say about the budget last week?")
/// for try await event in orchestrator.route(question, userId: "ada", sessionId: "today") { print(event) }
/// ```
///
/// Questions may be in English, German, French, Spanish or Chinese, with a time ("yesterday", "last week", "in
/// May", "3 May", "2026-05-03"), "in this session", quoted phrases, and "when did I mention …". "3 days ago" is
/// supported in English, "on Monday" in English, German and Spanish. Replies are in English.
///
/// "More" continues with the next matches. "Anywhere" repeats the last question for all sessions and times. If
/// there are no matches within the time, the reply says so and quotes from other times. If no message has all
/// words, it quotes the best of those with some. A question without a topic lists the latest sessions. Messages to
/// and from the historian are not quoted, nor are summaries.
///
/// The reply's metadata lists its quotes: see `ConversationMessage.quotes`. An error of the history ends the turn.
public struct HistorianAgent: AgentProtocol {
    /// The display name.
    public let name: String
    /// The agent's purpose, for classifiers.
    public let description: String

    private let history: any HistoryStore
    private let calendar: Calendar
    private let now: @Sendable () -> Date

    /// Creates a historian.
    /// - Parameters:
    ///   - history: The store to search.
    ///   - name: The display name. Its slug is the agent's ID.
    ///   - description: The agent's purpose, for classifiers.
    ///   - calendar: The user's calendar, time zone and locale, for times in questions and dates in replies.
    ///   - now: Returns the date of the question.
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

    /// Answers a question: first the opening, then each quote.
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
            return try await writer.sessions(in: question.time, besides: context.session)
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
