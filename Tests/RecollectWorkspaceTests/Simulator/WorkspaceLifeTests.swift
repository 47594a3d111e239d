import Foundation
import RecollectCore
import Testing

@testable import RecollectWorkspace

/// Random lives of workspaces in simulated clouds: the same ones in every run, or with `RECOLLECT_LIVES=20000` so many new ones. The
/// seed of a failure is named with it, and `RECOLLECT_SEED` begins there.
@Suite("Lives of a workspace in a cloud") struct WorkspaceLifeTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let lives = environment["RECOLLECT_LIVES"].flatMap(Int.init)
    private static let seed = environment["RECOLLECT_SEED"].flatMap(UInt64.init)

    @Test(
        "rows 15–27: whatever people, agents and the service do, all devices come to agree and no text is lost",
        arguments: 0..<8)
    func lives(part: Int) async throws {
        let count = (Self.lives ?? 2_000) / 8
        let first = Self.seed ?? (Self.lives == nil ? 1 : .random(in: 0...(.max / 2)))
        for number in 0..<max(1, count) {
            let seed = first + UInt64(part * count + number)
            if Self.seed != nil, Self.lives == 1, part > 0 { return }
            try await live(seed: seed)
        }
    }

    @Test("row 24: and so where people give names that differ in case alone, or in the form of their letters")
    func twins() async throws {
        let count = UInt64((Self.lives ?? 512) / 8)
        let first = Self.seed ?? (Self.lives == nil ? 1 : .random(in: 0...(.max / 2)))
        for seed in first..<(first + max(1, count)) { try await live(seed: seed, hasTwins: true) }
    }

    @Test(
        "lives that once went wrong",
        arguments: [
            // A version in conflict was taken for the base; an editor's text too, and one that a third device never saw.
            36, 19, 1862,
            // A copy went before what it had lost against was there.
            173, 102_404, 104_242,
            // A conflicted file was put into the trash, and the version beside it went unseen.
            23,
            // Copies that another device had folded were taken for files that vanished.
            872,
            // Somebody wrote under the name that something was to be kept under.
            1133,
        ])
    func regressions(seed: UInt64) async throws {
        try await live(seed: seed)
    }

    private func live(seed: UInt64, hasTwins: Bool = false) async throws {
        let life = try WorkspaceLife(seed: seed, hasTwins: hasTwins)
        let faults: [String]
        do {
            faults = try await life.faults(steps: 16)
        } catch {
            faults = ["\(error)"]
        }
        guard !faults.isEmpty else { return }
        Issue.record(
            """
            seed \(seed), \(life.behaviour): \(faults.joined(separator: "; "))
            \(life.ledger.notes.suffix(Self.lives == 1 ? .max : 40).joined(separator: "\n"))
            \(life.cloud.log(last: Self.lives == 1 ? .max : 40))
            """)
    }
}
