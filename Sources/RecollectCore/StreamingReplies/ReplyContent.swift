extension StreamingReply {
    /// The error for a second streaming reply with an ID.
    package static let alreadyStreaming = RecollectError(
        .invalidArgument,
        "a reply with that ID is already streaming, for this agent or without an agent; end it, or give this one a unique ID"
    )
}

extension ConversationMessage {
    /// Checks that the end of a reply begun with this message would not replace the content of a stored message with its ID: that
    /// of a complete reply, of an interrupted one not continued by this one, or of a message of another role.
    /// - Throws: `invalidArgument`.
    package func checkBeginsReply(beside stored: ConversationMessage, in scope: Scope) throws {
        guard stored.role == role else {
            throw RecollectError(
                .invalidArgument,
                "session \(scope.sessionId) has a message with the ID of that reply and another role; give the reply a "
                    + "unique ID")
        }
        let isContinued = stored.isInterrupted && hasContent(of: stored)
        guard isContinued || stored.parts.allSatisfy({ $0 == .text("") }) else {
            throw RecollectError(
                .invalidArgument,
                "session \(scope.sessionId) has a reply with that ID and different content; give the reply a unique ID")
        }
    }
}

extension ConversationMessage {
    /// Returns the message with the attachments, metadata and flags that a UI has added to the reply's entry.
    /// - Parameters:
    ///   - held: The message saved by the UI.
    ///   - begun: An earlier state of this message.
    package func keepingDetails(
        of held: ConversationMessage, since begun: ConversationMessage
    ) -> ConversationMessage {
        let (shown, known) = (held.chatMessages(), begun.chatMessages())
        // An interrupted message with different text is that of an earlier attempt.
        let isEarlierAttempt = held.isInterrupted && !hasText(of: held)
        guard shown.count == 1, !isEarlierAttempt else { return self }
        let before = known.first { $0.isSameKind(as: shown[0]) }
        var edits = ChatMessageEdits(self)
        edits.addDetails(
            ChatMessageChange(
                shown[0], keptAs: shown[0],
                from: before.map { KnownChatMessage(hash: ChatMessageHash($0), entry: $0) }))
        return edits.edited ?? self
    }

    /// Whether the message is one text.
    package var isProse: Bool { parts.count == 1 && parts[0].text != nil }

    /// Whether the message begins with the text of another one, apart from white space, and has all its other parts.
    package func hasContent(of other: ConversationMessage) -> Bool {
        hasText(of: other) && hasParts(of: other)
    }

    /// Whether the message has all parts of another one, except for texts.
    package func hasParts(of other: ConversationMessage) -> Bool {
        other.parts.allSatisfy { $0.text != nil || parts.contains($0) }
    }

    /// Whether the message begins with the text of another one, apart from white space.
    package func hasText(of other: ConversationMessage) -> Bool { text.continues(other.text) }
}

extension [ContentPart] {
    /// Returns the parts of a reply with the rest of an earlier state that continues their texts: a UI has saved more of
    /// them. A UI without tools may have the later texts in its first one: these are not repeated, and its
    /// rest is put behind the last of them.
    package func keepingLongerText(of earlier: [ContentPart]) -> [ContentPart] {
        let (text, longer) = (compactMap(\.text).joined(), earlier.compactMap(\.text).joined())
        if text.continues(longer) { return self }
        let last = lastIndex { $0.text?.isBlank == false } ?? firstIndex { $0.text != nil }
        if let last, let end = self[last].text, longer.continues(text) {
            var rest = longer.unicodeScalars[...]
            for _ in text.withoutWhiteSpace { rest = rest.drop(while: \.properties.isWhitespace).dropFirst() }
            let space = end.unicodeScalars.reversed().prefix(while: \.properties.isWhitespace).reversed()
            var parts = self
            parts[last] = .text(end + String(rest.trimmingPrefix(space)))
            return parts
        }
        // The texts go on in another way.
        return zip(indices, self).map { index, part in
            guard index < earlier.count, let text = part.text, let longer = earlier[index].text,
                longer.utf8.starts(with: text.utf8)
            else { return part }
            return earlier[index]
        }
    }
}
