import Foundation
import Testing

@testable import RecollectTesting

@Suite("Damage explorer")
struct DamageExplorerTests {
    @Test("Each of two damaged places is judged by its own permitted loss")
    func pairs() async throws {
        #expect(try await faults { lines, _ in CrashedStore(lists: ["lines": lines]) } == [])
        let invented = try await faults { lines, _ in
            let isWhole = lines.contains("1abc")
            return CrashedStore(lists: ["lines": isWhole ? lines : lines + ["4"]])
        }
        #expect(invented.count == 4 && invented.allSatisfy { $0.contains("unexpected") }, "\(invented)")
    }

    @Test("A report has the worst loss outside the damaged places, and at least zero")
    func worstLoss() throws {
        var report = DamageReport(name: "s", seed: 1)
        report.add("page", lost: 1, allowed: 5, faults: [], run: "1")
        #expect(try #require(report.lines.first).worstLoss == (1, 5))
        #expect(report.worstLoss == 0)
        report.add("page", lost: 5, allowed: 3, faults: [], run: "2")
        report.add("page", lost: 9, allowed: 9, faults: [], run: "3")
        report.add("sector", lost: 2, allowed: 4, faults: [], run: "4")
        #expect(report.lines[0].worstLoss == (5, 3))
        #expect(report.worstLoss == 2)
    }

    /// The behavior of openings after the first one, with a damaged line.
    enum Late: CaseIterable {
        case reported, unreported, elsewhere, again
    }

    @Test(
        "A store may lose damaged entries after the first opening, only if it reports the loss",
        arguments: Late.allCases)
    func late(_ late: Late) async throws {
        let faults = try await faults { lines, opening in
            let isDamaged = !lines.contains("1abc")
            guard isDamaged, opening > 0, late != .again || opening == 1 else {
                return CrashedStore(lists: ["lines": lines])
            }
            return CrashedStore(
                lists: ["lines": lines.filter { ($0 == "2") || ($0 == "3" && late != .elsewhere) }],
                reportsLoss: late != .unreported)
        }
        switch late {
        case .reported: #expect(faults == [])
        case .unreported:
            #expect(faults.count == 4 && faults.allSatisfy { $0.contains("without a report") }, "\(faults)")
        case .elsewhere, .again:
            #expect(faults.count == 4 && faults.allSatisfy { $0.contains("different entries") }, "\(faults)")
        }
    }

    /// Returns the faults in a file of three lines without checksums. Part of the first line is damaged, alone and in
    /// three pairs with another file.
    private func faults(
        _ read: @escaping @Sendable (_ lines: [String], _ opening: Int) -> CrashedStore
    ) async throws -> [String] {
        let scenario = DamageScenario("lines") { folder in
            try Data("1abc\n2\n3\n".utf8).write(to: folder.appendingPathComponent("lines"))
            try Data("other".utf8).write(to: folder.appendingPathComponent("other"))
        } regions: { _ in
            [
                DamagedRegion(
                    file: "lines", offset: 1, count: 3, name: "a line", allowedLosses: ["1"], mayChange: true),
                DamagedRegion(file: "other", offset: 0, count: 5, name: "another file"),
            ]
        } reopen: { image in
            // Each opening leaves a mark, like an opening with a repair.
            let marks = image.folder.appendingPathComponent("marks")
            let opening = FileManager.default.contents(atPath: marks.path)?.count ?? 0
            try Data(count: opening + 1).write(to: marks)
            let bytes = try Data(contentsOf: image.folder.appendingPathComponent("lines"))
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: true)
            return read(lines.map(String.init), opening)
        }
        var explorer = DamageExplorer(seed: 3)
        explorer.pairs = 3
        explorer.kinds = [.garbage]
        let report = try await explorer.explore(scenario)
        #expect(report.runs == 5)
        return report.faults
    }
}
