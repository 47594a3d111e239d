import RecollectCore

/// File metadata for moves and for restoring from the trash: permissions, owner, extended attributes and
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
