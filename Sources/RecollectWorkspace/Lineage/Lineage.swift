import RecollectCore

/// Which content of a file came of which, as far as the logs of all devices tell.
///
/// A **write** by Recollect replaces a content that its writer knew: a fact. A content that a device **found** in place of another one
/// may have been made there by an editor, or brought by the sync service, which replaces only what the other device knew, or else makes
/// a copy of it. So a content that was found in place of another came of it, unless that one lay as a copy beside the
/// file anywhere, at any time. Where several logs tell of one content, it came of what all of them say. What no log tells of came of
/// nothing: where the logs have a gap, nothing is taken for known.
struct Lineage {
    /// A content that a file had: for the first time, or again after another one (a change that was taken back).
    struct Version: Hashable {
        let hash: ContentHash
        /// How often the file had the content before.
        let number: Int
    }

    /// What one log tells of a version.
    private struct Claim {
        let parents: [Version]
        let isWritten: Bool
    }

    private var claims: [Version: [Claim]] = [:]
    /// How many versions have a content.
    private var counts: [ContentHash: Int] = [:]
    private var known: [Version: Set<Version>] = [:]
    private var underway: Set<Version> = []
    /// Contents that lay as copies beside the file.
    private let copied: Set<ContentHash>

    /// - Parameters:
    ///   - logs: The lines of each device that tell of the file, in the order in which it wrote them.
    ///   - copied: Contents that lay, or lie, as copies beside the file.
    init(_ logs: [[VersionLine]], copied: Set<ContentHash>) {
        self.copied = copied
        // In each log, the order in which contents came up first: what was replaced before what replaced it.
        let firstPlaces = logs.map { log in
            Dictionary(
                log.flatMap { $0.version.parents + [$0.version.hash] }.enumerated().map { ($1, $0) },
                uniquingKeysWith: { first, _ in first })
        }
        for log in logs {
            var counts: [ContentHash: Int] = [:]
            var last: ContentHash?
            for line in log where !line.version.kind.isAbsence {
                let version = line.version
                // What a content came of that the file had already is told by the first of both lines.
                if version.hash == last { continue }
                last = version.hash
                // What was replaced was there, also where the log does not tell of it.
                for parent in version.parents where counts[parent] == nil { counts[parent] = 1 }
                // A device had the content before it had what was replaced here: somebody took a change back. If two logs say so of
                // each other, it is open who did, and neither version came of the other.
                let isAgain =
                    version.author == nil
                    && firstPlaces.contains { places in
                        version.parents.contains { (places[version.hash] ?? .max) < (places[$0] ?? .min) }
                    }
                let number = max(counts[version.hash, default: 0], isAgain ? 1 : 0)
                counts[version.hash] = number + 1
                self.counts[version.hash] = max(number + 1, self.counts[version.hash, default: 0])
                let parents = version.parents.map { Version(hash: $0, number: counts[$0, default: 1] - 1) }
                claims[Version(hash: version.hash, number: number), default: []].append(
                    Claim(parents: parents, isWritten: version.author != nil))
            }
        }
    }

    private static var mostGenerations: Int { 200 }

    // MARK: What came of what

    /// All versions of which one came.
    private mutating func ancestors(of version: Version) -> Set<Version> {
        if let known = known[version] { return known }
        // Logs that contradict each other may go in circles: then nothing is known. Nor is it beyond what the stack holds.
        guard underway.count < Self.mostGenerations, underway.insert(version).inserted else { return [] }
        let trusted = (claims[version] ?? []).filter { claim in
            claim.isWritten || !claim.parents.isEmpty && !claim.parents.contains { copied.contains($0.hash) }
        }
        let written = trusted.filter(\.isWritten)
        var common: Set<Version>?
        for claim in written.isEmpty ? trusted : written {
            var ancestors = Set(claim.parents)
            for parent in claim.parents { ancestors.formUnion(self.ancestors(of: parent)) }
            common = common?.intersection(ancestors) ?? ancestors
        }
        underway.remove(version)
        let result = (common ?? []).subtracting([version])
        known[version] = result
        return result
    }

    /// The last version that has a content. Taken for an earlier one, what was put back would count as deleted by what came between.
    private func latest(_ hash: ContentHash) -> Version {
        Version(hash: hash, number: max(0, counts[hash, default: 0] - 1))
    }

    /// Whether whoever wrote one content knew the other one, however often that was written.
    mutating func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash) -> Bool {
        guard ancestor != descendant else { return false }
        let (old, new) = (latest(ancestor), latest(descendant))
        return ancestors(of: new).contains(old) && !ancestors(of: old).contains(new)
    }

    /// The content that some others came of, the nearest one; `nil` where none is known, or several.
    /// - Parameter kept: Returns the contents that are kept on this device.
    mutating func base(
        of contents: some Collection<ContentHash>, among kept: (Set<ContentHash>) throws -> Set<ContentHash>
    ) rethrows -> ContentHash? {
        var common: Set<Version>?
        for content in contents {
            let version = latest(content)
            let known = ancestors(of: version).union([version])
            common = common?.intersection(known) ?? known
        }
        guard let common, !common.isEmpty else { return nil }
        let available = try kept(Set(common.map(\.hash)))
        let candidates = common.filter { available.contains($0.hash) }
        var older: Set<Version> = []
        for version in candidates { older.formUnion(ancestors(of: version)) }
        let nearest = Set(candidates.subtracting(older).map(\.hash))
        return nearest.count == 1 ? nearest.first : nil
    }
}
