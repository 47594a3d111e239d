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
        var kept = messages.map { message in message.parts.map { !$0.belongsToToolExchange } }
        for exchange in ToolExchange.all(in: messages) {
            for part in [exchange.call, exchange.result] { kept[part.message][part.index] = true }
        }
        return zip(messages, kept).compactMap { message, keepsPart in
            keepsPart.contains(false) ? message.with(parts: keepsPart) : message
        }
    }
}

extension ConversationMessage {
    /// Returns the message with some of its parts; `nil` without any.
    func with(parts isKept: [Bool]) -> ConversationMessage? {
        guard isKept.contains(true) else { return nil }
        var message = self
        message.parts = zip(parts, isKept).compactMap { part, isKept in isKept ? part : nil }
        return message
    }
}
