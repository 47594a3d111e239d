/// The message of a streaming reply at its end, from its last content and from what others have saved under its ID meanwhile.
package struct FinalReply: Sendable {
    /// The effect of a stored message with the reply's ID on the end of an interrupted reply.
    package enum Resolution {
        /// The reply is saved as it is: appended, or as an edit of the stored message.
        case save
        /// The stored message has the content of the reply already. It gets only the details begun with the reply.
        case keepStored(FinalReply)
        /// The stored message has different text, and the reply needs a new ID: a UI has saved the text as complete, or the reply
        /// was another attempt.
        case useNewID
    }

    /// The message to save.
    package private(set) var message: ConversationMessage
    /// The last saved increment.
    package let begun: ConversationMessage
    /// Whether the message has the content appended by its writer, and was not given at the end.
    private let isAppended: Bool

    /// Creates the end of a reply.
    /// - Parameters:
    ///   - message: The final message. It gets the ID of the reply, which may have changed since.
    ///   - begun: The last saved increment.
    ///   - isAppended: Whether the message has the content appended by its writer, and was not given at the end.
    package init(_ message: ConversationMessage, of begun: ConversationMessage, isAppended: Bool) {
        self.message = message.with(id: begun.id)
        self.begun = begun
        self.isAppended = isAppended
        if isAppended || message.isInterrupted {
            // A UI may have saved a longer increment.
            self.message.parts = message.parts.keepingLongerText(of: begun.parts)
        }
    }

    /// Returns the effect of a stored message with the reply's ID.
    package func resolution(beside stored: ConversationMessage?) -> Resolution {
        guard message.isInterrupted, let stored, stored.role == message.role else { return .save }
        let merged = message.keepingDetails(of: stored, since: begun)
        let isLonger = !(stored.text.utf8.starts(with: message.text.utf8) && stored.hasParts(of: message))
        if isLonger, merged.hasContent(of: stored) { return .save }
        guard stored.hasContent(of: message) else { return .useNewID }
        var whole = stored
        whole.metadata.merge(begun.metadata) { stored, _ in stored }
        return .keepStored(FinalReply(whole, of: stored, isAppended: isAppended))
    }

    /// Gives the reply another ID.
    package mutating func use(id: String) {
        message = message.with(id: id)
    }

    /// Returns the message to save in place of a stored one with its ID and role: without and with the details added by a UI.
    package func edit(of stored: ConversationMessage?) -> (message: ConversationMessage, whole: ConversationMessage) {
        guard let stored else { return (message, message) }
        var message = message
        if isAppended, stored.isProse, !stored.isInterrupted {
            // A UI has saved a longer text as complete: no complete reply had the ID at the beginning.
            message.parts = message.parts.keepingLongerText(of: stored.parts)
        }
        return (message, message.keepingDetails(of: stored, since: begun))
    }
}
