import RecollectTestSupport
import Testing

/// Random lives of a store under orchestrators beside a model of it.
@Suite("Turns and their model")
struct TurnPropertyTests {
    @Test("whatever is asked, stopped, dropped, killed and asked again: the store holds what was told, once, in turns")
    func lives() async {
        await Seeds.run(15) { seed in
            var life = try TurnLife(seed: seed)
            do {
                for _ in 0..<30 { try await life.step() }
            } catch {
                Issue.record("\(error); \(life.diary.suffix(8).joined(separator: "; "))")
            }
        }
    }
}
