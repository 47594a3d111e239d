/// A history divided into turns. Each turn begins with a message of the user and ends before the user's next one.
struct TurnBoundaries {
    /// All messages.
    let messages: [ConversationMessage]
    /// The start index of each turn. Messages before the user's first one belong to the first turn.
    private let starts: [Int]

    /// Creates the turns. No turn begins inside a tool exchange, or between consecutive messages of the user with
    /// one common reply.
    init(_ messages: [ConversationMessage]) {
        self.messages = messages
        let openUntil = Self.exchangeEnds(in: messages)
        var starts: [Int] = []
        var reach = -1
        var hasUser = false
        for (index, message) in messages.enumerated() {
            let isUsers = message.role == .user && !message.belongsToToolExchange
            let follows = index > 0 && messages[index - 1].role == .user
            if index == 0 || (isUsers && hasUser && !follows && index > reach) { starts.append(index) }
            hasUser = hasUser || isUsers
            reach = max(reach, openUntil[index] ?? -1)
        }
        self.starts = starts
    }

    /// The number of turns.
    var count: Int { starts.count }

    /// The indices of the messages of each turn.
    var ranges: [Range<Int>] {
        zip(starts, starts.dropFirst() + [messages.count]).map { $0..<$1 }
    }

    /// Whether the last turn has no reply yet.
    var isLastUnanswered: Bool { messages.last?.role == .user }

    /// Returns the messages of the first turns.
    func first(_ count: Int) -> ArraySlice<ConversationMessage> {
        messages[..<(count < starts.count ? starts[count] : messages.count)]
    }

    /// Returns the index of the last result for each message with tool calls.
    private static func exchangeEnds(in messages: [ConversationMessage]) -> [Int: Int] {
        Dictionary(ToolExchange.all(in: messages).map { ($0.call.message, $0.result.message) }, uniquingKeysWith: max)
    }
}
