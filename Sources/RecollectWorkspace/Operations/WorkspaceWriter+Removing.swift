import Foundation
import RecollectCore

extension WorkspaceWriter {
    /// Moves a file, if there is none at the new path.
    func move(_ path: WorkspacePath, to newPath: WorkspacePath, by author: WorkspaceAuthor) throws {
        guard path != newPath else { return try refuseFolder(path) }
        let (path, newPath) = try (provider.canonicalPath(of: path), provider.canonicalPath(of: newPath))
        try refuseFolder(path)
        guard let file = try scanner.fileIfPresent(at: path) else { throw scanner.notFound(path) }
        _ = try current(path, holding: file.version)
        let date = configuration.now().wholeMilliseconds
        let arrival = VersionLine(
            mark: .begun, path: newPath,
            version: WorkspaceVersion(
                hash: file.version, date: date, author: author, kind: .moved, otherPath: path))
        let departure = VersionLine(
            mark: .begun, path: path,
            version: WorkspaceVersion(
                hash: file.version, date: date, author: author, kind: .movedAway, otherPath: newPath))
        let begun = try archive.begin([arrival, departure], keeping: [file.bytes])
        saveMetadata(of: path)
        defer { forgetDetails(of: path) }
        do {
            try changing(newPath, from: nil, to: file.version, begun) {
                try provider.write(file.bytes, to: newPath, replacing: nil)
            }
        } catch let error as UnconfirmedChangeError {
            try takeBack(file, from: newPath, because: error.cause) {
                try provider.remove(newPath, holding: file.version)
            }
            // If the withdrawal cannot be recorded, the next scan finds that neither change was made.
            try? archive.withdraw(begun)
            confirmPending(at: newPath)
            throw error.cause
        }
        confirmPending(at: newPath)
        applyMetadata(of: path, to: newPath, holding: file.version, setsModificationDate: true)
        finish([begun[0]])
        do {
            try changing(path, from: file.version, to: nil, [begun[1]]) {
                try remove(file, keepingVersionsBeside: newPath)
            }
        } catch let error as UnconfirmedChangeError {
            throw UnconfirmedChangeError(path: newPath, version: file.version, cause: error.cause)
        } catch {
            // If the file is still at the old path, the new one is removed. If the old path is unreadable, both
            // stay: the new file may be the only copy.
            if (try? scanner.fileIfPresent(at: path)) ?? nil != nil {
                try takeBack(file, from: newPath, because: error) {
                    try discard(WorkspaceFile(path: newPath, bytes: file.bytes), by: author)
                }
            }
            throw error
        }
        finish([begun[1]])
        changes.signal()
    }

    /// Removes the file at the new path of a failed move.
    /// - Throws: `conflict` if the file remains there.
    private func takeBack(
        _ file: WorkspaceFile, from newPath: WorkspacePath, because failure: any Error, _ removal: () throws -> Void
    ) throws {
        do {
            try removal()
        } catch {
            if case .success(nil) = Result(catching: { try scanner.fileIfPresent(at: newPath) }) { return }
            throw RecollectError(
                .conflict,
                "the move of \(file.path) to \(newPath) was neither completed nor undone: compare the files, and trash one",
                cause: failure)
        }
    }

    /// Trashes a file, if it has the expected version.
    func trash(_ path: WorkspacePath, replacing: ContentHash, by author: WorkspaceAuthor) throws {
        let path = try provider.canonicalPath(of: path)
        try refuseFolder(path)
        let bytes = try current(path, holding: replacing)
        try discard(WorkspaceFile(path: path, bytes: bytes), by: author)
        changes.signal()
    }

    /// Trashes a file with known content.
    func discard(_ file: WorkspaceFile, by author: WorkspaceAuthor) throws {
        let change = VersionLine(
            mark: .begun, path: file.path,
            version: WorkspaceVersion(
                hash: file.version, date: configuration.now().wholeMilliseconds, author: author, kind: .trashed))
        let begun = try archive.begin([change], keeping: [file.bytes])
        saveMetadata(of: file.path)
        try changing(file.path, from: file.version, to: nil, begun) {
            try remove(file, keepingVersionsBeside: file.path)
        }
        finish(begun)
    }

    /// Removes a file. Its conflicting versions at the provider are written beside a path, and resolved just before
    /// the removal.
    private func remove(_ file: WorkspaceFile, keepingVersionsBeside path: WorkspacePath) throws {
        do {
            let versions = try provider.conflictVersions(of: file.path)
            try keep(versions, of: file)
            for version in versions where version.bytes != file.bytes { _ = try keep(version.bytes, beside: path) }
            try provider.resolve(versions, of: file.path)
        } catch let error as UnconfirmedChangeError {
            // The copy was made. The file was not changed.
            throw error.cause
        } catch is ContentMismatchError {
            // A version changed, not the file.
            throw ContentMismatchError(current: file.bytes)
        } catch let error as RecollectError where error.code == .notFound {
            // The file is missing, too. Its removal throws the error.
        }
        try provider.remove(file.path, holding: file.version)
    }

    private func refuseFolder(_ path: WorkspacePath) throws {
        guard let item = try provider.item(at: path) else { return }
        if item.isFolder { throw RecollectError(.invalidArgument, "\(path) is a folder: specify the files in it") }
        guard item.size <= configuration.maxFileSize else {
            throw RecollectError(
                .tooLarge,
                "\(path) is \(item.size) bytes; files larger than \(configuration.maxFileSize) bytes cannot be moved or deleted"
            )
        }
    }
}
