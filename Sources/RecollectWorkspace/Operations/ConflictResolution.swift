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
    init(apart contents: Set<[UInt8]>) {
        whole = nil
        apart = Self.ordered(contents)
        outcome = .keptBoth
        deleted = []
    }

    private static func ordered(_ contents: Set<[UInt8]>) -> [[UInt8]] {
        contents.map { ($0, ContentHash(of: $0).rawValue) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    init(_ contents: Set<[UInt8]>, at path: WorkspacePath, _ archive: VersionArchive, _ logs: LineageLogs) throws {
        let hashes = Dictionary(uniqueKeysWithValues: contents.map { ($0, ContentHash(of: $0)) })
        let ordered = Self.ordered(contents)
        let lineage = logs.lineage(of: path, contradicting: Set(hashes.values))
        let latest = ordered.filter { one in
            !ordered.contains { other in
                guard let ancestor = hashes[one], let descendant = hashes[other] else { return false }
                return lineage.isAncestor(ancestor, of: descendant)
            }
        }
        guard latest.count > 1 else {
            whole = latest.first
            apart = []
            outcome = contents.count > 1 ? .superseded : .identical
            deleted = []
            return
        }
        let all = Dictionary(uniqueKeysWithValues: hashes.map { ($1, $0) })
        let base = try lineage.base(of: latest.compactMap { hashes[$0] }) { Set(try archive.sizes(of: $0).keys) }
            .flatMap { try lineage.havePart(all, since: $0) ? nil : archive.wholeBytes(of: $0) }
        let mergeable = latest.filter { WorkspaceMerge.canMerge($0, at: path) }
        if let merged = WorkspaceMerge.mergedAndChecked(base: base, versions: mergeable, at: path) {
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
