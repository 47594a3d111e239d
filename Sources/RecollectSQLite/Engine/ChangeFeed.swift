import Dispatch
import Foundation
import GRDB
import RecollectCore

/// The change feed: messages by their own numbers, everything else by rows of `change`, which shares the numbers.
enum ChangeFeed {
    static func page(after cursor: ChangeCursor, limit: Int, _ db: Database) throws -> [HistoryChange] {
        var changes: [HistoryChange] = []
        try db.sql(
            """
            SELECT sequence, user_id, session_id, agent_id, message_id FROM message
            JOIN conversation ON conversation.id = message.conversation_id JOIN scope ON scope.id = message.scope_id
            WHERE sequence > ? ORDER BY sequence LIMIT ?
            """
        ).bind(cursor.sequence, max(1, limit)).forEachRow { changes.append(change(of: .messageAdded, $0)) }
        let messages = changes.count
        try db.sql(
            """
            SELECT sequence, user_id, session_id, agent_id, message_id, kind FROM change
            WHERE sequence > ? AND kind <> '\(Database.placeholder)' ORDER BY sequence LIMIT ?
            """
        ).bind(cursor.sequence, max(1, limit)).forEachRow {
            changes.append(change(of: HistoryChange.Kind(rawValue: $0.text(5)), $0))
        }
        if messages > 0, messages < changes.count {
            changes.sort { $0.cursor < $1.cursor }
        }
        return Array(changes.prefix(max(1, limit)))
    }

    private static func change(of kind: HistoryChange.Kind, _ row: SQL) -> HistoryChange {
        HistoryChange(
            cursor: ChangeCursor(sequence: row.integer(0)), kind: kind,
            conversation: ConversationID(userId: row.text(1), sessionId: row.text(2)),
            agentId: row.optionalText(3), messageId: row.optionalText(4))
    }
}

extension Database {
    /// The kind of a row that only keeps the feed's last number from being given again.
    fileprivate static let placeholder = "none"

    /// Appends a change that is not a message to the feed.
    func recordChange(
        _ kind: HistoryChange.Kind, _ conversation: ConversationID, agentId: String? = nil, messageId: String? = nil,
        after last: Int64? = nil
    ) throws {
        try run(
            "INSERT INTO change (sequence, kind, user_id, session_id, agent_id, message_id) VALUES (?, ?, ?, ?, ?, ?)",
            try max(last ?? 0, lastSequence()) + 1, kind.rawValue, conversation.userId, conversation.sessionId, agentId,
            messageId)
    }

    /// Before messages go: if the last number of the feed is one of theirs, keeps it from being given again. A reader whose
    /// cursor is there would miss what came next.
    func keepFeedNumber(_ sequences: [Int64]) throws {
        let last = try lastSequence()
        guard sequences.contains(last) else { return }
        try reserveFeedNumbers(through: last + 1)
    }

    /// Keeps numbers of the feed from being given: the next one is behind `last`.
    func reserveFeedNumbers(through last: Int64) throws {
        try run("DELETE FROM change WHERE kind = '\(Self.placeholder)'")
        try run(
            "INSERT INTO change (sequence, kind, user_id, session_id) VALUES (?, ?, '', '')", last, Self.placeholder)
    }
}

/// Wakes those who follow the feed: at once after this process's commits, and when another process has written.
final class ChangeSignal: Sendable {
    /// How often other processes' writes are looked for, in milliseconds. The promise is a second.
    static let pollInterval = 250

    private struct State {
        var listeners: [UUID: AsyncStream<Void>.Continuation] = [:]
        var timer: (any DispatchSourceTimer)?
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "recollect.history.changes")

    /// A stream that yields at once, after each signal, and every 250 ms; signals that come together count as one.
    func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = UUID()
        state.withLock { state in
            state.listeners[key] = continuation
            if state.timer == nil { state.timer = makeTimer() }
        }
        continuation.onTermination = { [weak self] _ in self?.remove(key) }
        continuation.yield()
        return stream
    }

    func signal() {
        state.withLock { state in
            for listener in state.listeners.values { listener.yield() }
        }
    }

    private func remove(_ key: UUID) {
        state.withLock { state in
            state.listeners[key] = nil
            guard state.listeners.isEmpty else { return }
            state.timer?.cancel()
            state.timer = nil
        }
    }

    private func makeTimer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(
            deadline: .now() + .milliseconds(Self.pollInterval), repeating: .milliseconds(Self.pollInterval),
            leeway: .milliseconds(50))
        timer.setEventHandler { [weak self] in self?.signal() }
        timer.resume()
        return timer
    }
}
