import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Random lives of workspaces in simulated clouds.
@Suite("Workspace lives in a simulated cloud") struct WorkspaceLifeTests {
    @Test(
        "After any actions of editors, agents and the service, all devices agree and no text is lost",
        arguments: 0..<UInt64(2))
    func lives(part: UInt64) async {
        await Seeds.run(150, from: 1 + part * 150) { try await live(seed: $0) }
    }

    @Test("name-collisions: all devices agree, even with names that differ only in case or normalization")
    func nameCollisions() async {
        await Seeds.run(64) { try await live(seed: $0, kind: .nameCollisions) }
    }

    @Test("concurrent-edits: without deletions, every word is in a file at the end", arguments: 0..<UInt64(2))
    func onlyAdding(part: UInt64) async {
        await Seeds.run(150, from: 1 + part * 150) { try await live(seed: $0, kind: .onlyAdding) }
    }

    @Test(
        "Seeds of lives with earlier faults find no faults",
        arguments: [
            // The merge base was a version in conflict, an editor's text, or a version unknown to a third device.
            36, 19, 1862,
            // A conflict copy was removed before the arrival of the winner.
            173, 102_404, 104_242,
            // A conflicted file was trashed without its conflict version.
            23,
            // Conflict copies resolved by another device counted as vanished files.
            872,
            // An editor wrote a file with the name of a kept copy.
            1133,
            // An agent appended to a file of which a part had arrived, without a line end.
            15_460_864_183_270_525_709,
        ])
    func regressions(seed: UInt64) async throws {
        try await live(seed: seed)
    }

    private func live(seed: UInt64, kind: WorkspaceLife.Kind = .usual) async throws {
        let life = try WorkspaceLife(seed: seed, kind: kind)
        let faults: [String]
        do {
            // Many short lives and some long ones find more than the same number of steps in lives of equal length.
            faults = try await life.faults(steps: kind == .onlyAdding ? (seed % 8 == 0 ? 32 : 8) : 16)
        } catch {
            faults = ["\(error)"]
        }
        guard !faults.isEmpty else { return }
        Issue.record(
            """
            seed \(seed), \(life.behavior): \(faults.joined(separator: "; "))
            \(life.ledger.notes.suffix(Seeds.isOne ? .max : 40).joined(separator: "\n"))
            \(life.cloud.log(last: Seeds.isOne ? .max : 40))
            """)
    }
}
