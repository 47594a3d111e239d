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
        let base = try lineage.base(of: hashes).flatMap { root in
            try lineage.havePart(contents, since: root)
                ? nil
                : archive.wholeBytes(of: root).map {
                    try Self.base($0, root, withoutLinesPutBackIn: hashes, contents, at: path, archive, lineage)
                }
        }
        let mergeable = latest.filter { WorkspaceMerge.canMerge($0, at: path) }
        let merged = WorkspaceMerge.mergedAndChecked(base: base, versions: mergeable, at: path)
        if let merged, merged.bytes.count <= largest {
            whole = merged.bytes
            apart = latest.filter { !mergeable.contains($0) || merged.apart.contains($0) }
            deleted = merged.deleted
        } else {
            deleted = []
            whole = latest[0]
            apart = Array(latest.dropFirst())
        }
        outcome = apart.isEmpty ? .merged : .keptBoth
    }

    /// Returns the base of three versions or more without the lines put back in one of them: they are missing in a nearer
    /// ancestor of two versions, and one of the two has them again. No version deletes these lines later.
    private static func base(
        _ base: [UInt8], _ root: ContentHash, withoutLinesPutBackIn hashes: [ContentHash],
        _ contents: [ContentHash: [UInt8]], at path: WorkspacePath, _ archive: VersionArchive, _ lineage: Lineage
    ) throws -> [UInt8] {
        guard hashes.count > 2, WorkspaceMerge.Structure(of: path) != .chat else { return base }
        let lines = ByteText(base).lines
        let counts = Self.counts(lines)
        var putBack: Set<ByteText> = []
        for (nearer, two) in lineage.bases(ofTwoOf: hashes) where nearer != root {
            guard let kept = try archive.wholeBytes(of: nearer).map({ Self.counts(ByteText($0).lines) }) else {
                continue
            }
            let deleted = counts.filter { kept[$0, default: 0] < $1 && !$0.isBlank }
            for content in deleted.isEmpty ? [] : two.compactMap({ contents[$0] }) {
                let own = Self.counts(ByteText(content).lines)
                putBack.formUnion(deleted.keys.filter { own[$0, default: 0] > kept[$0, default: 0] })
            }
        }
        return putBack.isEmpty ? base : ByteText(lines: lines.filter { !putBack.contains($0) }).bytes
    }

    private static func counts(_ lines: [ByteText]) -> [ByteText: Int] {
        lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}
