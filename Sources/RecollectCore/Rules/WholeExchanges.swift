extension Sequence<ConversationMessage> {
    /// Returns the messages without incomplete tool exchanges: results without an earlier call, calls without a
    /// later result, and second results of one call are removed.
    ///
    /// The rest of each message stays; a message without other content is removed. Model providers permanently
    /// refuse a history with incomplete exchanges: see rule 10 in the guide "The rules of a history". A history
    /// without them is returned unchanged, and a second application has no further effect.
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

/// Returns for each message the parts to retain; `nil` if all of them stay.
private func wholeExchangeParts(of messages: [ConversationMessage]) -> [[Bool]?] {
    var kept: [[Bool]?] = messages.map { message in
        message.belongsToToolExchange ? message.parts.map { !$0.belongsToToolExchange } : nil
    }
    // IDs may repeat; a result belongs to the latest open call with its ID.
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
