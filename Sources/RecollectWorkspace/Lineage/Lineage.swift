import Crypto
import Foundation
import RecollectCore

/// The version graph of one file, from the logs of all devices.
///
/// A **write** by Recollect compares the replaced content, so its parents are facts. So is the replaced content of an
/// **edit**: a program on the recording device saved the new one, unless the replaced one was a conflict copy on any device
/// at any time, or the file had copies. The graph consists of these revisions.
///
/// All other contents **arrived** by the sync service, and have no ancestors by that. A service replaces versions known to
/// the other device, and keeps others as conflict copies. But a device that loses a conflict takes the winning content as a
/// successor of its own versions. So the service also replaces an older one of them on a third device, without a copy,
/// although the winner's author did not know it. A gap in the logs proves nothing.
struct Lineage {
    /// A write or an edit: a line of a log.
    private struct Revision {
        var parents: [Parent]
        let isWritten: Bool
        let isMerge: Bool
        /// Whether it began the file.
        let isFirst: Bool
    }

    /// A replaced or merged content, and its revision, if it is the line before in the same log.
    private struct Parent: Hashable {
        let content: ContentHash
        let revision: Int?
    }

    private var revisions: [Revision] = []
    private var revisionsByContent: [ContentHash: [Int]] = [:]
    /// The last revision in each log.
    private var newest: Set<Int> = []
    /// The contents that occur more than once: after a revert, or made independently on two devices. A third device may
    /// have had any occurrence, so these contents are no ancestors, and have none, except for the newest one of a device.
    private var repeated: Set<ContentHash> = []
    /// The sizes of observed contents, in bytes.
    private var sizes: [ContentHash: Int] = [:]

    /// Creates a graph.
    /// - Parameters:
    ///   - logs: The lines of each device about the file, oldest first.
    ///   - copies: The contents of conflict copies, past and present.
    ///   - contents: The conflicting contents.
    init(_ logs: [[VersionLine]], copies: Set<ContentHash>, contradicting contents: Set<ContentHash> = []) {
        // No other content replaced these knowingly, except by a write.
        let copied = copies.union(contents)
        let putBack = contents.subtracting(logs.reduce(into: []) { $0.formUnion(Self.lost(in: $1)) })
        let orders = logs.map(Self.order(of:))
        for log in logs {
            var device = DeviceContents(orders: orders)
            var last: (content: ContentHash, revision: Int?)?
            var newest: Int?
            // The content of a missing file. A file with content is there again.
            var missing: ContentHash?
            for version in log.map(\.version) {
                if version.kind.isAbsence {
                    missing = version.hash
                    continue
                }
                defer { missing = nil }
                if version.author == nil, let size = version.size { sizes[version.hash] = size }
                // Of two adjacent lines with the same content, the first one has the parents.
                if version.hash == last?.content { continue }
                // A conflict copy that takes its file's name is its own parent, and no new revision.
                let isWritten = version.author != nil && version.parents != [version.hash]
                let isEdited =
                    version.kind == .edited && !version.parents.isEmpty && copied.isDisjoint(with: version.parents)
                let replaced = version.parents.isEmpty ? missing : version.parents.count == 1 ? version.parents[0] : nil
                if device.putsBack(version, replacing: replaced) { repeated.insert(version.hash) }
                let revision =
                    isWritten || isEdited
                    ? add(version, isWritten: isWritten, after: last, puttingBack: putBack) : nil
                device.add(version.hash, isMade: revision != nil)
                newest = revision ?? newest
                last = (version.hash, revision)
            }
            if let newest { self.newest.insert(newest) }
        }
    }

    /// Adds a write or an edit, and returns its number.
    /// - Parameter contents: The conflicting contents that a device may have put back.
    private mutating func add(
        _ version: WorkspaceVersion, isWritten: Bool, after last: (content: ContentHash, revision: Int?)?,
        puttingBack contents: Set<ContentHash>
    ) -> Int {
        let parents = version.parents.filter { $0 != version.hash }.map {
            Parent(content: $0, revision: $0 == last?.content ? last?.revision : nil)
        }
        let isMerge = version.kind == .merged && !version.parents.contains(version.hash)
        if let known = revisionsByContent[version.hash]?.last {
            // Merges of the same versions by several devices have the same content.
            if isMerge, revisions[known].isMerge {
                revisions[known].parents.removeAll { !version.parents.contains($0.content) }
                return known
            }
            repeated.insert(version.hash)
        }
        // A conflict has the replaced content again: somebody may have put it back, with the log still to come. The text of a
        // merged copy is in the merge.
        if version.kind != .merged, version.parents.count == 1 {
            repeated.formUnion(contents.intersection(version.parents))
        }
        revisionsByContent[version.hash, default: []].append(revisions.count)
        revisions.append(
            Revision(
                parents: parents, isWritten: isWritten, isMerge: isMerge,
                isFirst: version.kind == .written && parents.isEmpty))
        return revisions.count - 1
    }

    /// Returns the contents that a service replaced during a conflict: their copies have not been put back by anybody.
    private static func lost(in log: [VersionLine]) -> Set<ContentHash> {
        Set(zip(log, log.dropFirst()).filter { $1.version.kind == .conflicted }.map(\.0.version.hash))
    }

    /// Returns the position of the first mention of each version in a log: an odd one of its line, or an even one of a
    /// line with it as a parent, or of its absence. A parent existed before, but the log does not say since when.
    private static func order(of log: [VersionLine]) -> [ContentHash: Int] {
        var positions: [ContentHash: Int] = [:]
        for (line, change) in log.enumerated() {
            let version = change.version
            for parent in version.parents { positions[parent] = positions[parent] ?? 2 * line }
            positions[version.hash] = positions[version.hash] ?? (version.kind.isAbsence ? 2 * line : 2 * line + 1)
        }
        return positions
    }

    /// The contents of a device so far.
    private struct DeviceContents {
        private let orders: [[ContentHash: Int]]
        private var known: Set<ContentHash> = []
        private var made: Set<ContentHash> = []
        /// The latest of the contents made elsewhere, by position in each log.
        private var arrived: [Int]

        init(orders: [[ContentHash: Int]]) {
            self.orders = orders
            arrived = Array(repeating: -1, count: orders.count)
        }

        /// Adds the parents of a version. Returns whether the version has content of this device again, or one with an
        /// earlier position in some log than content of this device: the replaced one, or one made elsewhere.
        mutating func putsBack(_ version: WorkspaceVersion, replacing replaced: ContentHash?) -> Bool {
            for parent in version.parents { add(parent, isMade: made.contains(parent)) }
            let latest = replaced.map(positions(with:)) ?? arrived
            let isEarlier = zip(orders, latest).contains { order, latest in order[version.hash] ?? .max < latest }
            return known.contains(version.hash) || isEarlier
        }

        mutating func add(_ content: ContentHash, isMade: Bool) {
            known.insert(content)
            if isMade { made.insert(content) } else { arrived = positions(with: content) }
        }

        /// Returns the latest positions with those of one more content. The parents of a merge are in the order of their
        /// hashes, so they are no evidence.
        private func positions(with content: ContentHash) -> [Int] {
            zip(arrived, orders).map { latest, order in
                order[content].map { $0.isMultiple(of: 2) ? latest : max(latest, $0) } ?? latest
            }
        }
    }

    // MARK: Ancestors

    /// Returns all known ancestors of a version in the conflict.
    private func ancestors(of content: ContentHash) -> Set<ContentHash> {
        var revisions = revisionsByContent[content] ?? []
        if revisions.contains(where: { self.revisions[$0].isWritten }) {
            revisions.removeAll { !self.revisions[$0].isWritten }
        }
        // Of several occurrences, the conflict has the newest one of its device.
        if repeated.contains(content) { revisions.removeAll { !newest.contains($0) } }
        guard revisions.count <= 1 else { return [] }
        return ancestors(of: Parent(content: content, revision: revisions.first)).subtracting([content])
    }

    /// Returns all known ancestors of one occurrence of a version. Another occurrence of it may be among them.
    private func ancestors(of occurrence: Parent) -> Set<ContentHash> {
        var found: Set<ContentHash> = []
        var reached: Set<Parent> = []
        var rest = [occurrence]
        while let next = rest.popLast() {
            let revision =
                next.revision ?? (repeated.contains(next.content) ? nil : revisionsByContent[next.content]?.last)
            let parents = revision.map { self.revisions[$0].parents } ?? []
            found.formUnion(parents.map(\.content))
            rest += parents.filter { reached.insert($0).inserted }
        }
        return found
    }

    /// Whether one version is an ancestor of another.
    func isAncestor(_ ancestor: ContentHash, of descendant: ContentHash) -> Bool {
        ancestor != descendant && !repeated.contains(ancestor) && ancestors(of: descendant).contains(ancestor)
            && !ancestors(of: ancestor).contains(descendant)
    }

    /// Returns those of some contents that are ancestors of one of the others: see `isAncestor`. Computes the ancestors of
    /// each version once.
    func ancestors(among contents: [ContentHash], of descendants: [ContentHash]) -> Set<ContentHash> {
        let possible = Set(contents).subtracting(repeated)
        guard !possible.isEmpty else { return [] }
        let ancestors = Dictionary(
            Set(descendants).union(possible).map { ($0, self.ancestors(of: $0)) },
            uniquingKeysWith: { first, _ in first })
        return possible.filter { content in
            descendants.contains { descendant in
                ancestors[descendant]?.contains(content) == true && ancestors[content]?.contains(descendant) == false
            }
        }
    }

    // MARK: Parts

    /// Whether a version descends from a part of another one, and has nothing newer in common with it.
    ///
    /// A service that writes files in place shows a file while it arrives. A write on such a part lacks the rest of the
    /// file, so it is no evidence of deletions. A part was observed and never written by Recollect. It is empty or ends
    /// without a line end. Text shortened by an editor may be one, too; then its deletions are not applied.
    /// - Parameters:
    ///   - contents: The contents, with their hashes.
    ///   - base: Their nearest common ancestor.
    func havePart(_ contents: [ContentHash: [UInt8]], since base: ContentHash) -> Bool {
        let written = Set(revisionsByContent.filter { $0.value.contains { revisions[$0].isWritten } }.keys)
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
                let endsInLine = size == 0 || !bytes[size - 1].isLineEnd
                if endsInLine, ContentHash(digest.finalize()) == part { return true }
            }
        }
        return false
    }

    /// The strength of the proof that one version does not descend from another.
    enum Independence {
        /// The writes are incomplete, or the other content is an ancestor.
        case unproved
        /// The writes are complete, but the proof has a gap: a deletion of the file, or a revert.
        case probable
        /// The writes are complete, back to common ancestors, and no content of the file occurs twice.
        case proved
    }

    /// Returns the strength of the proof that one version does not descend from another, by the writes leading to
    /// it.
    func independence(of descendant: ContentHash, from content: ContentHash) -> Independence {
        let shared = ancestors(of: content)
        // After a revert, equal contents may be different versions.
        var independence = repeated.isEmpty ? Independence.proved : .probable
        var reached: Set<ContentHash> = [descendant]
        var rest = [descendant]
        while let next = rest.popLast() {
            if next == content { return .unproved }
            if shared.contains(next) { continue }
            let written = (revisionsByContent[next] ?? []).map { revisions[$0] }.filter(\.isWritten)
            guard !written.isEmpty, written.allSatisfy({ $0.isFirst || !$0.parents.isEmpty }) else { return .unproved }
            // A new file may be written in place of a deleted one.
            if written.contains(where: \.isFirst) { independence = .probable }
            rest += written.flatMap(\.parents).map(\.content).filter { reached.insert($0).inserted }
        }
        return independence
    }

    /// Returns the nearest common ancestor of several contents; `nil` if none is known, or several are equally near. What an
    /// older ancestor has may have been deleted and added again.
    func base(of contents: some Collection<ContentHash>) -> ContentHash? {
        base(among: common(to: contents.map { ancestors(of: $0).union([$0]) }), of: contents)
    }

    /// Returns a group of the contents with a nearer common ancestor than `root`, the base of all, and this ancestor. Of
    /// several groups, it is the one with the nearest ancestor.
    func closestGroup(of contents: [ContentHash], beyond root: ContentHash) -> (base: ContentHash, [ContentHash])? {
        let all = contents.map { ancestors(of: $0).union([$0]) }
        // Most pairs have the same common ancestors.
        var common: Set<Set<ContentHash>> = []
        for (index, first) in all.enumerated() {
            for second in all[(index + 1)...] { common.insert(self.common(to: [first, second])) }
        }
        let bases = Set(common.compactMap { base(among: $0, of: contents) }).subtracting([root])
        let nearest = bases.filter { base in !bases.contains { isAncestor(base, of: $0) } }
        return nearest.min { $0.rawValue < $1.rawValue }.map { base in
            (base, zip(contents, all).filter { $1.contains(base) }.map(\.0))
        }
    }

    private func common(to ancestors: [Set<ContentHash>]) -> Set<ContentHash> {
        ancestors.dropFirst().reduce(ancestors.first ?? []) { $0.intersection($1) }
    }

    /// Returns the nearest of the common ancestors of contents; `nil` if several are equally near.
    ///
    /// A repeated content is the base if each of its revisions descends from the nearest other one, or from this content
    /// itself. All of the contents come from its text then. Lines of an older content may have been deleted and added
    /// again.
    private func base(among common: Set<ContentHash>, of contents: some Collection<ContentHash>) -> ContentHash? {
        let unique = common.subtracting(repeated)
        let older = unique.reduce(into: Set()) { $0.formUnion(ancestors(of: $1)) }
        let nearest = unique.subtracting(older)
        guard nearest.count == 1, let base = nearest.first else { return nil }
        let nearer = common.subtracting(unique).subtracting(older).subtracting(contents).filter { content in
            let revisions = revisionsByContent[content] ?? []
            return !revisions.isEmpty
                && revisions.allSatisfy {
                    !ancestors(of: Parent(content: content, revision: $0)).isDisjoint(with: [base, content])
                }
        }
        return nearer.count > 1 ? nil : nearer.first ?? base
    }
}

extension UInt8 {
    fileprivate var isLineEnd: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}
