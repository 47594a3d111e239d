/// The result of a migration.
public struct MigrationReport: Hashable, Sendable {
    /// The number of sessions in the target with all their messages compared.
    public var sessionCount = 0
    /// The number of these sessions with anything written by the migration.
    public var movedSessionCount = 0
    /// The number of messages of these sessions in the source.
    public var messageCount = 0
    /// The number of these messages new in the target.
    public var addedMessageCount = 0

    /// Creates an empty report.
    public init() {}

    /// Returns the sum of two reports.
    public static func + (left: MigrationReport, right: MigrationReport) -> MigrationReport {
        var sum = left
        sum.sessionCount += right.sessionCount
        sum.movedSessionCount += right.movedSessionCount
        sum.messageCount += right.messageCount
        sum.addedMessageCount += right.addedMessageCount
        return sum
    }

    /// Counts a session completed in the target.
    mutating func count(messages: Int, added: Int, isMoved: Bool) {
        sessionCount += 1
        movedSessionCount += isMoved ? 1 : 0
        messageCount += messages
        addedMessageCount += added
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

    /// Runs the migration of one session. Returns `nil` after a conflict, and records it for `throwIfAny()`.
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
    func throwIfAny() throws {
        guard let first else { return }
        let others = sessionIds.dropFirst()
        guard !others.isEmpty else { throw first }
        let names = others.prefix(5).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        throw RecollectError(.conflict, "\(first.message); the same for \(others.count) more: \(names)", cause: first)
    }
}
