import RecollectTestSupport
import Testing

@testable import RecollectCore

@Suite("Logging chat storage")
struct LoggingChatStorageTests {
    private struct Foreign: Error, CustomStringConvertible {
        var description: String { "SECRET words" }
    }

    @Test("Calls are logged with counts and durations, never with contents, IDs or texts of foreign errors")
    func logs() async throws {
        let log = LogLines()
        let below = WatchedChatStorage()
        let storage = LoggingChatStorage(wrapping: below, logger: log.logger)
        let (user, session, agent) = ("SECRET user", "SECRET session", "SECRET agent")
        try await storage.save(turns(0..<3), agent: agent, session: session, user: user)
        try await storage.save(
            turn(3, text: "SECRET")[0], userId: user, sessionId: session, agentId: agent, maxMessages: 40)
        _ = try await storage.load(agent: agent, session: session, user: user, budget: 4)
        _ = try await storage.window(userId: user, sessionId: session, agentId: agent, tokens: 99)
        _ = try await storage.fetchAllChats(userId: user, sessionId: session)
        for error in [RecollectError(.diskFull, "SECRET path") as any Error & Sendable, Foreign()] {
            below.failSaves(error)
            await #expect(throws: (any Error).self) {
                try await storage.save(turn(9, text: "SECRET"), agent: agent, session: session, user: user)
            }
        }

        let ids = "agent=\(StoreEvents.hashed(agent))"
        let expected = [
            ("debug saveMessages", "messages=6"), ("debug save ", "maxMessages=40"),
            ("debug fetch ", "maxMessages=4 messages=4"), ("debug window ", "tokens=99"),
            ("debug fetchAllChats", "messages=7"),
            ("error saveMessages failed", "error=diskFull"), ("error saveMessages failed", "error=Foreign"),
        ]
        #expect(log.all.count == expected.count)
        for (line, (beginning, field)) in zip(log.all, expected) {
            #expect(line.hasPrefix(beginning) && line.contains(field) && line.contains("duration="), "\(line)")
            #expect(line.contains("session=\(StoreEvents.hashed(session))"), "\(line)")
            #expect(line.contains(ids) || line.contains("fetchAllChats"), "\(line)")
            #expect(!line.contains("SECRET"), "\(line)")
        }
    }

    @Test("Replies and versions are passed through, also over a storage that lacks them")
    func passesOn() async throws {
        let log = LogLines()
        let storage = LoggingChatStorage(wrapping: DraftingMemory(), logger: log.logger)
        let draft = try await storage.beginReply(
            turn(0)[1], userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(try await storage.streamingReplies(userId: "u", sessionId: "s").count == 1)
        draft?.append(" SECRET")
        try await draft?.finish()
        #expect(try await storage.load().map(\.id) == ["0-a"])
        #expect(try await storage.version(userId: "u", sessionId: "s") != nil)
        #expect(!log.all.contains { $0.contains("SECRET") })

        let plain = LoggingChatStorage(wrapping: WatchedChatStorage(), logger: log.logger)
        let none = try await plain.beginReply(turn(0)[1], userId: "u", sessionId: "s", agentId: "a", maxMessages: nil)
        #expect(none == nil)
        #expect(try await plain.streamingReplies(userId: "u", sessionId: "s").isEmpty)
        #expect(try await plain.version(userId: "u", sessionId: "s") == nil)
    }
}
