import RecollectCore

extension WorkspaceScanner {
    /// Returns a file; `nil` if its content is not local.
    func file(at path: WorkspacePath) throws -> WorkspaceFile? {
        do {
            return WorkspaceFile(path: path, bytes: try provider.read(path, limit: configuration.maxFileSize))
        } catch let error as RecollectError where error.code == .notLocal {
            return nil
        } catch let error as RecollectError where error.code == .notFound {
            try refuseDuringMassDeletion(path)
            throw error
        }
    }

    /// Throws `unavailable` if the path is missing, or about to be created, during a mass deletion. The folder may
    /// be unmounted, and a write would go to a different folder.
    ///
    /// Scans if the file is in the archive's index, the last scan found a mass deletion, or the root is another folder, so
    /// no earlier scan is required.
    func refuseDuringMassDeletion(_ path: WorkspacePath) throws {
        let files = try archive.index().files
        if files.isEmpty { try noteRoot(rootIdentity) }
        // The recorded mass deletion is only a reason to scan: the files may be back.
        guard try files[path]?.content != nil || isMassDeletionRecorded() || isRootReplaced(), try scan().isMassDeletion
        else {
            return
        }
        throw RecollectError(
            .unavailable,
            "most of the files in \(provider.rootURL.path) are missing, and \(path) may be one of them; restore them, or accept the deletions"
        )
    }

    /// Returns the current file; `nil` if it is missing.
    /// - Throws: `notLocal`.
    func fileIfPresent(at path: WorkspacePath) throws -> WorkspaceFile? {
        do {
            guard let file = try file(at: path) else { throw notLocal(path) }
            return file
        } catch let error as RecollectError where error.code == .notFound {
            return nil
        }
    }

    private func notLocal(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notLocal, "\(path) is not on this device yet: read it first to download it")
    }

    /// Returns the files and folders in a folder, with their conflicts and refused folders.
    func listing(of folder: WorkspacePath, recursively: Bool) throws -> WorkspaceListing {
        var items = try provider.items(in: folder)
        var refusals: [WorkspacePath: RecollectError] = [:]
        var position = 0
        while recursively, position < items.count {
            defer { position += 1 }
            let item = items[position]
            guard item.isFolder else { continue }
            if item.state == .conflicted { refusals[item.path] = sameName(item.path) }
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

    private func sameName(_ folder: WorkspacePath) -> RecollectError {
        RecollectError(
            .unreadable,
            "\(folder) has two folders on disk, with its name in different Unicode forms; only one is read: move the files of the "
                + "other one")
    }

    /// Whether a file has conflict copies beside it, or conflicting versions at the provider.
    func isConflicted(_ path: WorkspacePath) throws -> Bool { try conflictCopies(of: path).isConflicted }

    /// Returns the conflict copies beside a file, and whether the file has any, or conflicting versions at the
    /// provider.
    func conflictCopies(of path: WorkspacePath) throws -> (items: [WorkspaceItem], isConflicted: Bool) {
        guard let parent = path.parent else { return ([], false) }
        let items = try provider.items(in: parent)
        let originals = ConflictCopies.originals(among: items)
        let copies = items.filter { originals[$0.path] == path }
        return (copies, !copies.isEmpty || items.contains { $0.state == .conflicted && $0.path == path })
    }

    func notFound(_ path: WorkspacePath) -> RecollectError {
        RecollectError(.notFound, "there is no \(path) in \(provider.rootURL.path)")
    }
}
