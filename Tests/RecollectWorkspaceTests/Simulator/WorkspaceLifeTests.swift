import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectWorkspace

/// Random lives of workspaces in simulated clouds.
@Suite("Lives of a workspace in a cloud") struct WorkspaceLifeTests {
    @Test(
        "whatever people, agents and the service do, all devices come to agree and no text is lost",
        arguments: 0..<UInt64(2))
    func lives(part: UInt64) async {
        await Seeds.run(150, from: 1 + part * 150) { try await live(seed: $0) }
    }

    @Test("name-collisions: and so where people give names that differ in case alone, or in the form of their letters")
    func twins() async {
        await Seeds.run(64) { try await live(seed: $0, kind: .twins) }
    }

    @Test("concurrent-edits: where nobody deletes, every word is in a file at the end", arguments: 0..<UInt64(2))
    func onlyAdding(part: UInt64) async {
        await Seeds.run(40, from: 1 + part * 40) { try await live(seed: $0, kind: .onlyAdding) }
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
            // Copies that another device had resolved were taken for files that vanished.
            872,
            // Somebody wrote under the name that something was to be kept under.
            1133,
        ])
    func regressions(seed: UInt64) async throws {
        try await live(seed: seed)
    }

    private func live(seed: UInt64, kind: WorkspaceLife.Kind = .usual) async throws {
        let life = try WorkspaceLife(seed: seed, kind: kind)
        let faults: [String]
        do {
            faults = try await life.faults(steps: kind == .onlyAdding ? 32 : 16)
        } catch {
            faults = ["\(error)"]
        }
        guard !faults.isEmpty else { return }
        Issue.record(
            """
            seed \(seed), \(life.behaviour): \(faults.joined(separator: "; "))
            \(life.ledger.notes.suffix(Seeds.isOne ? .max : 40).joined(separator: "\n"))
            \(life.cloud.log(last: Seeds.isOne ? .max : 40))
            """)
    }
}
