import RecollectTestSupport

/// The laws that every merge must keep, checked with random cases.
///
/// Without them two devices that see the same conflicts in another order would write different files, and each would take the other's
/// for a new conflict.
struct MergeLaws {
    /// Merges versions of a text that came from a base.
    let merge: @Sendable (_ base: String?, _ versions: [String]) -> String?
    /// Makes a base and three versions of it.
    let make: @Sendable (inout SeededGenerator) -> (base: String?, versions: [String])
    /// Whether a result holds all that it must; says what is missing.
    var missing: @Sendable (_ base: String?, _ versions: [String], _ result: String) -> String? = { _, _, _ in nil }

    /// Checks all laws on the case that a seed makes; throws the first that it breaks.
    func check(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (base, versions) = make(&random)
        if let broken = broken(base, versions) {
            throw CaseFailure(description: "\(broken)\nbase: \(base.debugDescription)\n\(versions)")
        }
    }

    private func broken(_ base: String?, _ versions: [String]) -> String? {
        let (a, b, c) = (versions[0], versions[1], versions[2])
        func merged(_ versions: String...) -> String { merge(base, versions) ?? "nothing" }
        let ab = merged(a, b)
        let (all, steps) = (merged(a, b, c), merged(ab, c))
        let pairs: [(law: String, one: String, other: String)] = [
            ("commutative", ab, merged(b, a)),
            ("idempotent", merged(a, a), a),
            ("absorbing", merged(ab, a), ab),
            ("absorbing", merged(ab, ab), ab),
            ("associative", steps, merged(a, merged(b, c))),
            ("at once as in steps", all, steps),
            ("in any order", all, merged(c, a, b)),
        ]
        for (law, one, other) in pairs where !one.utf8.elementsEqual(other.utf8) {
            return "\(law)\none:   \(one.debugDescription)\nother: \(other.debugDescription)"
        }
        return missing(base, versions, all).map { "lost: \($0)\nresult: \(all.debugDescription)" }
    }
}
