import RecollectCore

/// File metadata for moves, for kept copies and for restoring from the trash: permissions, owner, extended attributes and
/// modification date. Failures are only logged.
extension WorkspaceWriter {
    /// Saves the metadata of a file, for a later restoration or for its new path.
    func saveDetails(of path: WorkspacePath) {
        trying("kept") { try provider.saveDetails(of: path, to: archive.detailsURL(of: path)) }
    }

    /// Applies the saved metadata of one path to the file at another.
    func applyDetails(
        of path: WorkspacePath, to newPath: WorkspacePath, holding version: ContentHash, isDated: Bool
    ) {
        guard archive.hasDetails(of: path) else { return }
        trying("brought back") {
            try provider.applyDetails(
                from: archive.detailsURL(of: path), to: newPath, holding: version, isDated: isDated)
        }
    }

    /// Applies the metadata of a file to a new file; does nothing if there is no such file.
    func copyDetails(of path: WorkspacePath, to copy: WorkspaceFile) {
        trying("copied") {
            guard let item = try provider.item(at: path), !item.isFolder else { return }
            try provider.saveDetails(of: path, to: archive.detailsURL(of: copy.path))
            applyDetails(of: copy.path, to: copy.path, holding: copy.version, isDated: false)
            forgetDetails(of: copy.path)
        }
    }

    /// Deletes the saved metadata of a path.
    func forgetDetails(of path: WorkspacePath) {
        trying("forgotten") { try archive.removeDetails(of: path) }
    }

    private func trying(_ what: String, _ work: () throws -> Void) {
        do {
            try work()
        } catch {
            configuration.logger.debug("what a file has beside its content could not be \(what): \(error)")
        }
    }
}
