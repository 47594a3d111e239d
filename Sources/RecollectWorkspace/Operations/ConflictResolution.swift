import RecollectCore

/// The resolution of a conflict, decided only from the contents and their lineage known to this device.
struct ConflictResolution {
    /// The file's new content.
    let whole: [UInt8]?
    /// The contents not merged into `whole`, in the order of their hashes.
    let apart: [[UInt8]]
    let outcome: ResolvedConflict.Outcome
    /// The lines assumed deleted.
    let deleted: [String]

    /// Creates the resolution for a file on this device and a folder of the same name on another. All contents are
    /// kept beside the folder.
    init(apart contents: [ContentHash: [UInt8]]) {
        whole = nil
        apart = Self.ordered(contents.keys).compactMap { contents[$0] }
        outcome = .keptBoth
        deleted = []
    }

    private static func ordered(_ hashes: some Sequence<ContentHash>) -> [ContentHash] {
        hashes.sorted { $0.rawValue < $1.rawValue }
    }

    /// Creates the resolution of a conflict.
    /// - Parameters:
    ///   - contents: The different contents by their hashes.
    ///   - largest: The maximum size of a merged content in bytes.
    init(
        _ contents: [ContentHash: [UInt8]], at path: WorkspacePath, _ archive: VersionArchive, _ logs: LineageLogs,
        largest: Int
    ) throws {
        let all = Self.ordered(contents.keys)
        let lineage = logs.lineage(of: path, contradicting: Set(all))
        let hashes = all.filter { one in !all.contains { lineage.isAncestor(one, of: $0) } }
        let latest = hashes.compactMap { contents[$0] }
        guard latest.count > 1 else {
            whole = latest.first
            apart = []
            outcome = contents.count > 1 ? .superseded : .identical
            deleted = []
            return
        }
        let mergeable = hashes.filter { contents[$0].map { WorkspaceMerge.canMerge($0, at: path) } ?? false }
        let merge = Merge(contents: contents, path: path, archive: archive, lineage: lineage, largest: largest)
        if let merged = try merge.merged(mergeable, all: hashes) {
            whole = merged.bytes
            apart = zip(hashes, latest).filter { !mergeable.contains($0) || merged.apart.contains($1) }.map(\.1)
            deleted = merged.deleted
        } else {
            deleted = []
            whole = latest[0]
            apart = Array(latest.dropFirst())
        }
        outcome = apart.isEmpty ? .merged : .keptBoth
    }

    /// The merge of contents with their common ancestors.
    private struct Merge {
        let contents: [ContentHash: [UInt8]]
        let path: WorkspacePath
        let archive: VersionArchive
        let lineage: Lineage
        let largest: Int

        /// Returns the merge of some versions, or `nil` if they are kept apart.
        ///
        /// Of three versions or more, those with a nearer common ancestor are merged first. Otherwise a line put back after
        /// this ancestor would be missing in one version, and count as deleted.
        func merged(_ versions: [ContentHash], all: [ContentHash]) throws -> WorkspaceMerge.Result? {
            guard let root = lineage.base(of: all), let base = try bytes(ofBase: root) else {
                return merged(versions.compactMap { contents[$0] }, base: nil)
            }
            guard versions.count > 2, WorkspaceMerge.Structure(of: path) != .chat,
                let (nearer, group) = lineage.closestGroup(of: versions, beyond: root), group.count < versions.count,
                let nearerBase = try bytes(ofBase: nearer),
                let first = merged(group.compactMap { contents[$0] }, base: nearerBase)
            else { return merged(versions.compactMap { contents[$0] }, base: base) }
            let others = versions.filter { !group.contains($0) }.compactMap { contents[$0] }
            return merged(others + [first.bytes], base: base).map { last in
                let known = Set(ByteText(last.bytes).lines).union(last.deleted.map { ByteText($0) })
                let deleted = first.deleted.filter { !known.contains(ByteText($0)) }
                return WorkspaceMerge.Result(bytes: last.bytes, deleted: deleted + last.deleted, apart: last.apart)
            }
        }

        private func merged(_ versions: [[UInt8]], base: [UInt8]?) -> WorkspaceMerge.Result? {
            WorkspaceMerge.mergedAndChecked(base: base, versions: versions, at: path).flatMap {
                $0.bytes.count <= largest ? $0 : nil
            }
        }

        private func bytes(ofBase base: ContentHash) throws -> [UInt8]? {
            try lineage.havePart(contents, since: base) ? nil : archive.wholeBytes(of: base)
        }
    }
}
