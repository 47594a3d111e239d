/// The conditions and order of a list, for updating a list without reading it again from the database.
extension SessionQuery {
    /// Returns the position of a session in the list.
    package func cursor(of session: Session) -> SessionCursor {
        SessionCursor(key: order.key(of: session), sessionId: session.id.sessionId)
    }

    /// Whether the left position comes before the right one.
    package func isInOrder(_ left: SessionCursor, _ right: SessionCursor) -> Bool {
        let (first, second) = order.isAscending != isReversed ? (left, right) : (right, left)
        if first.key.isSmaller(than: second.key) { return true }
        if second.key.isSmaller(than: first.key) { return false }
        return ByteString(first.sessionId) < ByteString(second.sessionId)
    }

    /// Whether all conditions hold, except for the text, which needs the search index.
    package func includes(_ session: Session) -> Bool {
        let activity = session.lastActivityAt.millisecondsSince1970
        let tags = Set(session.tags.map(ByteString.init))
        return session.id.userId.hasSameBytes(as: userId)
            && session.branchPoint == nil
            && (session.discardedAt != nil) == isDiscarded
            && isPinned.map { $0 == session.isPinned } ?? true
            && isArchived.map { $0 == session.isArchived } ?? true
            && isUnread.map { $0 == session.isUnread } ?? true
            && from.map { activity >= $0.millisecondsSince1970 } ?? true
            && until.map { activity < $0.millisecondsSince1970 } ?? true
            && tags.isSuperset(of: self.tags.map(ByteString.init))
            && agentId.map { agent in session.agentIds.contains { $0.hasSameBytes(as: agent) } } ?? true
    }
}

extension SessionQuery.Order {
    /// Whether the smallest key comes first.
    package var isAscending: Bool { self == .title }

    /// Returns the sort key of a session.
    package func key(of session: Session) -> SessionCursor.Key {
        switch self {
        case .lastActivity: .integer(session.lastActivityAt.millisecondsSince1970)
        case .lastAccess: .integer(session.lastAccessedAt.millisecondsSince1970)
        case .creation: .integer(session.createdAt.millisecondsSince1970)
        case .title: .text(session.displayTitle)
        case .messageCount: .integer(Int64(session.messageCount))
        }
    }
}

extension SessionCursor.Key {
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
    /// The bytes up to the first U+0000, with small ASCII letters.
    package var foldedBytes: some Sequence<UInt8> {
        utf8.prefix { $0 != 0 }.lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }
}
