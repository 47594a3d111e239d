import RecollectTestSupport
import Testing

/// Checks a promise for many seeds; the seed of a failure is named with it.
func forSeeds(_ count: UInt64, _ check: (inout SeededGenerator) throws -> Void) rethrows {
    let first = UInt64.random(in: 0...(.max - count))
    for seed in first..<(first + count) {
        var generator = SeededGenerator(seed: seed)
        do {
            try check(&generator)
        } catch {
            Issue.record("seed \(seed): \(error)")
            throw error
        }
    }
}
