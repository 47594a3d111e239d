import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Writer cache")
struct WriterCacheTests {
    @Test("Clearing the writer's cache before each write does not change the history")
    func forgetful() async throws {
        await Seeds.run(40) { seed in
            var random = SeededGenerator(seed: seed)
            let configuration = HistoryConfiguration(retention: seed.isMultiple(of: 4) ? .window : .everything)
            let history = SQLiteHistoryStore.inMemory(configuration)
            let forgetful = SQLiteHistoryStore.inMemory(configuration)
            for number in 0..<60 {
                let step = Step(number: number, &random)
                try await forgetful.write { _, cache in cache.forget() }
                let (outcome, expected) = try await (step.run(history), step.run(forgetful))
                #expect(outcome == expected)
                guard outcome == expected else { return }
            }
            let (rows, expected) = try await (rows(of: history), rows(of: forgetful))
            #expect(rows == expected)
            #expect(!rows.isEmpty)
        }
    }

    /// The rows, without the row IDs of scopes and sessions: new row IDs depend on the rows already removed by maintenance.
    private func rows(of history: SQLiteHistoryStore) async throws -> [String] {
        #expect(try await history.erasesAll())
        return try await history.write { db in
            var rows: [String] = []
            try db.sql(
                """
                SELECT sequence, session_id, agent_id, position, message_id, role, text
                FROM message JOIN scope ON scope.id = scope_row_id JOIN session ON session.id = scope.session_row_id
                UNION ALL SELECT 0, session_id, agent_id, window_start, '', '', ''
                FROM scope JOIN session ON session.id = session_row_id ORDER BY 1, 2, 3
                """
            ).forEachRow { row in rows.append((0..<7).map { row.text($0) }.joined(separator: "|")) }
            return rows
        }
    }
}

/// A random write of any kind but a branch, since branches get random IDs.
private struct Step {
    let number: Int
    let kind: Int
    let session: SessionKey
    let other: SessionKey
    let agentId: String
    let messages: [ConversationMessage]
    let options: AppendOptions

    init(number: Int, _ random: inout SeededGenerator) {
        self.number = number
        kind = Int.random(in: 0..<24, using: &random)
        let sessions = ["s", "t", "u"].shuffled(using: &random).map { SessionKey(userId: "ann", sessionId: $0) }
        (session, other) = (sessions[0], sessions[1])
        agentId = ["", "a", "b"].randomElement(using: &random) ?? ""
        messages = (0..<Int.random(in: 1...3, using: &random)).map { index in
            let isNew = Bool.random(using: &random)
            let id = isNew ? "new \(number) \(index)" : "m\(Int.random(in: 0..<8, using: &random))"
            return ConversationMessage(
                id: id, role: Bool.random(using: &random) ? .user : .assistant, text: "\(number) \(index)",
                timestamp: Date(timeIntervalSince1970: Double(number)))
        }
        options = AppendOptions(
            sameRole: Int.random(in: 0..<4, using: &random) == 0 ? .drop : .keep,
            maxMessages: [nil, nil, 0, 3, 8].randomElement(using: &random) ?? nil,
            claimsUnassigned: Bool.random(using: &random))
    }

    /// Runs the write and returns its outcome.
    func run(_ history: SQLiteHistoryStore) async throws -> String {
        switch kind {
        case 0: return "\(try await history.deleteMessages(messages.map(\.id), in: session))"
        case 1: return "\(try await history.discardSession(session))"
        case 2: return "\(try await history.restoreSession(session))"
        case 3: return "\(try await history.edit(messages, in: session))"
        case 4:
            return "\(try await history.deleteSession(session))"
        case 5: return "\(try await history.moveSession(session, to: other.sessionId))"
        case 6: return "\(try await history.session(session)?.messageCount ?? -1)"
        case 7:
            return await failure {
                try await history.fork(session, at: messages[0].id, agentId: nil, into: "fork \(number)")
            }
        default:
            let outcome = try await history.append(messages, to: session.scope(agentId: agentId), options: options)
            let window = try await history.window(of: session.scope(agentId: agentId), maxMessages: nil)
            return "\(outcome) \(window.map(\.text))"
        }
    }

    private func failure(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return ""
        } catch let error as RecollectError {
            return "\(error.code)"
        } catch {
            return "\(error)"
        }
    }
}
