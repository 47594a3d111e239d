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
        let base = try lineage.base(of: hashes)
            .flatMap { try lineage.havePart(contents, since: $0) ? nil : archive.wholeBytes(of: $0) }
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
}
