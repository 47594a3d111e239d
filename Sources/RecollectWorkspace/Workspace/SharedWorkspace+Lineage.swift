import RecollectCore

extension SharedWorkspace {
    /// Publishes the changes since the last call in the lineage log. Blocks.
    ///
    /// Failures are only logged: other devices then merge without a base.
    func shareLineage(_ state: inout ScanState) {
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

    /// Whether the lineage folder is missing although this device has seen it. The root may then be a different folder
    /// or an unmounted mount point. Blocks.
    func isLineageMissing() throws -> Bool {
        try archive.lineageWriter().wasThere && provider.lineageFiles().isEmpty
    }

    /// Returns the lineage logs of all devices. Blocks.
    func lineageLogs() throws -> LineageLogs {
        LineageLogs(
            try archive.index(), of: try archive.lineageWriter().device, files: try provider.lineageFiles())
    }
}
