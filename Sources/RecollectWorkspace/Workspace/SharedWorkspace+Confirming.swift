import RecollectCore

/// Changes that were made and could not be brought onto the disk for certain: whoever makes one of them again is told that it is made, once
/// that is so.
extension SharedWorkspace {
    /// Whether a change of a file is the one that was last made and is in doubt since, so that it is not made twice. Blocks.
    /// - Parameter change: Gives the new content for an old one.
    func isInDoubt(
        _ change: (WorkspaceFile?) throws -> [UInt8], of file: WorkspaceFile?, by author: WorkspaceAuthor
    ) throws -> Bool {
        guard let file, let doubtful = try archive.inDoubt(at: provider.spelling(of: file.path))?.version,
            doubtful.hash == file.version, doubtful.author == author, doubtful.parents.count <= 1
        else { return false }
        guard let parent = doubtful.parents.first else { return try change(nil) == file.bytes }
        guard let bytes = try archive.wholeBytes(of: parent) else { return false }
        return try change(WorkspaceFile(path: file.path, bytes: bytes)) == file.bytes
    }

    /// Brings the content of a file onto the disk that was written by a change which is in doubt, if that is the one that is to be made.
    /// Blocks.
    /// - Parameters:
    ///   - file: What is to be written.
    ///   - replacing: What that is to replace.
    /// - Returns: Whether it is there, and on the disk.
    func confirm(_ file: WorkspaceFile, replacing: ContentHash?, as kind: WorkspaceVersion.Kind) throws -> Bool {
        guard let doubtful = try archive.inDoubt(at: file.path), doubtful.version.hash == file.version,
            replacing == file.version
                || doubtful.version.kind == kind && doubtful.version.parents == (replacing.map { [$0] } ?? []),
            try fileIfThere(at: file.path)?.version == file.version
        else { return false }
        do {
            // A sync that failed is not to be trusted when it succeeds later: the bytes are written anew.
            try provider.write(file.bytes, to: file.path, replacing: file.version)
        } catch is ContentMismatch {
            return false
        } catch {
            throw UnconfirmedChangeError(path: file.path, version: file.version, cause: error)
        }
        finish([doubtful])
        settleDoubt(at: file.path)
        return true
    }

    /// Forgets that the last change of a file is in doubt. Blocks.
    func settleDoubt(at path: WorkspacePath) {
        do {
            try archive.setInDoubt(nil, at: path)
        } catch {
            configuration.logger.debug("a change could not be noted as certain: \(error)")
        }
    }
}
