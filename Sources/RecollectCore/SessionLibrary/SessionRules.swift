import Foundation

/// A clock for the dates of session accesses.
///
/// Each date is at least a millisecond after the last one, so lists have one order even within a millisecond and
/// after the system clock is set back.
struct SessionClock: Sendable {
    private var latest: Date?

    /// Whether the clock has recorded any date.
    var hasBegun: Bool { latest != nil }

    /// Makes all further dates later than this one.
    mutating func advance(past date: Date) {
        latest = max(date, latest ?? date)
    }

    /// Returns the next date.
    mutating func next(now: Date) -> Date {
        let now = now.wholeMilliseconds
        let date = latest.map { max(now, Date(millisecondsSince1970: $0.millisecondsSince1970 + 1)) } ?? now
        latest = date
        return date
    }
}

extension [ChatMessage] {
    /// The user's first message for a session of these entries; empty if there is none.
    package var firstUserMessage: String {
        first { $0.role == .user && !$0.content.isEmpty }?.content ?? ""
    }

    /// Returns the entries of a session, then those of the session merged with it, each ID once.
    ///
    /// If both have an ID with different content, the entry of `newer` keeps the ID, and the other one follows
    /// under a new ID: the first derived one without other content in both. It is the same for every repetition of the
    /// merge, on every machine.
    /// - Parameter sessionId: The ID of this session.
    func joined(to newer: [ChatMessage], from sessionId: String) -> [ChatMessage] {
        let others = Dictionary(newer.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })
        var known = others.merging(map { ($0.id, $0) }) { other, _ in other }
        let mine = eachIdOnce().flatMap { entry -> [ChatMessage] in
            guard let other = others[entry.id], other != entry else { return [entry] }
            var copy = entry
            repeat { copy.id = copy.copyId(from: sessionId) } while known[copy.id].map { $0 != copy } ?? false
            known[copy.id] = copy
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
    /// Sorts by last access, the latest first; sessions with equal dates by ID.
    mutating func sortByLastAccess() {
        sort { left, right in
            left.lastAccessedAt == right.lastAccessedAt
                ? ByteString(left.id) < ByteString(right.id) : left.lastAccessedAt > right.lastAccessedAt
        }
    }
}

extension StoredSession {
    /// Returns the merge of this session into another one. Missing fields of the other one are taken from this one.
    func joined(to newer: StoredSession) -> StoredSession {
        StoredSession(
            id: newer.id, createdAt: min(createdAt, newer.createdAt),
            firstUserMessage: newer.firstUserMessage.isEmpty ? firstUserMessage : newer.firstUserMessage,
            lastAccessedAt: max(lastAccessedAt, newer.lastAccessedAt),
            messages: messages.joined(to: newer.messages, from: id),
            workingDirectory: newer.workingDirectory ?? workingDirectory, branchName: newer.branchName ?? branchName)
    }

    /// Returns this session with another ID or another first message.
    func with(id: String? = nil, firstUserMessage: String? = nil) -> StoredSession {
        StoredSession(
            id: id ?? self.id, createdAt: createdAt, firstUserMessage: firstUserMessage ?? self.firstUserMessage,
            lastAccessedAt: lastAccessedAt, messages: messages, workingDirectory: workingDirectory,
            branchName: branchName)
    }
}
