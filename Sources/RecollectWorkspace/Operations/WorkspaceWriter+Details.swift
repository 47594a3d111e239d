import RecollectCore

/// File metadata for moves, for kept copies and for restoring from the trash: permissions, owner, extended attributes and
/// modification date. Failures are only logged.
extension WorkspaceWriter {
    /// Saves the metadata of a file, for a later restoration or for its new path.
    func saveMetadata(of path: WorkspacePath) {
        logging("saved") { try provider.saveMetadata(of: path, to: archive.metadataURL(of: path)) }
    }

    /// Applies the saved metadata of one path to the file at another.
    func applyMetadata(
        of path: WorkspacePath, to newPath: WorkspacePath, holding version: ContentHash, setsModificationDate: Bool
    ) {
        guard archive.hasDetails(of: path) else { return }
        logging("restored") {
            try provider.applyMetadata(
                from: archive.metadataURL(of: path), to: newPath, holding: version,
                setsModificationDate: setsModificationDate)
        }
    }

    /// Applies the metadata of a file to a new file; does nothing if there is no such file.
    func copyDetails(of path: WorkspacePath, to copy: WorkspaceFile) {
        logging("copied") {
            guard let item = try provider.item(at: path), !item.isFolder else { return }
            try provider.saveMetadata(of: path, to: archive.metadataURL(of: copy.path))
            applyMetadata(of: copy.path, to: copy.path, holding: copy.version, setsModificationDate: false)
            forgetDetails(of: copy.path)
        }
    }

    /// Deletes the saved metadata of a path.
    func forgetDetails(of path: WorkspacePath) {
        logging("deleted") { try archive.removeDetails(of: path) }
    }

    /// Does some work, and logs a failure. The content is more important than the metadata.
    private func logging(_ action: String, _ work: () throws -> Void) {
        do {
            try work()
        } catch {
            configuration.logger.debug("the metadata of a file could not be \(action): \(error)")
        }
    }
}
