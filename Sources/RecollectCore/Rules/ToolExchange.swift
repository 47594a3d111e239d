/// A tool call and its result in a list of messages.
struct ToolExchange {
    /// The position of a part.
    struct Part {
        /// The index of the message.
        let message: Int
        /// The index in the message.
        let index: Int
    }

    let call: Part
    let result: Part

    /// Returns the exchanges, in the order of their results. IDs may repeat; a result belongs to the latest open call with
    /// its ID.
    static func all(in messages: some Collection<ConversationMessage>) -> [ToolExchange] {
        var open: [ByteString: [Part]] = [:]
        var exchanges: [ToolExchange] = []
        for (message, content) in messages.enumerated() {
            for (index, part) in content.parts.enumerated() {
                switch part {
                case .toolCall(let id, _, _):
                    open[ByteString(id), default: []].append(Part(message: message, index: index))
                case .toolResult(let id, _):
                    guard let call = open[ByteString(id)]?.popLast() else { continue }
                    exchanges.append(ToolExchange(call: call, result: Part(message: message, index: index)))
                default: continue
                }
            }
        }
        return exchanges
    }
}
