import Foundation
import RecollectCore

/// Publishes this device's changes in its lineage log in the workspace, and reads the logs of all devices. Methods block.
final class LineagePublisher: Sendable {
    private struct State {
        /// The position in the archive's log up to which other devices have the lineage.
        var position: VersionLog.Position?
        /// The date of the last publication after a write.
        var date: Date?
    }

    private let provider: any WorkspaceProvider
    private let archive: VersionArchive
    private let configuration: WorkspaceConfiguration
    private let state = Locked(State())

    init(provider: any WorkspaceProvider, archive: VersionArchive, configuration: WorkspaceConfiguration) {
        self.provider = provider
        self.archive = archive
        self.configuration = configuration
    }

    /// Publishes the changes since the last call.
    ///
    /// Failures are only logged: other devices then merge without a base.
    func publish() {
        state.withLock { state in
            do {
                let position = try archive.snapshot().position
                guard position != state.position else { return }
                let file = try provider.lineageFile(named: archive.lineageWriter().segmentName)
                let (written, removed) = try archive.addToLineage(over: file?.bytes)
                for segment in written { try provider.writeLineageFile(named: segment.name, segment.bytes) }
                for name in removed { try provider.writeLineageFile(named: name, nil) }
                state.position = position
            } catch {
                configuration.logger.debug(
                    "cannot write the lineage of \(provider.rootURL.path): \(error)")
            }
        }
    }

    /// Publishes the changes after a write, at most once a second. A scan publishes the rest.
    ///
    /// A process that writes and ends, such as a command, has no later scan.
    /// - Parameter isGuarded: Whether a mass deletion is recorded. Nothing is written then: the root may be another folder.
    func publishAfterWrite(unless isGuarded: () throws -> Bool) {
        let now = configuration.now()
        let isDue = state.withLock { state in
            // A clock set back does not extend the wait.
            let isDue = state.date.map { abs(now.timeIntervalSince($0)) >= 1 } ?? true
            if isDue { state.date = now }
            return isDue
        }
        // If an error leaves this unknown, the next scan publishes.
        guard isDue, (try? isGuarded() || isMissing()) == false else { return }
        publish()
    }

    /// Whether the lineage folder is missing although this device has seen it. The root may then be a different folder
    /// or an unmounted mount point.
    func isMissing() throws -> Bool {
        try archive.lineageWriter().fileExisted && provider.lineageFiles().isEmpty
    }

    /// Returns the lineage logs of all devices.
    func logs() throws -> LineageLogs {
        LineageLogs(
            try archive.index(), of: try archive.lineageWriter().device, files: try provider.lineageFiles())
    }
}
