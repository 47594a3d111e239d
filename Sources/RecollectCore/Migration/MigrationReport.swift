/// The result of a migration.
public struct MigrationReport: Hashable, Sendable {
    /// The number of sessions in the target with all their messages compared.
    public var sessions = 0
    /// The number of these sessions with anything written by the migration.
    public var movedSessions = 0
    /// The number of messages of these sessions in the source.
    public var messages = 0
    /// The number of these messages new in the target.
    public var addedMessages = 0

    /// Creates an empty report.
    public init() {}

    /// Returns the sum of two reports.
    public static func + (left: MigrationReport, right: MigrationReport) -> MigrationReport {
        var sum = left
        sum.sessions += right.sessions
        sum.movedSessions += right.movedSessions
        sum.messages += right.messages
        sum.addedMessages += right.addedMessages
        return sum
    }

    /// Counts a session completed in the target.
    mutating func count(messages: Int, added: Int, isMoved: Bool) {
        sessions += 1
        movedSessions += isMoved ? 1 : 0
        self.messages += messages
        addedMessages += added
    }
}

/// The progress of a migration.
public struct MigrationProgress: Hashable, Sendable {
    /// The number of completed sessions.
    public var sessions = 0
    /// The number of all sessions to process, including completed ones.
    public var sessionsTotal: Int
    /// The number of messages processed so far.
    public var messages = 0
    /// The number of all messages to process; `nil` if unknown before they are read.
    public var messagesTotal: Int?

    /// The completed fraction, from 0 to 1, by messages if their number is known.
    public var fraction: Double {
        if let messagesTotal, messagesTotal > 0 { return min(1, Double(messages) / Double(messagesTotal)) }
        return sessionsTotal == 0 ? 1 : Double(sessions) / Double(sessionsTotal)
    }
}

/// The sessions left unchanged by a migration, because the target has different content under the same IDs.
struct MigrationConflicts {
    private var first: RecollectError?
    private var sessionIds: [String] = []

    /// Runs the migration of one session. Returns `nil` after a conflict, and records it for `throwFirst()`.
    nonisolated(nonsending) mutating func collecting<Result>(
        sessionId: String, _ move: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result? {
        do {
            return try await move()
        } catch let error as RecollectError where error.code == .conflict {
            first = first ?? error
            sessionIds.append(sessionId)
            return nil
        }
    }

    /// Throws an error if there was any conflict.
    func throwFirst() throws {
        guard let first else { return }
        let others = sessionIds.dropFirst()
        guard !others.isEmpty else { throw first }
        let names = others.prefix(5).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        throw RecollectError(.conflict, "\(first.message); the same for \(others.count) more: \(names)", cause: first)
    }
}
