import RecollectCore

extension SharedWorkspace {
    /// What lies in a folder, in the order of the paths' bytes.
    ///
    /// Files that others contradict, in copies that lie beside them, are `conflicted`; the copies are listed too. Starts no download.
    /// - Parameters:
    ///   - folder: Which folder.
    ///   - recursively: Whether what lies in its folders is listed too.
    /// - Throws: `notFound` where there is no such folder.
    public func list(_ folder: WorkspacePath = .root, recursively: Bool = false) async throws -> [WorkspaceItem] {
        try await reading { try self.items(in: folder, recursively: recursively) }
    }

    /// One file or folder. A file that was known here and is not there any more is `gone`, of the size that its last content had.
    /// - Throws: `notFound` where there is none and none was known.
    public func item(at path: WorkspacePath) async throws -> WorkspaceItem {
        try await reading {
            if let item = try self.provider.item(at: path) {
                return item.isFolder ? item : try self.markingConflict(of: item)
            }
            guard let last = try self.archive.index().files[path]?.versions.last else { throw self.notFound(path) }
            let size = try self.archive.wholeBytes(of: last.hash)?.count ?? 0
            return WorkspaceItem(path: path, size: size, modified: last.date, state: .gone)
        }
    }

    /// `list`, blocking.
    func items(in folder: WorkspacePath, recursively: Bool) throws -> [WorkspaceItem] {
        try listing(of: folder, recursively: recursively).items
    }

    /// `list`, blocking, and the files of which copies are listed, which may not be there themselves.
    func listing(
        of folder: WorkspacePath, recursively: Bool
    ) throws -> (items: [WorkspaceItem], copied: Set<WorkspacePath>) {
        var items: [WorkspaceItem] = []
        var folders = [folder]
        while let folder = folders.popLast() {
            let listed: [WorkspaceItem]
            do {
                listed = try provider.items(in: folder)
            } catch let error as RecollectError where error.code == .notFound && !items.isEmpty {
                // It was removed since it was listed.
                continue
            }
            items += listed
            if recursively { folders += listed.filter(\.isFolder).map(\.path) }
        }
        let copied = Set(items.compactMap { ConflictCopies.original(of: $0.path) })
        return (items.map { copied.contains($0.path) ? $0.conflicted : $0 }.sorted { $0.path < $1.path }, copied)
    }

    private func markingConflict(of item: WorkspaceItem) throws -> WorkspaceItem {
        try isConflicted(item.path) ? item.conflicted : item
    }

    /// Whether copies that contradict a file lie beside it, or the provider keeps such versions apart.
    func isConflicted(_ path: WorkspacePath) throws -> Bool {
        guard let parent = path.parent else { return false }
        return try provider.items(in: parent).contains {
            ConflictCopies.original(of: $0.path) == path || ($0.state == .conflicted && $0.path == path)
        }
    }

    func notFound(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notFound, "there is no \(path) in \(rootURL.path)")
    }
}

extension WorkspaceItem {
    /// The same item, if its content is here, as one that others contradict.
    fileprivate var conflicted: WorkspaceItem {
        guard state == .local else { return self }
        return WorkspaceItem(
            path: path, isFolder: isFolder, size: size, modified: modified, state: .conflicted, stamp: stamp)
    }
}
