import Foundation
import RecollectCore
import RecollectSQLite
import RecollectTestSupport
import Testing

/// Databases of released versions. None is released yet.
@Suite("Databases of other versions")
struct MigrationTests {
    @Test("A database from before 0.1.0 is refused with a clear error and left unchanged", arguments: [1, 3])
    func beforeTheFirstRelease(schema: Int) async throws {
        let folder = try TemporaryFolder()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/schema-\(schema)", withExtension: nil))
        let copy = folder.file("history")
        try FileManager.default.copyItem(at: fixture, to: copy)
        let bytes = try Data(contentsOf: copy.appendingPathComponent("history.sqlite"))
        let history = SQLiteHistoryStore(directory: copy)
        let error = await #expect(throws: RecollectError.self) {
            try await history.sessions(of: "local", page: PageRequest(limit: 10))
        }
        #expect(error?.code == .foreignStore && error?.message.contains("before 0.1.0") == true)
        #expect(try Data(contentsOf: copy.appendingPathComponent("history.sqlite")) == bytes)
        #expect(history.events.takeUndelivered().isEmpty)
    }
}
