import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

/// Databases that released versions wrote open, and hold what they held.
@Suite struct MigrationTests {
    @Test func aHistoryOfTheFirstSchemaOpensWithAllItHeld() async throws {
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/schema-1", withExtension: nil))
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recollect-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: fixture, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let history = SQLiteHistoryStore(directory: folder)

        let sessions = try await history.conversations(of: "local", page: PageRequest(limit: 10)).elements
        #expect(sessions.map(\.messageCount) == [16, 16, 24])
        #expect(
            sessions.map(\.title) == [
                "売り切れの表示 / 显示“已售罄”", "Why the tide tables peak in August", "The lamp follows the sun",
            ])
        #expect(sessions.allSatisfy { !$0.preview.isEmpty && $0.lastAccessedAt == $0.lastActivityAt && !$0.isUnread })
        #expect(sessions.contains { $0.usage.output > 0 })
        let byTitle = ConversationQuery(userId: "local", order: .title, text: "tide")
        #expect(try await history.conversations(byTitle, page: PageRequest(limit: 10)).elements.count >= 1)
        #expect(try await history.search(SearchQuery(userId: "local", text: "lamp")).elements.isEmpty == false)
        #expect(try await history.check().problems.isEmpty)
    }
}
