import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectSQLite

@Suite("Errors during a salvage")
struct SalvageErrorTests {
    private struct Failure: Error {}

    @Test("Errors inside a transaction of the copy are thrown")
    func insideTransaction() throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(
            path: folder.file("copy.sqlite").path, configuration: Salvage.copyConfiguration)
        try Schema.migrator.migrate(queue)
        #expect(throws: Failure.self) {
            try queue.writeWithoutTransaction { db in
                let writer = try SalvageWriter(db)
                try writer.transactions { throw Failure() }
            }
        }
        try queue.close()
    }
}
