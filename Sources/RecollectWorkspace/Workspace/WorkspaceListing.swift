import RecollectCore

/// What lies in a folder of a workspace, and in the folders below.
struct WorkspaceListing {
    /// In the order of their paths; files that copies contradict are `conflicted`.
    var items: [WorkspaceItem]
    /// The copies among them, with the file that each contradicts, which need not be there itself.
    let originals: [WorkspacePath: WorkspacePath]
    /// Files that copies beside them contradict, or that the provider says are contradicted.
    let conflicted: Set<WorkspacePath>
    /// Folders that are there and into which nobody could look, and why.
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
        // Items are large to move about: their places are ordered by what is compared alone.
        let texts = items.map(\.path.description)
        let order = texts.indices.sorted { texts[$0].precedesByBytes(texts[$1]) }
        self.items = order.map { items[$0] }
    }

    /// Whether a path lies in a folder into which nobody could look, so that nothing follows from its absence.
    func isHidden(_ path: WorkspacePath) -> Bool {
        refusals.keys.contains { path.names.starts(with: $0.names) }
    }
}
