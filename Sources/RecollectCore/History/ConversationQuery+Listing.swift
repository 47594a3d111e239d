/// The conditions and order of a list, for updating a list without reading it again from the database.
extension ConversationQuery {
    /// Returns the position of a session in the list.
    package func cursor(of conversation: Conversation) -> ConversationCursor {
        ConversationCursor(key: order.key(of: conversation), sessionId: conversation.id.sessionId)
    }

    /// Whether the left position comes before the right one.
    package func isInOrder(_ left: ConversationCursor, _ right: ConversationCursor) -> Bool {
        let (first, second) = order.isAscending != isReversed ? (left, right) : (right, left)
        if first.key.isSmaller(than: second.key) { return true }
        if second.key.isSmaller(than: first.key) { return false }
        return ByteString(first.sessionId) < ByteString(second.sessionId)
    }

    /// Whether all conditions hold, except for the text, which needs the search index.
    package func includes(_ conversation: Conversation) -> Bool {
        let activity = conversation.lastActivityAt.millisecondsSince1970
        let tags = Set(conversation.tags.map(ByteString.init))
        return conversation.id.userId.hasSameBytes(as: userId)
            && conversation.branchOf == nil
            && (conversation.discardedAt != nil) == isDiscarded
            && isPinned.map { $0 == conversation.isPinned } ?? true
            && isArchived.map { $0 == conversation.isArchived } ?? true
            && isUnread.map { $0 == conversation.isUnread } ?? true
            && from.map { activity >= $0.millisecondsSince1970 } ?? true
            && until.map { activity < $0.millisecondsSince1970 } ?? true
            && tags.isSuperset(of: self.tags.map(ByteString.init))
            && agentId.map { agent in conversation.agents.contains { $0.hasSameBytes(as: agent) } } ?? true
    }
}

extension ConversationQuery.Order {
    /// Whether the smallest key comes first.
    package var isAscending: Bool { self == .title }

    /// Returns the sort key of a session.
    package func key(of conversation: Conversation) -> ConversationCursor.Key {
        switch self {
        case .lastActivity: .integer(conversation.lastActivityAt.millisecondsSince1970)
        case .lastAccess: .integer(conversation.lastAccessedAt.millisecondsSince1970)
        case .creation: .integer(conversation.createdAt.millisecondsSince1970)
        case .title: .text(conversation.displayTitle)
        case .messageCount: .integer(Int64(conversation.messageCount))
        }
    }
}

extension ConversationCursor.Key {
    /// Whether a key sorts before another: numbers by value, titles in the order of SQLite's `NOCASE`.
    ///
    /// `NOCASE` compares bytes up to the first U+0000, ignoring the case of ASCII letters, then lengths.
    fileprivate func isSmaller(than other: Self) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)):
            left.foldedBytes.elementsEqual(right.foldedBytes)
                ? left.utf8.count < right.utf8.count
                : left.foldedBytes.lexicographicallyPrecedes(right.foldedBytes)
        case (.integer, .text): true
        case (.text, .integer): false
        }
    }
}

extension String {
    fileprivate var foldedBytes: some Sequence<UInt8> {
        utf8.prefix { $0 != 0 }.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
