extension Sequence<ConversationMessage> {
    /// The messages without any half of a tool exchange: a result whose call is not before it goes, a call whose result is not
    /// after it goes, and so does a second result for the same call.
    ///
    /// Everything else in a message stays; a message that had nothing else goes with its half. Model providers refuse a
    /// history that breaks this, for good: see rule 10 in the guide "The rules of a history". A history without halves comes
    /// back unchanged; applying it twice changes nothing more.
    public func wholeExchanges() -> [ConversationMessage] {
        let messages = Array(self)
        guard messages.contains(where: \.belongsToToolExchange) else { return messages }
        let kept = wholeExchangeParts(of: messages)
        return zip(messages, kept).compactMap { message, keepsPart in
            guard let keepsPart else { return message }
            var repaired = message
            repaired.parts = zip(message.parts, keepsPart).compactMap { part, keeps in keeps ? part : nil }
            return repaired.parts.isEmpty ? nil : repaired
        }
    }
}

/// For each message, `nil` when all its parts stay, else which of them do.
private func wholeExchangeParts(of messages: [ConversationMessage]) -> [[Bool]?] {
    var kept: [[Bool]?] = messages.map { message in
        message.belongsToToolExchange ? message.parts.map { !$0.belongsToToolExchange } : nil
    }
    // Ids may repeat; a result answers the latest open call of its id.
    var open: [ByteString: [(message: Int, part: Int)]] = [:]
    for (index, message) in messages.enumerated() where kept[index] != nil {
        for (partIndex, part) in message.parts.enumerated() {
            switch part {
            case .toolCall(let id, _, _):
                open[ByteString(id), default: []].append((index, partIndex))
            case .toolResult(let id, _):
                guard let call = open[ByteString(id)]?.popLast() else { continue }
                kept[call.message]?[call.part] = true
                kept[index]?[partIndex] = true
            default:
                continue
            }
        }
    }
    return kept
}
