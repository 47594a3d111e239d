import RecollectCore

/// What a file has beside its content goes with it where it is moved, and comes back with it from the trash. Failures are logged only.
extension SharedWorkspace {
    /// Keeps what a file has beside its content, for when it is brought back or arrives at another path. Blocks.
    func saveDetails(of path: WorkspacePath) {
        trying("kept") { try provider.saveDetails(of: path, to: archive.detailsURL(of: path)) }
    }

    /// Gives a file what was kept of one at a path. Blocks.
    func applyDetails(
        of path: WorkspacePath, to newPath: WorkspacePath, holding version: ContentHash, isDated: Bool
    ) {
        guard archive.hasDetails(of: path) else { return }
        trying("brought back") {
            try provider.applyDetails(
                from: archive.detailsURL(of: path), to: newPath, holding: version, isDated: isDated)
        }
    }

    /// Forgets what was kept of a file. Blocks.
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
