import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Gives a file another path, if it still has the content that it had when this began, and nothing is at the new path.
    ///
    /// The file is at the new path, durably, before it goes from the old one: killed in between, it is at both. Folders above the new
    /// path are made. It takes its rights, its owner, its extended attributes and the date of its last change along, as far as the file
    /// system and this process can give them to it. A move that fails in the middle is taken back.
    /// - Throws: `notFound`; `invalidArgument` for a folder; `FileChangedError` where somebody wrote the file meanwhile, or of the new
    ///   path, where a file is there; `notLocal`, `tooLarge`; `conflict` where it could not be taken back, and the file is at both paths;
    ///   `UnconfirmedChangeError` of the new path where it was moved, and something failed after that.
    public func move(_ path: WorkspacePath, to newPath: WorkspacePath, by author: WorkspaceAuthor = .user) async throws
    {
        try await writing {
            guard path != newPath else { return try self.refuseFolder(path) }
            let (path, newPath) = try (self.provider.spelling(of: path), self.provider.spelling(of: newPath))
            try self.refuseFolder(path)
            guard let file = try self.fileIfThere(at: path) else { throw self.notFound(path) }
            _ = try self.current(path, holding: file.version)
            let date = self.configuration.now().wholeMilliseconds
            let arrival = VersionLine(
                mark: .begun, path: newPath,
                version: WorkspaceVersion(
                    hash: file.version, date: date, author: author, kind: .moved, otherPath: path))
            let departure = VersionLine(
                mark: .begun, path: path,
                version: WorkspaceVersion(
                    hash: file.version, date: date, author: author, kind: .movedAway, otherPath: newPath))
            try self.keepVersions(of: file)
            let begun = try self.archive.begin([arrival, departure], keeping: [file.bytes])
            self.saveDetails(of: path)
            defer { self.forgetDetails(of: path) }
            do {
                try self.changing(newPath, from: nil, to: file.version, begun) {
                    try self.provider.write(file.bytes, to: newPath, replacing: nil)
                }
            } catch let error as UnconfirmedChangeError {
                try self.takeBack(file, from: newPath, because: error.cause) {
                    try self.provider.remove(newPath, holding: file.version)
                }
                // Where they cannot be written down as withdrawn, the next look finds that neither was made.
                try? self.archive.withdraw(begun)
                self.settleDoubt(at: newPath)
                throw error.cause
            }
            self.settleDoubt(at: newPath)
            self.applyDetails(of: path, to: newPath, holding: file.version, isDated: true)
            self.finish([begun[0]])
            do {
                try self.changing(path, from: file.version, to: nil, [begun[1]]) {
                    try self.provider.remove(path, holding: file.version)
                }
            } catch let error as UnconfirmedChangeError {
                throw UnconfirmedChangeError(path: newPath, version: file.version, cause: error.cause)
            } catch {
                // A file still at the old path leaves the new one. If that cannot be read, both stay: one of them may be the only one.
                if (try? self.fileIfThere(at: path)) ?? nil != nil {
                    try self.takeBack(file, from: newPath, because: error) {
                        try self.discard(newPath, file, by: author)
                    }
                }
                throw error
            }
            self.finish([begun[1]])
            self.ownChanges.wake()
        }
    }

    /// Takes a file away again from where a move brought it, blocking.
    /// - Throws: `conflict` where it stays there.
    private func takeBack(
        _ file: WorkspaceFile, from newPath: WorkspacePath, because failure: any Error, _ removal: () throws -> Void
    ) throws {
        do {
            try removal()
        } catch {
            if case .success(nil) = Result(catching: { try fileIfThere(at: newPath) }) { return }
            throw RecollectError(
                .conflict,
                "\(file.path) could not be moved, and is at \(newPath) too now: remove one of both when the disk is well",
                cause: failure)
        }
    }

    /// Removes a file that still has the content that its reader knows; the archive keeps it, and `restore` brings it back.
    /// - Throws: `FileChangedError` with the current content where something else is there, or nothing any more; `notLocal`,
    ///   `tooLarge`; `invalidArgument` for a folder; `UnconfirmedChangeError` where it was removed, and something failed after that.
    public func trash(
        _ path: WorkspacePath, replacing: ContentHash, by author: WorkspaceAuthor = .user
    ) async throws {
        try await writing {
            let path = try self.provider.spelling(of: path)
            try self.refuseFolder(path)
            let bytes = try self.current(path, holding: replacing)
            try self.discard(path, WorkspaceFile(path: path, bytes: bytes), by: author)
            self.ownChanges.wake()
        }
    }

    /// `trash`, blocking, of a file whose content is known.
    func discard(_ path: WorkspacePath, _ file: WorkspaceFile, by author: WorkspaceAuthor) throws {
        let change = VersionLine(
            mark: .begun, path: path,
            version: WorkspaceVersion(
                hash: file.version, date: configuration.now().wholeMilliseconds, author: author, kind: .trashed))
        try keepVersions(of: file)
        let begun = try archive.begin([change], keeping: [file.bytes])
        saveDetails(of: path)
        try changing(path, from: file.version, to: nil, begun) {
            try provider.remove(path, holding: file.version)
        }
        finish(begun)
    }

    /// Takes the versions that contradict a file into the archive: they go with it.
    private func keepVersions(of file: WorkspaceFile) throws {
        do {
            try keep(provider.conflictVersions(of: file.path), of: file)
        } catch let error as RecollectError where error.code == .notFound {
            // So is the file, and its removal says so.
        }
    }

    /// Brings back the last content of a file that is not there any more, whoever removed it. One that was put into the trash on this device
    /// gets back the rights, the owner and the extended attributes that it had, too, as far as the file system and this process can.
    /// - Throws: `FileChangedError` with the current content where a file is there; `notFound` where no content is kept.
    @discardableResult
    public func restore(_ path: WorkspacePath, by author: WorkspaceAuthor = .user) async throws -> WorkspaceFile {
        try await writing {
            guard let last = try self.archive.index().files[path]?.versions.last,
                let bytes = try self.archive.bytes(of: last.hash)
            else { throw RecollectError(.notFound, "no content of \(path) is kept on this device") }
            return try self.put(bytes, to: path, replacing: nil, by: author, as: .restored, parents: [last.hash])
        }
    }

    /// Gives a file a content again that it had, if it still has the one that its reader knows.
    ///
    /// What it replaces is kept in the archive first, so this can be taken back in the same way.
    /// - Parameters:
    ///   - path: Which file.
    ///   - version: The content, one of `versions(of:)`.
    ///   - replacing: The version that was read; `nil` where there is to be no file.
    ///   - author: Who brings it back.
    /// - Throws: `FileChangedError` with the current content where something else is there, or nothing any more; `notFound` where the
    ///   file never had that content on this device, or it is not kept; `notLocal`, `tooLarge`.
    @discardableResult
    public func restore(
        _ path: WorkspacePath, to version: ContentHash, replacing: ContentHash?, by author: WorkspaceAuthor = .user
    ) async throws -> WorkspaceFile {
        try await writing {
            let path = try self.provider.spelling(of: path)
            guard try self.archive.versions(of: path).contains(where: { $0.hash == version }),
                let bytes = try self.archive.bytes(of: version)
            else {
                throw RecollectError(
                    .notFound, "the content \(version.rawValue) of \(path) is not kept on this device")
            }
            return try self.put(bytes, to: path, replacing: replacing, by: author, as: .restored)
        }
    }

    /// The files that are not there any more and can be brought back, whoever removed them; what was removed last comes first.
    ///
    /// A file that was moved is not among them. Does not look itself: `status()` does.
    /// - Throws: `newerSchema` for an archive of a newer version; what a disk throws.
    public func trashed() async throws -> [TrashedFile] {
        try await reading {
            let ends = try self.archive.index().files.compactMapValues { file in
                file.content == nil ? file.versions.last.flatMap { $0.kind == .movedAway ? nil : $0 } : nil
            }
            let sizes = try self.archive.sizes(of: ends.values.map(\.hash))
            return ends.compactMap { path, end in
                sizes[end.hash].map { TrashedFile(path: path, end: end, size: $0) }
            }.sorted { ($1.end.date, $0.path) < ($0.end.date, $1.path) }
        }
    }

    /// What a file has been on this device, newest first: what was written here and by whom, and what came from elsewhere, as it was when
    /// somebody looked. Does not look itself: `status()` does.
    /// - Throws: `newerSchema` for an archive of a newer version; what a disk throws.
    public func versions(of path: WorkspacePath) async throws -> [WorkspaceVersion] {
        try await reading {
            // Told also while the folder is gone.
            try self.archive.versions(of: (try? self.provider.spelling(of: path)) ?? path)
        }
    }

    /// The bytes of a version. Contents that are no text are kept when they are replaced here.
    /// - Throws: `notFound` where it is not kept; `damaged` where the archive's file does not hold it any more.
    public func content(of hash: ContentHash) async throws -> [UInt8] {
        try await reading {
            guard let bytes = try self.archive.bytes(of: hash) else {
                throw RecollectError(.notFound, "the content \(hash.rawValue) is not kept on this device")
            }
            return bytes
        }
    }

    /// How many bytes each of some versions has. Those whose content is not kept are left out.
    /// - Throws: what a disk throws.
    public func sizes(of hashes: [ContentHash]) async throws -> [ContentHash: Int] {
        try await reading { try self.archive.sizes(of: hashes) }
    }

    /// Forgets versions older than a moment, the trash with them, for good. The content that each file has stays, and what merging it
    /// starts from.
    public func pruneVersions(olderThan moment: Date) async throws {
        try await writing { try self.archive.prune(olderThan: moment, now: self.configuration.now()) }
    }

    private func refuseFolder(_ path: WorkspacePath) throws {
        guard let item = try provider.item(at: path) else { return }
        if item.isFolder { throw RecollectError(.invalidArgument, "\(path) is a folder: name the files in it") }
        guard item.size <= configuration.largestFile else {
            throw RecollectError(
                .tooLarge, "\(path) has \(item.size) bytes; what is larger than \(configuration.largestFile) stays")
        }
    }
}
