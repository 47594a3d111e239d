/// What a migration has gone through and what it did.
public struct MigrationReport: Hashable, Sendable {
    /// Sessions that the target now has, all their messages compared.
    public var sessions = 0
    /// Those of them of which something was written; the others were there before.
    public var movedSessions = 0
    /// Messages of these sessions in the source.
    public var messages = 0
    /// Those of them that are new in the target.
    public var addedMessages = 0

    /// Makes an empty report.
    public init() {}

    /// The sum of two reports.
    public static func + (left: MigrationReport, right: MigrationReport) -> MigrationReport {
        var sum = left
        sum.sessions += right.sessions
        sum.movedSessions += right.movedSessions
        sum.messages += right.messages
        sum.addedMessages += right.addedMessages
        return sum
    }

    /// Counts a session that the target has now.
    mutating func count(messages: Int, added: Int, isMoved: Bool) {
        sessions += 1
        movedSessions += isMoved ? 1 : 0
        self.messages += messages
        addedMessages += added
    }
}

/// How far a migration has come.
public struct MigrationProgress: Hashable, Sendable {
    /// Sessions that are done.
    public var sessions = 0
    /// Sessions to go through, those that are done included.
    public var sessionsTotal: Int
    /// Messages gone through so far.
    public var messages = 0
    /// Messages to go through; `nil` where the source cannot tell before they are read.
    public var messagesTotal: Int?

    /// How much is done, from 0 to 1, by messages where their number is known.
    public var fraction: Double {
        if let messagesTotal, messagesTotal > 0 { return min(1, Double(messages) / Double(messagesTotal)) }
        return sessionsTotal == 0 ? 1 : Double(sessions) / Double(sessionsTotal)
    }
}

/// Sessions that a migration left as the target has them, because it holds other content under the same ids.
struct MigrationConflicts {
    private var first: RecollectError?
    private var sessionIds: [String] = []

    /// Runs the move of one session; `nil` where it meets a conflict, which is told at the end.
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

    /// Throws if there was any.
    func tell() throws {
        guard let first else { return }
        let others = sessionIds.dropFirst()
        guard !others.isEmpty else { throw first }
        let names = others.prefix(5).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        throw RecollectError(.conflict, "\(first.message); the same of \(others.count) more: \(names)", cause: first)
    }
}
