/// A history cut into turns, which may be left out or folded as a whole: each begins with what the user says and holds all that
/// follows, up to what they say next.
struct Turns {
    /// The messages, whole.
    let messages: [ConversationMessage]
    /// Where each turn begins; what stands before the user's first words belongs to the first turn.
    private let starts: [Int]

    /// Finds the turns. No turn begins inside a tool exchange, nor between messages of the user that follow one another: their
    /// reply answers them all.
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

    /// How many turns there are.
    var count: Int { starts.count }

    /// Whether the last turn has no answer yet.
    var isLastUnanswered: Bool { messages.last?.role == .user }

    /// The messages of the first turns.
    func first(_ count: Int) -> ArraySlice<ConversationMessage> {
        messages[..<(count < starts.count ? starts[count] : messages.count)]
    }

    /// For each message that calls tools, where the last of the results stands.
    private static func exchangeEnds(in messages: [ConversationMessage]) -> [Int: Int] {
        var open: [ByteString: [Int]] = [:]
        var ends: [Int: Int] = [:]
        for (index, message) in messages.enumerated() {
            for part in message.parts {
                switch part {
                case .toolCall(let id, _, _): open[ByteString(id), default: []].append(index)
                case .toolResult(let id, _):
                    if let call = open[ByteString(id)]?.popLast() { ends[call] = index }
                default: continue
                }
            }
        }
        return ends
    }
}
