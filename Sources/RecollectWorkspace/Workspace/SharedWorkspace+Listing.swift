import RecollectCore

extension SharedWorkspace {
    /// What lies in a folder, in the order of the paths' bytes.
    ///
    /// Files that others contradict, in copies that lie beside them, are `conflicted`; the copies are listed too. Starts no download. A
    /// folder below, in which this process may not look, is listed as `unreadable` without what lies in it.
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

    /// `list`, blocking, and what else there is to know of what is listed.
    func listing(of folder: WorkspacePath, recursively: Bool) throws -> WorkspaceListing {
        var items = try provider.items(in: folder)
        var refusals: [WorkspacePath: RecollectError] = [:]
        var position = 0
        while recursively, position < items.count {
            defer { position += 1 }
            let item = items[position]
            guard item.isFolder else { continue }
            do {
                items += try provider.items(in: item.path)
            } catch let error as RecollectError where error.code == .notFound {
                // It was removed since it was listed.
            } catch let error as RecollectError where error.isOfOneFile {
                items[position] = item.with(.unreadable)
                refusals[item.path] = error
            }
        }
        return WorkspaceListing(items, refusals: refusals)
    }

    private func markingConflict(of item: WorkspaceItem) throws -> WorkspaceItem {
        try item.state == .local && isConflicted(item.path) ? item.with(.conflicted) : item
    }

    /// Whether copies that contradict a file lie beside it, or the provider keeps such versions apart.
    func isConflicted(_ path: WorkspacePath) throws -> Bool {
        guard let parent = path.parent else { return false }
        let items = try provider.items(in: parent)
        return items.contains { $0.state == .conflicted && $0.path == path }
            || ConflictCopies.originals(among: items).values.contains(path)
    }

    func notFound(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notFound, "there is no \(path) in \(rootURL.path)")
    }
}
