/// A scope as agents are given it: the summary, and the turns that no summary covers.
struct SummarizedChat: Sendable {
    /// The summary, where there is one of this history.
    let summary: StoredSummary?
    /// What it does not cover.
    let turns: Turns
    /// The id of the summary that is stored, of this history or not.
    let storedId: String?

    /// Puts together what is stored: all messages, or as many of the last as the summary reaches into.
    init(summary: StoredSummary?, messages: [ConversationMessage]) {
        let uncovered = summary?.uncovered(of: messages)
        self.summary = uncovered == nil ? nil : summary
        storedId = summary?.message.id
        turns = Turns(uncovered ?? messages)
    }

    /// The summary, then the last messages within a budget, which the summary does not count in.
    func given(maxMessages: Int?) -> [ConversationMessage] {
        let window = turns.messages.suffix(MessageWindow.size(for: maxMessages) ?? turns.messages.count)
        return (summary.map { [$0.message] } ?? []) + window
    }

    /// What is to be folded into the summary.
    struct Fold {
        let folded: ArraySlice<ConversationMessage>
        let left: ArraySlice<ConversationMessage>
        /// Whether more remains to be folded.
        let isPart: Bool
    }

    /// All turns but the last few, or as many of them as a summariser is given at once; `nil` where there are none.
    func fold(keepingLast keepLast: Int, atMost limit: Int) -> Fold? {
        let count = min(turns.count - keepLast, limit)
        guard count > 0 else { return nil }
        let folded = turns.first(count)
        return Fold(
            folded: folded, left: turns.messages[folded.endIndex...], isPart: turns.count - count > keepLast)
    }
}
