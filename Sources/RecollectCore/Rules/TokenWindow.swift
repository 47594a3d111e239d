/// The window rule for tokens: the messages for a model within a budget.
///
/// The budget is used for the instructions, then for the turns with a pinned message, the newest first, then for the newest
/// turns without a gap. A turn is a message of the user with everything up to the user's next one; consecutive messages of
/// the user are one turn, and so are the messages before the user's first one. The window has whole turns in the order of
/// the history, so it has no incomplete tool exchange. If the last turn alone exceeds the rest of the budget, its oldest
/// tool exchanges are left out until it fits.
package struct TokenWindow {
    package let tokens: Int
    package let counter: TokenCounter

    /// Creates the rule.
    /// - Parameter tokens: The budget.
    package init(tokens: Int, counter: TokenCounter) {
        self.tokens = tokens
        self.counter = counter
    }

    /// Returns the window of a whole history.
    package func messages(of history: some Sequence<ConversationMessage>) -> [ConversationMessage] {
        let all = Array(history)
        let instructions = all.prefix { $0.role == .system }
        return messages(instructions: instructions, newest: all[instructions.endIndex...], isAll: true) ?? []
    }

    /// Returns the window of a history from its newest messages.
    /// - Parameters:
    ///   - instructions: The messages with the role `system` before all others.
    ///   - newest: The newest of the other messages. If there are more, none of these is pinned.
    ///   - isAll: Whether `newest` has all other messages.
    /// - Returns: `nil` if more messages are needed.
    package func messages(
        instructions: some Sequence<ConversationMessage>, newest: some Collection<ConversationMessage>, isAll: Bool
    ) -> [ConversationMessage]? {
        guard tokens > 0 else { return [] }
        // A result without its call may be the result of a call before `newest`.
        guard isAll || !newest.hasResultWithoutCall else { return nil }
        var left = tokens
        let instructions = instructions.wholeExchanges().filter { message in
            let count = counter.count(message)
            guard count <= left else { return false }
            left -= count
            return true
        }
        var history = CountedHistory(newest.wholeExchanges(), counter)
        var kept: Set<Int> = []
        // The first turn may be a part of one.
        let firstWhole = isAll ? 0 : 1
        for (index, turn) in history.turns.enumerated().reversed() where history.isPinned(turn) {
            guard index >= firstWhole else { return nil }
            if history.spend(on: turn, from: &left) { kept.insert(index) }
        }
        var last: [ConversationMessage] = []
        var index = history.turns.count - 1
        while index >= 0 {
            if !kept.contains(index) {
                guard index >= firstWhole else { return nil }
                guard history.spend(on: history.turns[index], from: &left) else { break }
                kept.insert(index)
            }
            index -= 1
        }
        if index < 0 && !isAll { return nil }
        if index >= 0 && index == history.turns.count - 1 {
            last = history.reduced(history.turns[index], to: left) ?? []
        }
        return instructions + kept.sorted().flatMap { history.messages[history.turns[$0]] } + last
    }
}

extension Sequence<ConversationMessage> {
    /// Returns the messages for a model within a budget of tokens: see `ChatStorage.window`.
    public func window(tokens: Int, counter: TokenCounter = .estimate) -> [ConversationMessage] {
        TokenWindow(tokens: tokens, counter: counter).messages(of: self)
    }
}

extension Collection<ConversationMessage> {
    fileprivate var hasResultWithoutCall: Bool {
        let resultCount = reduce(0) { $0 + $1.parts.count(where: \.isToolResult) }
        return resultCount > 0 && ToolExchange.all(in: self).count < resultCount
    }
}

extension ContentPart {
    fileprivate var isToolResult: Bool {
        if case .toolResult = self { return true }
        return false
    }
}

/// A history without incomplete exchanges, whose messages are counted at most once.
private struct CountedHistory {
    let messages: [ConversationMessage]
    let turns: [Range<Int>]
    private let counter: TokenCounter
    private var counts: [Int?]

    init(_ messages: [ConversationMessage], _ counter: TokenCounter) {
        self.messages = messages
        turns = Self.turns(of: messages)
        self.counter = counter
        counts = Array(repeating: nil, count: messages.count)
    }

    func isPinned(_ turn: Range<Int>) -> Bool { messages[turn].contains(where: \.isPinned) }

    /// Subtracts the tokens of a turn. Returns whether there are enough.
    mutating func spend(on turn: Range<Int>, from left: inout Int) -> Bool {
        var rest = left
        for index in turn {
            let count = count(index)
            guard count <= rest else { return false }
            rest -= count
        }
        left = rest
        return true
    }

    /// Returns a turn without its oldest tool exchanges, as many as exceed the budget; `nil` if its other content exceeds
    /// it.
    mutating func reduced(_ turn: Range<Int>, to budget: Int) -> [ConversationMessage]? {
        let exchanges = ToolExchange.all(in: messages[turn])
            .sorted { ($0.call.message, $0.call.index) < ($1.call.message, $1.call.index) }
        // The number of each part's exchange, from the oldest one. Other parts stay.
        var numbers = messages[turn].map { Array(repeating: Int.max, count: $0.parts.count) }
        for (number, exchange) in exchanges.enumerated() {
            for part in [exchange.call, exchange.result] { numbers[part.message][part.index] = number }
        }
        var (low, high) = (1, exchanges.count + 1)
        var best: [ConversationMessage]?
        while low < high {
            let middle = (low + high) / 2
            if let messages = without(first: middle, numbers, in: turn, budget) {
                (best, high) = (messages, middle)
            } else {
                low = middle + 1
            }
        }
        return best
    }

    /// Returns a turn without its first exchanges; `nil` if it exceeds the budget.
    private mutating func without(
        first count: Int, _ numbers: [[Int]], in turn: Range<Int>, _ budget: Int
    ) -> [ConversationMessage]? {
        var left = budget
        var kept: [ConversationMessage] = []
        for (index, numbers) in zip(turn, numbers) {
            let isWhole = numbers.allSatisfy { $0 >= count }
            guard let message = isWhole ? messages[index] : messages[index].with(parts: numbers.map { $0 >= count })
            else { continue }
            let tokens = isWhole ? self.count(index) : counter.count(message)
            guard tokens <= left else { return nil }
            left -= tokens
            kept.append(message)
        }
        return kept
    }

    private mutating func count(_ index: Int) -> Int {
        if let count = counts[index] { return count }
        let count = counter.count(messages[index])
        counts[index] = count
        return count
    }

    /// Returns the turns. The messages before the user's first one are a turn of their own.
    private static func turns(of messages: [ConversationMessage]) -> [Range<Int>] {
        var turns = TurnBoundaries(messages).ranges
        let first = messages.firstIndex { $0.role == .user && !$0.belongsToToolExchange }
        guard let first, first > 0, let turn = turns.first, turn.contains(first) else { return turns }
        let isInsideExchange = ToolExchange.all(in: messages[turn]).contains {
            $0.call.message < first && $0.result.message >= first
        }
        if !isInsideExchange { turns.replaceSubrange(0..<1, with: [0..<first, first..<turn.upperBound]) }
        return turns
    }
}
