import RecollectCore

extension SharedWorkspace {
    /// Returns the files and folders in a folder, sorted by the bytes of their paths.
    ///
    /// A file with conflict copies beside it has the state `conflicted`; the copies are listed, too. A subfolder
    /// without read permission has the state `unreadable`, and its content is not listed. Starts no download.
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - recursively: Whether the content of subfolders is included.
    /// - Throws: `notFound` if the folder is missing.
    public func list(_ folder: WorkspacePath = .root, recursively: Bool = false) async throws -> [WorkspaceItem] {
        try await reading { try self.items(in: folder, recursively: recursively) }
    }

    /// Returns a file or folder. A missing file with a known version has the state `gone`, and the size of its last
    /// content.
    /// - Throws: `notFound` if the path neither exists nor has a known version.
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

    /// Returns the items of `list(_:recursively:)`. Blocks.
    func items(in folder: WorkspacePath, recursively: Bool) throws -> [WorkspaceItem] {
        try listing(of: folder, recursively: recursively).items
    }

    /// Returns the items of `list(_:recursively:)` with their conflicts and refused folders. Blocks.
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
                // The folder was removed after it was listed.
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

    /// Whether a file has conflict copies beside it, or conflicting versions at the provider.
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
