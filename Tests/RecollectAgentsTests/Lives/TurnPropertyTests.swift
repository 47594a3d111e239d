import RecollectTestSupport
import Testing

/// Random sequences of turns over a store, beside a model of it.
@Suite("Random turns against a model")
struct TurnPropertyTests {
    @Test("After any inputs, stops, kills and retries, the store holds every reported message once, in order")
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
