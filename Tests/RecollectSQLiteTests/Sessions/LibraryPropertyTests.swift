import Foundation
import GRDB
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Random operations on a library and on a model of it, about five runs per second.
@Suite("Comparison of the library with a model") struct LibraryPropertyTests {
    @Test("After random operations, messages, lists, searches, attachments and the feed match the model")
    func lives() async {
        await Seeds.run(15, live)
    }

    /// The failures: two entries with one ID; a preview of a message moved to the end; two messages with one ID; an
    /// edited original that was not found because of its copy.
    @Test(
        "Seeds of earlier failures match the model",
        arguments: [
            7_506_642_260_867_477_955, 15_816_779_179_320_403_497, 16_070_526_704_852_994_981,
            17_071_575_871_546_641_411,
        ])
    func regressions(seed: UInt64) async throws {
        try await live(seed: seed)
    }

    private func live(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var life = LibraryLife(folder: folder, seed: seed)
        do {
            for step in 0..<40 {
                let done = try await life.step()
                let faults = try await life.faults(isThorough: step % 8 == 7)
                if !faults.isEmpty {
                    Issue.record(
                        "step \(step), \(String(reflecting: done)): \(String(reflecting: faults.joined(separator: "; ")))"
                    )
                    break
                }
            }
        } catch {
            Issue.record("\(String(reflecting: life.last)): \(String(reflecting: error))")
        }
    }
}
