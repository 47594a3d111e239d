import RecollectCore

extension SharedWorkspace {
    /// Tells the other devices what was found and written here since the last time. Blocks.
    ///
    /// A failure is logged only: without the lineage of a content the other devices merge without a base.
    func shareLineage(_ state: inout LookState) {
        do {
            let moment = try archive.snapshot().moment
            guard moment != state.shared else { return }
            let file = try provider.lineageFile(archive.lineageWriter().segmentName)
            let (written, removed) = try archive.addToLineage(over: file?.bytes)
            for segment in written { try provider.writeLineageFile(segment.name, segment.bytes) }
            for name in removed { try provider.writeLineageFile(name, nil) }
            state.shared = moment
        } catch {
            configuration.logger.debug("the lineage of \(rootURL.path) could not be written: \(error)")
        }
    }

    /// Whether the lineage folder is gone, of which this device knows that it was there: then the root may be another folder, or the
    /// place where one is mounted. Blocks.
    func isLineageMissing() throws -> Bool {
        try archive.lineageWriter().wasThere && provider.lineageFiles().isEmpty
    }

    /// What all devices tell of the files' contents. Blocks.
    func lineageLogs() throws -> LineageLogs {
        LineageLogs(
            try archive.index(), of: try archive.lineageWriter().device, files: try provider.lineageFiles())
    }
}
