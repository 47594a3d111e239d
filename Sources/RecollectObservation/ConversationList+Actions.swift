import RecollectCore

/// What a user does to conversations of the list. When a call returns, the list shows it.
extension ConversationList {
    /// A conversation that was discarded, and whether it was selected then.
    struct Discarded: Sendable {
        let id: ConversationID
        let wasSelected: Bool
    }

    /// Shows a conversation before others, or no longer.
    public func setPinned(_ isPinned: Bool, of id: ConversationID) async {
        await update(id, with: ConversationDetails(isPinned: isPinned))
    }

    /// Puts a conversation away, or brings it back.
    public func setArchived(_ isArchived: Bool, of id: ConversationID) async {
        await update(id, with: ConversationDetails(isArchived: isArchived))
    }

    /// Marks all that was said in a conversation as read, or the last of it as unread.
    public func setRead(_ isRead: Bool, of id: ConversationID) async {
        await update(id, with: ConversationDetails(isRead: isRead))
    }

    /// Gives a conversation a title; an empty one takes the title away.
    public func rename(_ id: ConversationID, to title: String) async {
        await update(id, with: ConversationDetails(title: title))
    }

    /// Tags a conversation.
    public func addTag(_ tag: String, to id: ConversationID) async {
        await update(id, with: ConversationDetails(addedTags: [tag]))
    }

    /// Takes a tag away from a conversation.
    public func removeTag(_ tag: String, from id: ConversationID) async {
        await update(id, with: ConversationDetails(removedTags: [tag]))
    }

    /// Takes a conversation out of every list and search. `undoDiscard()` brings it back; after a history's retention time
    /// nothing does.
    public func discard(_ id: ConversationID) async {
        let entry = Discarded(id: id, wasSelected: selection == id)
        await writing { [self] in
            guard try await history.discardConversation(id) else { throw Self.isMissing(id) }
            // After a read that is under way: what it found is from before, and would take the entry for one brought back.
            try await reads.run { [self] in
                discarded.removeAll { $0.id == id }
                discarded.append(entry)
            }
            try await read([id])
        }
    }

    /// Whether there is something that was discarded here and can be restored.
    public var canUndoDiscard: Bool { !discarded.isEmpty }

    /// Brings back what was discarded here last, and selects it if it was selected. Does nothing where nothing was discarded.
    public func undoDiscard() async {
        guard let entry = discarded.popLast() else { return }
        await writing { [self] in
            // It may be back already: somebody wrote to it, or another list brought it back.
            try await history.restoreConversation(entry.id)
            try await read([entry.id])
            guard try await history.conversation(entry.id) != nil else { throw Self.isMissing(entry.id) }
            if entry.wasSelected { selection = entry.id }
        }
    }

    /// Deletes a conversation for good: messages, attachments that nothing else uses, index entries.
    public func delete(_ id: ConversationID) async {
        await writing { [self] in
            try await history.deleteConversation(id)
            try await read([id])
        }
    }

    private func update(_ id: ConversationID, with details: ConversationDetails) async {
        await writing { [self] in
            let isThere = try await history.update(id, with: details, makesNew: false)
            try await read([id])
            if !isThere { throw Self.isMissing(id) }
        }
    }

    private static func isMissing(_ id: ConversationID) -> RecollectError {
        RecollectError(.notFound, "The conversation \(id.sessionId) is no longer there: it was deleted elsewhere.")
    }
}
