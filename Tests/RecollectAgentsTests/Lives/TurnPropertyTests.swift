import Foundation
import Testing

/// Random lives of a store under orchestrators beside a model of it: the same ones in every run, or with `RECOLLECT_CASES=300` so many
/// new ones. The seed of a failure is named with it, and `RECOLLECT_SEED` begins there.
@Suite("Turns and their model")
struct TurnPropertyTests {
    private static let cases = ProcessInfo.processInfo.environment["RECOLLECT_CASES"].flatMap(Int.init)

    @Test("whatever is asked, stopped, dropped, killed and asked again: the store holds what was told, once, in turns")
    func lives() async throws {
        let named = ProcessInfo.processInfo.environment["RECOLLECT_SEED"].flatMap(UInt64.init)
        let first = named ?? (Self.cases == nil ? 1 : nil)
        for number in 0..<(Self.cases ?? 15) {
            try await live(seed: first.map { $0 + UInt64(number) } ?? UInt64.random(in: 0 ... .max))
        }
    }

    private func live(seed: UInt64) async throws {
        var life = try TurnLife(seed: seed)
        do {
            for _ in 0..<30 { try await life.step() }
        } catch {
            Issue.record("seed \(seed): \(error); \(life.diary.suffix(8).joined(separator: "; "))")
        }
    }
}
