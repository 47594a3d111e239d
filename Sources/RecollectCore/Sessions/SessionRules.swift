import Foundation

/// The moments at which sessions are opened and written: each at least a millisecond after the last, so that a list has one order
/// even within a millisecond and when the clock is set back.
struct SessionClock: Sendable {
    private var latest: Date?

    /// Whether it has seen any moment.
    var hasBegun: Bool { latest != nil }

    /// Lets all further moments come after this one.
    mutating func see(_ moment: Date) {
        latest = max(moment, latest ?? moment)
    }

    /// The next moment.
    mutating func next(now: Date) -> Date {
        let now = now.wholeMilliseconds
        let moment = latest.map { max(now, Date(millisecondsSince1970: $0.millisecondsSince1970 + 1)) } ?? now
        latest = moment
        return moment
    }
}

extension [ChatMessage] {
    /// What a session of these entries shows that its user said first; empty where the user said nothing.
    package var firstUserMessage: String {
        first { $0.role == .user && !$0.content.isEmpty }?.content ?? ""
    }

    /// The entries of a session and, after them, those of the session that it is joined to, each id once.
    ///
    /// Where both hold an id with different content, it is what `newer` says, and what this session said follows under an id of
    /// its own, which is the same however often and wherever this is done.
    /// - Parameter sessionId: the id of this session.
    func joined(to newer: [ChatMessage], from sessionId: String) -> [ChatMessage] {
        let others = Dictionary(newer.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
        let mine = flatMap { entry -> [ChatMessage] in
            guard let other = others[entry.id], other != entry else { return [entry] }
            var copy = entry
            copy.id = entry.copyId(from: sessionId)
            return [other, copy]
        }
        let ids = Set(mine.map(\.id))
        return mine.eachIdOnce() + newer.filter { !ids.contains($0.id) }
    }
}

extension ChatMessage {
    fileprivate func copyId(from sessionId: String) -> UUID {
        let id = ConversationMessage.copyId(of: id.uuidString, from: sessionId)
        return UUID(uuidString: id) ?? self.id
    }
}

extension [StoredSession] {
    /// Sorts the last accessed first, and sessions of one moment by their ids.
    mutating func sortByLastAccess() {
        sort { left, right in
            left.lastAccessedAt == right.lastAccessedAt
                ? ByteString(left.id) < ByteString(right.id) : left.lastAccessedAt > right.lastAccessedAt
        }
    }
}

extension StoredSession {
    /// This session as part of another one, which it is joined to: what that one lacks is taken from this one.
    func joined(to newer: StoredSession) -> StoredSession {
        StoredSession(
            id: newer.id, createdAt: min(createdAt, newer.createdAt),
            firstUserMessage: newer.firstUserMessage.isEmpty ? firstUserMessage : newer.firstUserMessage,
            lastAccessedAt: max(lastAccessedAt, newer.lastAccessedAt),
            messages: messages.joined(to: newer.messages, from: id),
            workingDirectory: newer.workingDirectory ?? workingDirectory, branchName: newer.branchName ?? branchName)
    }

    /// This session with another id, or with what its user said first.
    func with(id: String? = nil, firstUserMessage: String? = nil) -> StoredSession {
        StoredSession(
            id: id ?? self.id, createdAt: createdAt, firstUserMessage: firstUserMessage ?? self.firstUserMessage,
            lastAccessedAt: lastAccessedAt, messages: messages, workingDirectory: workingDirectory,
            branchName: branchName)
    }
}
