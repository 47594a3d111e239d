import Foundation
import RecollectTestSupport
import Testing

/// Saturday, 2026-11-21, 09:12:07.123 in UTC.
let morning = Date(timeIntervalSince1970: 1_795_252_327.123).wholeMilliseconds

/// Checks a promise for many seeds; the seed of a failure is named with it, and `RECOLLECT_SEED` checks that one alone.
func forSeeds(_ count: UInt64, _ check: (inout SeededGenerator) throws -> Void) rethrows {
    let told = ProcessInfo.processInfo.environment["RECOLLECT_SEED"].flatMap(UInt64.init)
    let first = told ?? UInt64.random(in: 0...(.max - count))
    for seed in first..<(first + (told == nil ? count : 1)) {
        var generator = SeededGenerator(seed: seed)
        do {
            try check(&generator)
        } catch {
            Issue.record("seed \(seed): \(error)")
            throw error
        }
    }
}
