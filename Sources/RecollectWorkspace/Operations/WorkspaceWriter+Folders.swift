import RecollectCore

/// Changes of folders, file by file: every file keeps its versions.
extension WorkspaceWriter {
    /// Moves the files in a folder to another folder, each as `move` does, and removes the old one if it is empty.
    ///
    /// All files are checked first. If a move fails later, the files moved before are moved back. A file added to the
    /// folder during the call stays.
    /// - Returns: Whether the old folder was removed. It stays with hidden files, and files added during the call.
    /// - Throws: `notLocal`, `tooLarge`, `foreignStore` and `invalidArgument` before any change, with the file; `conflict`
    ///   if a file changed or appeared at a new path, or if files could not be moved back, with these; errors of `move`.
    func moveFolder(_ folder: WorkspacePath, to newFolder: WorkspacePath, by author: WorkspaceAuthor) throws -> Bool {
        let (folder, newFolder) = try (provider.canonicalPath(of: folder), provider.canonicalPath(of: newFolder))
        let (files, folders) = try content(of: folder)
        guard !files.isEmpty else {
            throw RecollectError(
                .invalidArgument, "\(folder) has no files, and a workspace has no empty folders to rename: delete it")
        }
        let moves = try files.map { path in
            let names = newFolder.names + path.names.dropFirst(folder.names.count)
            return (old: path, new: try WorkspacePath(names.joined(separator: "/")))
        }
        var moved: [(old: WorkspacePath, new: WorkspacePath)] = []
        for (old, new) in moves {
            do {
                try move(old, to: new, by: author)
                moved.append((old, new))
            } catch let error as RecollectError where error.code == .notFound {
                // The file was removed since the listing.
            } catch {
                if error is UnconfirmedChangeError { moved.append((old, new)) }
                let left = moveBack(moved, by: author)
                removeFolders(moves.flatMap { ancestors(of: $0.new, in: newFolder) })
                throw failure(of: old, because: error, left: left)
            }
        }
        removeFolders(folders + [folder])
        return try provider.item(at: folder) == nil
    }

    /// Returns the folders of a file, up to another folder.
    private func ancestors(of path: WorkspacePath, in folder: WorkspacePath) -> [WorkspacePath] {
        (folder.names.count..<path.names.count).map { WorkspacePath(checked: Array(path.names.prefix($0))) }
    }

    /// Returns the error of a folder's move after a file failed.
    /// - Parameter left: The files that could not be moved back.
    private func failure(of path: WorkspacePath, because cause: any Error, left: [WorkspacePath]) -> RecollectError {
        let code = (cause as? RecollectError)?.code ?? .conflict
        guard left.isEmpty else {
            let names = left.prefix(20).map(\.description).joined(separator: ", ")
            return RecollectError(
                .conflict,
                """
                \(path) could not be moved, and \(left.count) of the files moved before it could not be moved back: \(names); \
                nothing is lost: move them again
                """, cause: cause)
        }
        let reason = (cause as? RecollectError)?.message ?? "\(cause)"
        return RecollectError(
            code, "no file was moved, because \(path) could not be: \(reason)", cause: cause)
    }

    /// Moves files back, newest first, and returns the new paths of those that could not be.
    private func moveBack(
        _ moved: [(old: WorkspacePath, new: WorkspacePath)], by author: WorkspaceAuthor
    ) -> [WorkspacePath] {
        var left: [WorkspacePath] = []
        for (old, new) in moved.reversed() {
            do {
                try move(new, to: old, by: author)
            } catch let error as RecollectError where error.code == .notFound {
                // The file was removed since. Its versions are in the archive.
            } catch {
                left.append(new)
            }
        }
        return left.reversed()
    }

    /// Trashes the files in a folder, and removes the folder if it is empty then.
    ///
    /// All files are checked first. If a file fails later, the files trashed before are in the trash.
    /// - Returns: Whether the folder was removed. It stays with hidden files, and files added during the call.
    /// - Throws: `notLocal`, `tooLarge` and `foreignStore` before any change, with the file; `conflict` if a file failed
    ///   after others were trashed; errors of `trash`.
    func trashFolder(_ folder: WorkspacePath, by author: WorkspaceAuthor) throws -> Bool {
        let folder = try provider.canonicalPath(of: folder)
        let (files, folders) = try content(of: folder)
        var trashed = 0
        for path in files {
            do {
                try trashCurrent(path, by: author)
                trashed += 1
            } catch  where trashed > 0 {
                let reason = (error as? RecollectError)?.message ?? "\(error)"
                throw RecollectError(
                    .conflict,
                    """
                    \(trashed) of the \(files.count) files in \(folder) were moved to the trash, and the others stay, because \
                    \(path) could not be: \(reason)
                    """, cause: error)
            }
        }
        removeFolders(folders + [folder])
        return try provider.item(at: folder) == nil
    }

    /// Trashes a file with any content. A missing file is ignored.
    private func trashCurrent(_ path: WorkspacePath, by author: WorkspaceAuthor) throws {
        for _ in 0..<10 {
            guard let file = try scanner.fileIfPresent(at: path) else { return }
            do {
                return try trash(path, replacing: file.version, by: author)
            } catch is FileChangedError {
                continue
            }
        }
        throw RecollectError(.busy, "other programs keep changing \(path); try again when they are done")
    }

    /// Returns the files and subfolders in a folder.
    /// - Throws: An error for the first item that cannot be moved or trashed.
    private func content(of folder: WorkspacePath) throws -> (files: [WorkspacePath], folders: [WorkspacePath]) {
        let items = try scanner.listing(of: folder, recursively: true).items
        let folders = items.filter(\.isFolder)
        for item in items {
            switch item.state {
            case .notLocal, .downloading:
                try provider.requestDownload(of: item.path)
                throw RecollectError(
                    .notLocal, "nothing was changed: \(item.path) is not on this device yet; its download was requested"
                )
            case .unreadable:
                throw RecollectError(.foreignStore, "nothing was changed: \(item.path) cannot be read")
            case _ where item.size > configuration.maxFileSize:
                throw RecollectError(
                    .tooLarge, "nothing was changed: \(item.path) is too large, with \(item.size) bytes")
            default: break
            }
        }
        for path in [folder] + folders.map(\.path) {
            if let name = try provider.unlistedNames(in: path).first {
                throw RecollectError(
                    .foreignStore,
                    "nothing was changed: \(path)/\(name) is a link, or has a name not allowed in a workspace")
            }
        }
        return (items.filter { !$0.isFolder }.map(\.path), folders.map(\.path))
    }

    /// Removes the empty ones of some folders, innermost first. A folder that cannot be removed stays.
    private func removeFolders(_ folders: [WorkspacePath]) {
        for folder in Set(folders).sorted(by: { $0.names.count > $1.names.count }) {
            do {
                try provider.removeFolder(folder)
            } catch {
                configuration.logger.debug("an empty folder could not be removed: \(error)")
            }
        }
    }
}
