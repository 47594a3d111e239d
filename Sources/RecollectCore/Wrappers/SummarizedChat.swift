/// A scope as given to agents: the summary, and the turns after it.
struct SummarizedChat: Sendable {
    /// The summary, if there is one of this history.
    let summary: StoredSummary?
    /// The turns not covered by the summary.
    let turns: TurnBoundaries
    /// The ID of the stored summary, also if it does not fit this history.
    let storedId: String?

    /// Creates a chat from the stored messages: all of them, or at least those back to the last one covered by the
    /// summary.
    init(summary: StoredSummary?, messages: [ConversationMessage]) {
        let uncovered = summary?.uncovered(of: messages)
        self.summary = uncovered == nil ? nil : summary
        storedId = summary?.message.id
        turns = TurnBoundaries(uncovered ?? messages)
    }

    /// Returns the summary, then the last messages within a budget. The summary does not count toward the budget.
    func given(maxMessages: Int?) -> [ConversationMessage] {
        let window = turns.messages.suffix(MessageWindow.size(for: maxMessages) ?? turns.messages.count)
        return (summary.map { [$0.message] } ?? []) + window
    }

    /// The messages to summarize next.
    struct SummaryInput {
        let covered: ArraySlice<ConversationMessage>
        let left: ArraySlice<ConversationMessage>
        /// Whether more turns remain to be summarized.
        let isPart: Bool
    }

    /// Returns all turns but the last `keepLast`, at most `limit`; `nil` if there are none.
    func summaryInput(keepingLast keepLast: Int, atMost limit: Int) -> SummaryInput? {
        let count = min(turns.count - keepLast, limit)
        guard count > 0 else { return nil }
        let covered = turns.first(count)
        return SummaryInput(
            covered: covered, left: turns.messages[covered.endIndex...], isPart: turns.count - count > keepLast)
    }
}
