import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

/// Databases that released versions wrote open, and hold what they held.
@Suite struct MigrationTests {
    /// A history in a copy of a fixture.
    private func history(ofSchema number: Int, in folder: TemporaryFolder) throws -> SQLiteHistoryStore {
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/schema-\(number)", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        return SQLiteHistoryStore(directory: copy)
    }

    @Test func aHistoryOfTheFirstSchemaOpensWithAllItHeld() async throws {
        let folder = try TemporaryFolder()
        let history = try history(ofSchema: 1, in: folder)

        let sessions = try await history.sessions(of: "local", page: PageRequest(limit: 10)).elements
        #expect(sessions.map(\.messageCount) == [16, 16, 24])
        #expect(
            sessions.map(\.title) == [
                "売り切れの表示 / 显示“已售罄”", "Why the tide tables peak in August", "The lamp follows the sun",
            ])
        #expect(sessions.allSatisfy { !$0.preview.isEmpty && $0.lastAccessedAt == $0.lastActivityAt && !$0.isUnread })
        #expect(sessions.contains { $0.usage.output > 0 })
        let byTitle = SessionQuery(userId: "local", order: .title, text: "tide")
        #expect(try await history.sessions(byTitle, page: PageRequest(limit: 10)).elements.count >= 1)
        #expect(try await history.search(SearchQuery(userId: "local", text: "lamp")).elements.isEmpty == false)
        #expect(try await history.check().problems.isEmpty)
    }

    /// Its ids are known by conversation: session `t` of three agents, session `s` with a branch and a reply whose process was killed.
    @Test func aHistoryWhoseIdsWereKeyedByConversationKnowsThemByScope() async throws {
        let folder = try TemporaryFolder()
        let history = try history(ofSchema: 3, in: folder)
        let scope = Scope(userId: "u", sessionId: "t", agentId: "a")
        let held = try await history.messages(of: scope.session, agentId: nil, page: PageRequest(limit: 100))
            .elements
        #expect(held.count == 25)
        for agent in ["a", "b", "ui"] {
            let own = held.filter { $0.agentId == agent }.map(\.message)
            let known = try await history.append(own, to: scope.session.scope(agentId: agent))
            #expect(known == AppendOutcome(known: own.count))
            let other = try await history.append(own, to: scope.session.scope(agentId: "new"))
            #expect(other == AppendOutcome(added: own.count))
        }
        let branched = SessionKey(userId: "u", sessionId: "s")
        let branch = try #require(try await history.branches(of: branched).first)
        #expect(try await history.streamingReplies(in: branched).isEmpty, "it was saved as interrupted")
        let reply = try await history.message("r0", in: branched, agentId: "a")
        #expect(reply?.message.isInterrupted == true)
        try await history.restoreBranch(branch.id, in: branched)
        #expect(try await history.session(branched)?.messageCount == 11)
        #expect(try await history.branches(of: branched).map(\.messageCount) == [1], "the reply made way")
        #expect(try await history.check().problems.isEmpty)
    }
}
