import Crypto
import Foundation
import RecollectCore

/// The version graph of one file, from the logs of all devices.
///
/// A **write** by Recollect compares the replaced content, so its parents are facts. So is the replaced content of an
/// **edit**: a program on the recording device saved the new one, unless the replaced one was a conflict copy on any device
/// at any time, or the file had copies. If several logs record an edit to one content, its ancestors are those in all of
/// them.
///
/// All other contents **arrived** by the sync service, and have no ancestors by that. A service replaces versions known to
/// the other device, and keeps others as conflict copies. But a device that loses a conflict takes the winning content as a
/// successor of its own versions. So the service also replaces an older one of them on a third device, without a copy,
/// although the winner's author did not know it. A gap in the logs proves nothing.
struct Lineage {
    /// One occurrence of a content: the first, or a later one after a revert.
    struct Version: Hashable {
        let hash: ContentHash
        /// The number of earlier occurrences.
        let number: Int
    }

    /// The parents of a version in one log.
    private struct Claim {
        let parents: [Version]
        let isWritten: Bool
        /// Whether the version began the file.
        let isFirst: Bool
    }

    /// The writes and edits.
    private var claims: [Version: [Claim]] = [:]
    /// The number of versions of each content.
    private var counts: [ContentHash: Int] = [:]
    /// The contents written or saved more than once: after a revert, or independently on two devices. A third device may
    /// have had either version, so no content counts as descending from them.
    private var repeated: Set<ContentHash> = []
    private var known: [Version: Set<Version>] = [:]
    /// The versions under examination.
    private var underway: Set<Version> = []
    /// The sizes of observed contents, in bytes.
    private var sizes: [ContentHash: Int] = [:]
    /// The contents that no other content replaced knowingly: those of conflict copies, and the conflicting ones.
    private let copied: Set<ContentHash>

    /// Creates a graph.
    /// - Parameters:
    ///   - logs: The lines of each device about the file, oldest first.
    ///   - copies: The contents of conflict copies, past and present.
    ///   - contents: The conflicting contents.
    init(_ logs: [[VersionLine]], copies: Set<ContentHash>, contradicting contents: Set<ContentHash> = []) {
        copied = copies.union(contents)
        // In each log, the position of the first mention of each content: an odd one of its line, or an even one of
        // a line with it as a parent. A parent existed before, but the log does not say since when.
        let firstPlaces = logs.map { log in
            Dictionary(
                log.enumerated().flatMap { line, change in
                    change.version.parents.map { ($0, 2 * line) } + [(change.version.hash, 2 * line + 1)]
                }, uniquingKeysWith: min)
        }
        var made: Set<ContentHash> = []
        for log in logs {
            var counts: [ContentHash: Int] = [:]
            var last: ContentHash?
            for line in log where !line.version.kind.isAbsence {
                let version = line.version
                if version.author == nil, let size = version.size { sizes[version.hash] = size }
                // Of two adjacent lines with the same content, the first one has the parents.
                if version.hash == last { continue }
                last = version.hash
                // A parent existed before, even if the log has no line for it.
                for parent in version.parents where counts[parent] == nil { counts[parent] = 1 }
                // A copy that took its file's name has itself as its parent, at its earlier occurrence.
                let parents = version.parents.map { Version(hash: $0, number: counts[$0, default: 1] - 1) }
                // In another log, this content precedes the first line of its parent: this is a revert. If two logs
                // contradict each other in this way, either could be the revert, and neither version is an ancestor
                // of the other.
                let isAgain =
                    version.author == nil
                    && firstPlaces.contains { places in
                        version.parents.contains { parent in
                            guard let place = places[version.hash], let other = places[parent] else { return false }
                            return place < other && !other.isMultiple(of: 2)
                        }
                    }
                let number = max(counts[version.hash, default: 0], isAgain ? 1 : 0)
                counts[version.hash] = number + 1
                self.counts[version.hash] = max(number + 1, self.counts[version.hash, default: 0])
                let isWritten = version.author != nil
                let isEdited = version.kind == .edited && !parents.isEmpty && copied.isDisjoint(with: version.parents)
                if number > 0
                    || (isWritten || isEdited) && version.kind != .merged && !made.insert(version.hash).inserted
                {
                    repeated.insert(version.hash)
                }
                if isWritten || isEdited {
                    claims[Version(hash: version.hash, number: number), default: []].append(
                        Claim(
                            parents: parents, isWritten: isWritten,
                            isFirst: version.kind == .written && parents.isEmpty))
                }
            }
        }
    }

    private static var mostGenerations: Int { 200 }

    // MARK: Parts

    /// Whether a content descends from a part of another content, and has nothing newer in common with it.
    ///
    /// A service that writes files in place shows a file while it arrives. A write on such a part lacks the rest of the
    /// file, so it is no evidence of deletions. A part was observed and never written by Recollect. It is empty or ends
    /// within a line of the whole; an editor that shortens a text leaves whole lines.
    /// - Parameters:
    ///   - contents: The contents, with their hashes.
    ///   - base: Their nearest common ancestor.
    mutating func havePart(_ contents: [ContentHash: [UInt8]], since base: ContentHash) -> Bool {
        let written = Set(claims.filter { $0.value.contains(where: \.isWritten) }.keys.map(\.hash))
        let candidates = sizes.filter { part, _ in
            !written.contains(part) && contents[part] == nil && isAncestor(base, of: part)
                && contents.keys.contains { isAncestor(part, of: $0) }
        }.sorted { $0.value < $1.value }
        for (whole, bytes) in contents {
            var digest = SHA256()
            var end = 0
            for (part, size) in candidates where size < bytes.count && !isAncestor(part, of: whole) {
                digest.update(data: bytes[end..<size])
                end = size
                let endsInLine = size == 0 || !bytes[(size - 1)...size].contains(where: \.isLineEnd)
                if endsInLine, ContentHash(digest.finalize()) == part { return true }
            }
        }
        return false
    }

    // MARK: Ancestors

    /// Returns all ancestors of a version.
    private mutating func ancestors(of version: Version) -> Set<Version> {
        if let known = known[version] { return known }
        // Contradictory logs may contain cycles, and long chains exceed the stack: the ancestors are unknown then.
        guard underway.count < Self.mostGenerations, underway.insert(version).inserted else { return [] }
        let claims = claims[version] ?? []
        let written = claims.filter(\.isWritten)
        var common: Set<Version>?
        for claim in written.isEmpty ? claims : written {
            var ancestors = Set(claim.parents)
            for parent in claim.parents { ancestors.formUnion(self.ancestors(of: parent)) }
            common = common?.intersection(ancestors) ?? ancestors
        }
        underway.remove(version)
        let result = (common ?? []).subtracting([version])
        known[version] = result
        return result
    }

    /// Returns the latest version of a content. With an earlier one, lines restored by a revert would count as
    /// deleted.
    private func latest(_ hash: ContentHash) -> Version {
        Version(hash: hash, number: max(0, counts[hash, default: 0] - 1))
    }

    /// Whether the latest version of one content is an ancestor of the latest version of another.
    mutating func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash) -> Bool {
        guard ancestor != descendant, !repeated.contains(ancestor) else { return false }
        let (old, new) = (latest(ancestor), latest(descendant))
        return ancestors(of: new).contains(old) && !ancestors(of: old).contains(new)
    }

    /// The strength of the proof that one content does not descend from another.
    enum Independence {
        /// The writes are incomplete, or the other content is an ancestor.
        case unproved
        /// The writes are complete, but the proof has a gap: a deletion of the file, or a revert.
        case probable
        /// The writes are complete, back to common ancestors, and no content of the file occurs twice.
        case proved
    }

    /// Returns the strength of the proof that one content does not descend from another, by the writes leading to
    /// it.
    mutating func independence(of descendant: ContentHash, from content: ContentHash) -> Independence {
        let shared = Set(ancestors(of: latest(content)).map(\.hash))
        // After a revert, equal contents may be different versions.
        var independence = counts.values.contains { $0 > 1 } ? Independence.probable : .proved
        var reached: Set<Version> = [latest(descendant)]
        var rest = Array(reached)
        while let version = rest.popLast() {
            if version.hash == content { return .unproved }
            if shared.contains(version.hash) { continue }
            let written = (claims[version] ?? []).filter(\.isWritten)
            guard !written.isEmpty, written.allSatisfy({ $0.isFirst || !$0.parents.isEmpty }) else { return .unproved }
            // A new file may be written in place of a deleted one.
            if written.contains(where: \.isFirst) { independence = .probable }
            rest += written.flatMap(\.parents).filter { reached.insert($0).inserted }
        }
        return independence
    }

    /// Returns the nearest common ancestor of several contents; `nil` if none is known, or several are equally
    /// near.
    /// - Parameter kept: Returns those of some contents archived on this device.
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
        let candidates = common.filter { available.contains($0.hash) && !repeated.contains($0.hash) }
        var older: Set<Version> = []
        for version in candidates { older.formUnion(ancestors(of: version)) }
        let nearest = Set(candidates.subtracting(older).map(\.hash))
        return nearest.count == 1 ? nearest.first : nil
    }
}

extension UInt8 {
    fileprivate var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
