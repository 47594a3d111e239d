#if Postgres
    import Foundation
    import RecollectCore
    import RecollectSQLite
    import RecollectTestSupport
    import RecollectTesting
    import Testing

    @testable import RecollectPostgres

    /// Random saves and compactions, with the same results in memory, in SQLite and in PostgreSQL.
    @Suite("Comparison of chat storages in memory, SQLite and PostgreSQL", .needs(.postgres))
    struct ChatStorageComparisonTests {
        @Test("After random saves and compactions, all three return the same windows, compactions and merged chats")
        func lives() async {
            await Seeds.run(6) { try await live(seed: $0) }
        }

        private func live(seed: UInt64) async throws {
            let folder = try TemporaryFolder()
            let embedded = SQLiteHistoryStore(
                directory: folder.url, configuration: HistoryConfiguration(durability: .relaxed))
            let shared = PostgresHistoryStore(try PostgresAddress(try await HistoryServer.url))
            let storages: [any ChatStorage] = [
                InMemoryChatStorage(), PerUserChatStorage { DeviceChatStorage(history: embedded, userId: $0) },
                PerUserChatStorage { PostgresChatStorage(history: shared, userId: $0) },
            ]
            var random = SeededGenerator(seed: seed)
            // In memory, trimmed messages are gone, and compactions of them, too.
            let trims = Bool.random(using: &random)
            var last: [Scope: ConversationMessage] = [:]
            for step in 0..<60 {
                let scope = Scope(
                    userId: ["ana", "ben"].randomElement(using: &random) ?? "",
                    sessionId: ["s", "S", "s\u{0}"].randomElement(using: &random) ?? "",
                    agentId: ["planner", "writer"].randomElement(using: &random) ?? "")
                let limit = trims ? [nil, 4, 6].randomElement(using: &random) ?? nil : nil
                let compacts = !trims && Int.random(in: 0..<8, using: &random) == 0
                var messages = (0..<Int.random(in: 1...3, using: &random)).map {
                    message("\(step).\($0)", &random)
                }
                if Int.random(in: 0..<5, using: &random) == 0, let known = last[scope] { messages.insert(known, at: 0) }
                var states: [[String]] = []
                for storage in storages {
                    let outcome =
                        compacts
                        ? await compact(scope, in: storage) : await save(messages, to: scope, limit, in: storage)
                    states.append([outcome] + (try await state(of: scope, in: storage)))
                }
                if !compacts { last[scope] = messages.last }
                for (name, state) in zip(["SQLite", "PostgreSQL"], states.dropFirst()) where state != states[0] {
                    let index = zip(state, states[0]).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
                    Issue.record("step \(step): memory: \(states[0][index])\n\(name): \(state[index])")
                    return
                }
            }
            shared.close()
            await embedded.close()
        }

        private func message(_ id: String, _ random: inout SeededGenerator) -> ConversationMessage {
            let roles: [Role] = [.user, .user, .assistant, .assistant, .system]
            var parts: [ContentPart] = [.text("text of \(id)")]
            switch Int.random(in: 0..<6, using: &random) {
            case 0: parts = [.toolCall(id: "c\(id)", name: "find", arguments: ["a": 1])]
            case 1: parts = [.toolResult(id: "c\(id)", content: "found")]
            default: break
            }
            return ConversationMessage(
                id: id, role: roles.randomElement(using: &random) ?? .user, parts: parts,
                timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(Int.random(in: 0..<30, using: &random))))
        }

        private func outcome(_ body: () async throws -> Void) async -> String {
            do {
                try await body()
                return "done"
            } catch {
                return (error as? RecollectError)?.code.rawValue ?? "\(error)"
            }
        }

        private func save(
            _ messages: [ConversationMessage], to scope: Scope, _ limit: Int?, in storage: any ChatStorage
        ) async -> String {
            await outcome {
                try await storage.saveMessages(
                    messages, userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId,
                    maxMessages: limit)
            }
        }

        private func compact(_ scope: Scope, in storage: any ChatStorage) async -> String {
            await outcome {
                let compacted = try await storage.compactedMessages(
                    userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
                try await storage.compact(
                    Array(compacted.messages.prefix(2)), into: "summary", by: "test", after: compacted.compaction?.id,
                    userId: scope.userId, sessionId: scope.sessionId, agentId: scope.agentId)
            }
        }

        /// Returns everything that a storage shows of a scope and its session.
        private func state(of scope: Scope, in storage: any ChatStorage) async throws -> [String] {
            let (user, session, agent) = (scope.userId, scope.sessionId, scope.agentId)
            var lines: [String] = []
            for limit in [nil, 0, 3, 5] {
                let window = try await storage.fetch(
                    userId: user, sessionId: session, agentId: agent, maxMessages: limit)
                lines.append("the last \(limit ?? -1): \(window)")
            }
            let tokens = try await storage.window(userId: user, sessionId: session, agentId: agent, tokens: 25)
            lines.append("tokens: \(tokens.map { "\($0.role) \($0.parts)" })")
            let compacted = try await storage.compactedMessages(userId: user, sessionId: session, agentId: agent)
            lines.append("compacted: \(compacted.instructions) \(compacted.pinned) \(compacted.messages)")
            let compactions = try await storage.compactions(userId: user, sessionId: session, agentId: agent)
            lines.append("compactions: \(compactions.map { "\($0.summary) \($0.lastMessageId) \($0.messageCount)" })")
            // The storage in memory keeps summaries as messages of an agent of their own.
            let all = try await storage.fetchAllChats(userId: user, sessionId: session)
                .filter { !$0.id.hasPrefix(SummarizingChatStorage.reservedPrefix) }
            return lines + ["all: \(all)"]
        }
    }
#endif
