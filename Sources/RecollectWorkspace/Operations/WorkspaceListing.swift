import RecollectCore

/// The files and folders in a folder of a workspace and in its subfolders.
struct WorkspaceListing {
    /// The items, sorted by path. Files with conflict copies are `conflicted`.
    var items: [WorkspaceItem]
    /// The conflict copies with their originals. An original need not exist.
    let originals: [WorkspacePath: WorkspacePath]
    /// The files with conflict copies, or with conflicting versions at the provider.
    let conflicted: Set<WorkspacePath>
    /// The folders read in part or not at all, with the reasons.
    let refusals: [WorkspacePath: RecollectError]

    init(_ items: [WorkspaceItem], refusals: [WorkspacePath: RecollectError]) {
        self.refusals = refusals
        originals = ConflictCopies.originals(among: items)
        let copied = Set(originals.values)
        conflicted = copied.union(items.lazy.filter { $0.state == .conflicted }.map(\.path))
        var items = items
        if !copied.isEmpty {
            for (position, item) in items.enumerated() where item.state == .local && copied.contains(item.path) {
                items[position] = item.with(.conflicted)
            }
        }
        // Items are expensive to move, so their indexes are sorted by the compared text only.
        let texts = items.map(\.path.description)
        let order = texts.indices.sorted { texts[$0].precedesByBytes(texts[$1]) }
        self.items = order.map { items[$0] }
    }

    /// Whether a path is in a folder read in part or not at all. Its absence is then no evidence of a removal.
    func isHidden(_ path: WorkspacePath) -> Bool {
        refusals.keys.contains { path.names.starts(with: $0.names) }
    }
}
