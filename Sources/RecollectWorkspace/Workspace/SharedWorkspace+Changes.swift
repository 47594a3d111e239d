import Foundation
import RecollectCore

extension SharedWorkspace {
    /// Returns the changes of files from now on, by this device and by others. The stream ends when the iterating
    /// task is canceled.
    ///
    /// The first changes are those since the last scan by any process, also while no program ran. In a folder never
    /// scanned, every file is new. Simultaneous changes cause a single scan. They are sorted by path, and several
    /// changes of a file's content between two scans count as one. This call reads the last known state from the
    /// archive on this device; scans run off the cooperative pool. A mass deletion causes one `massDeletion` change and
    /// no removals.
    public func changes() -> AsyncStream<WorkspaceChange> {
        let own = writer.changes.stream()
        let provided = provider.changeSignals()
        // If the known state is unreadable, the first scan reports every file as new.
        let known = (try? scanner.knownFiles()) ?? [:]
        return AsyncStream { stream in
            let task = Task {
                let changeSignals = Broadcast<Void>()
                let merged = changeSignals.stream()
                changeSignals.signal()
                async let others: Void = Self.pass(provided, to: changeSignals)
                async let ours: Void = Self.pass(own, to: changeSignals)
                var reported = ReportedFiles(files: known)
                for await _ in merged {
                    // After a failed scan, the next signal causes another one.
                    guard let scan = try? await self.reading({ try self.scanner.scan() }) else { continue }
                    for change in reported.changes(to: scan) { stream.yield(change) }
                }
                _ = await (others, ours)
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    private static func pass(_ changeSignals: AsyncStream<Void>, to other: Broadcast<Void>) async {
        for await _ in changeSignals { other.signal() }
    }
}

/// The state of the files reported to one listener.
private struct ReportedFiles {
    var files: [WorkspacePath: WorkspaceScan.File]
    var isMassDeletion = false

    /// Returns the changes between the reported state and a scan, and updates the state.
    mutating func changes(to scan: WorkspaceScan) -> [WorkspaceChange] {
        defer { isMassDeletion = scan.isMassDeletion }
        var changes: [WorkspaceChange] = []
        if scan.isMassDeletion, !isMassDeletion {
            changes.append(WorkspaceChange(path: .root, kind: .massDeletion, isOwn: false))
        }
        guard scan.isAvailable else { return changes }
        let (found, removedHere) = (scan.files, scan.removedHere)
        for path in Set(files.keys).union(found.keys).sorted() {
            switch (files[path], found[path]) {
            case (nil, let now?):
                changes.append(WorkspaceChange(path: path, kind: .added, isOwn: now.isOwn))
            case (.some, nil):
                changes.append(WorkspaceChange(path: path, kind: .removed, isOwn: removedHere.contains(path)))
            case (let before?, let now?):
                if now.differs(from: before) {
                    changes.append(WorkspaceChange(path: path, kind: .changed, isOwn: now.isOwn))
                }
                if now.isConflicted, !before.isConflicted {
                    changes.append(WorkspaceChange(path: path, kind: .conflicted, isOwn: false))
                }
            case (nil, nil): break
            }
        }
        files = found
        return changes
    }
}
