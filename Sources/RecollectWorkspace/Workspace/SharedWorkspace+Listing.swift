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
        try await reading { try self.scanner.listing(of: folder, recursively: recursively).items }
    }

    /// Returns a file or folder. A missing file with a known version has the state `gone`, and the size of its last
    /// content.
    /// - Throws: `notFound` if the path neither exists nor has a known version.
    public func item(at path: WorkspacePath) async throws -> WorkspaceItem {
        try await reading {
            if let item = try self.provider.item(at: path) {
                return item.isFolder ? item : try self.markingConflict(of: item)
            }
            guard let last = try self.archive.index().files[path]?.versions.last else {
                throw self.scanner.notFound(path)
            }
            let size = try self.archive.wholeBytes(of: last.hash)?.count ?? 0
            return WorkspaceItem(path: path, size: size, modified: last.date, state: .removed)
        }
    }

    private func markingConflict(of item: WorkspaceItem) throws -> WorkspaceItem {
        try item.state == .local && scanner.isConflicted(item.path) ? item.with(.conflicted) : item
    }
}
