import RecollectTestSupport

/// The laws of every merge, checked with random cases.
///
/// Without these laws, two devices that resolve the same conflicts in different orders would write different files, and
/// each would treat the other's file as a new conflict.
struct MergeLaws {
    /// Merges versions of a text derived from a base.
    let merge: @Sendable (_ base: String?, _ versions: [String]) -> String?
    /// Generates a base and three versions of it.
    let make: @Sendable (inout SeededGenerator) -> (base: String?, versions: [String])
    /// Whether the result of a case may depend on the steps, so that the laws about steps are not checked.
    var isLoose: @Sendable (_ base: String?, _ versions: [String]) -> Bool = { _, _ in false }
    /// Whether two results of different steps count as equal.
    var isSame: @Sendable (_ one: String, _ other: String) -> Bool = { $0.utf8.elementsEqual($1.utf8) }
    /// Returns required content missing from a result; `nil` if the result is complete.
    var missing: @Sendable (_ base: String?, _ versions: [String], _ result: String) -> String? = { _, _, _ in nil }

    /// Checks all laws for the case of a seed. Throws the first violation.
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
        var pairs: [(law: String, one: String, other: String, isEqual: Bool)] = []
        func expect(_ law: String, _ one: String, _ other: String, _ isEqual: (String, String) -> Bool) {
            pairs.append((law, one, other, isEqual(one, other)))
        }
        let isEqual = { (one: String, other: String) in one.utf8.elementsEqual(other.utf8) }
        expect("commutative", ab, merged(b, a), isEqual)
        expect("idempotent", merged(a, a), a, isEqual)
        expect("idempotent", merged(ab, ab), ab, isEqual)
        expect("in any order", all, merged(c, a, b), isEqual)
        if !isLoose(base, versions) {
            expect("absorbing", merged(ab, a), ab, isEqual)
            expect("associative", steps, merged(a, merged(b, c)), isSame)
            expect("at once as in steps", all, steps, isSame)
        }
        for (law, one, other, isEqual) in pairs where !isEqual {
            return "\(law)\none:   \(one.debugDescription)\nother: \(other.debugDescription)"
        }
        return missing(base, versions, all).map { "lost: \($0)\nresult: \(all.debugDescription)" }
    }
}
