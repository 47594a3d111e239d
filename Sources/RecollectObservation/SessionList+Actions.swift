import RecollectCore

/// A user's actions on sessions of the list.
///
/// When a call returns, the list shows its result.
extension SessionList {
    /// A discarded session, and whether it was selected at the time.
    struct Discarded: Sendable {
        let id: SessionKey
        let wasSelected: Bool
    }

    /// Pins a session above the others, or unpins it.
    public func setPinned(_ isPinned: Bool, of id: SessionKey) async {
        await update(id, with: SessionDetails(isPinned: isPinned))
    }

    /// Archives or unarchives a session.
    public func setArchived(_ isArchived: Bool, of id: SessionKey) async {
        await update(id, with: SessionDetails(isArchived: isArchived))
    }

    /// Marks all messages of a session as read, or the last one as unread.
    public func setRead(_ isRead: Bool, of id: SessionKey) async {
        await update(id, with: SessionDetails(isRead: isRead))
    }

    /// Sets a session's title. An empty title removes it.
    public func rename(_ id: SessionKey, to title: String) async {
        await update(id, with: SessionDetails(title: title))
    }

    /// Adds a tag to a session.
    public func addTag(_ tag: String, to id: SessionKey) async {
        await update(id, with: SessionDetails(addedTags: [tag]))
    }

    /// Removes a tag from a session.
    public func removeTag(_ tag: String, from id: SessionKey) async {
        await update(id, with: SessionDetails(removedTags: [tag]))
    }

    /// Discards a session: removes it from every list and search.
    ///
    /// `undoDiscard()` restores it, until the history's retention time has passed.
    public func discard(_ id: SessionKey) async {
        let entry = Discarded(id: id, wasSelected: selection == id)
        await writing { [self] in
            guard try await history.discardSession(id) else { throw Self.isMissing(id) }
            // Wait for a read in progress: its result is older than the discard, and the session would count as
            // restored.
            try await reads.run { [self] in
                discarded.removeAll { $0.id == id }
                discarded.append(entry)
            }
            try await read([id])
        }
    }

    /// Whether `undoDiscard()` has a session to restore.
    public var canUndoDiscard: Bool { !discarded.isEmpty }

    /// Restores the session last discarded in this list, and selects it if it was selected then.
    ///
    /// Does nothing if there is no such session.
    public func undoDiscard() async {
        guard let entry = discarded.popLast() else { return }
        await writing { [self] in
            // It may be restored already, by a new message or by another list.
            try await history.restoreSession(entry.id)
            try await read([entry.id])
            guard try await history.session(entry.id) != nil else { throw Self.isMissing(entry.id) }
            if entry.wasSelected { selection = entry.id }
        }
    }

    /// Deletes a session permanently, with its messages, its index entries, and attachments not used elsewhere.
    public func delete(_ id: SessionKey) async {
        await writing { [self] in
            try await history.deleteSession(id)
            try await read([id])
        }
    }

    private func update(_ id: SessionKey, with details: SessionDetails) async {
        await writing { [self] in
            let isThere = try await history.update(id, with: details, createIfMissing: false)
            try await read([id])
            if !isThere { throw Self.isMissing(id) }
        }
    }

    private static func isMissing(_ id: SessionKey) -> RecollectError {
        RecollectError(.notFound, "The session \(id.sessionId) no longer exists: it was deleted elsewhere.")
    }
}
