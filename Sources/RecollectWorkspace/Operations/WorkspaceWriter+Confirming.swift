import RecollectCore

/// Confirmation of changes made but possibly not synced to the disk. A repetition of such a change syncs
/// it again, and does not make it twice.
extension WorkspaceWriter {
    /// Whether a change repeats the file's last change while that one is unconfirmed.
    /// - Parameter change: Returns the new content for an old one.
    func isUnconfirmed(
        _ change: (WorkspaceFile?) throws -> [UInt8], of file: WorkspaceFile?, by author: WorkspaceAuthor
    ) throws -> Bool {
        guard let file, let doubtful = try archive.inDoubt(at: provider.canonicalPath(of: file.path))?.version,
            doubtful.hash == file.version, doubtful.author == author, doubtful.parents.count <= 1
        else { return false }
        // A change refused for the earlier content is not the one made to it. If it is refused for the current content, too,
        // the caller gets that error.
        guard let parent = doubtful.parents.first else { return (try? change(nil)) == file.bytes }
        guard let bytes = try archive.wholeBytes(of: parent) else { return false }
        return (try? change(WorkspaceFile(path: file.path, bytes: bytes))) == file.bytes
    }

    /// Makes the unconfirmed content of a file durable, if the requested write repeats the unconfirmed one.
    /// - Parameters:
    ///   - file: The content to write.
    ///   - replacing: The expected version of the requested write.
    /// - Returns: `true` if the content is in place and durable.
    func confirm(_ file: WorkspaceFile, replacing: ContentHash?, as kind: WorkspaceVersion.Kind) throws -> Bool {
        guard let doubtful = try archive.inDoubt(at: file.path), doubtful.version.hash == file.version,
            replacing == file.version
                || doubtful.version.kind == kind && doubtful.version.parents == (replacing.map { [$0] } ?? []),
            try scanner.fileIfPresent(at: file.path)?.version == file.version
        else { return false }
        do {
            // After a failed sync, a later success proves nothing, so the bytes are written again.
            try provider.write(file.bytes, to: file.path, replacing: file.version)
        } catch is ContentMismatchError {
            return false
        } catch {
            throw UnconfirmedChangeError(path: file.path, version: file.version, cause: error)
        }
        finish([doubtful])
        confirmPending(at: file.path)
        return true
    }

    /// Removes the record of a file's unconfirmed change.
    func confirmPending(at path: WorkspacePath) {
        do {
            try archive.setInDoubt(nil, at: path)
        } catch {
            configuration.logger.debug("cannot record a change as confirmed: \(error)")
        }
    }
}
