import Foundation
import RecollectCore

extension SharedWorkspace {
    /// What becomes different from now on, own changes and others'; ends when the task that iterates it is cancelled.
    ///
    /// Begins with what became different since anybody last looked, also while no program ran: of a folder that nobody looked at, every
    /// file is new. Changes that come together are looked at together, and of several changes of one file the last one is told,
    /// in the order of the paths. What is known is read by this call, from a file of this device; all looking is done off the
    /// cooperative pool. While so much is missing that it is not taken at its word, one `vanished` is told and no removal.
    public func changes() -> AsyncStream<WorkspaceChange> {
        let own = ownChanges.stream()
        let provided = provider.wakes()
        // What cannot be read now is told by the first look, as new.
        let known = (try? knownFiles()) ?? [:]
        return AsyncStream { stream in
            let task = Task {
                let wakes = Wakes()
                let merged = wakes.stream()
                wakes.wake()
                async let others: Void = Self.pass(provided, to: wakes)
                async let ours: Void = Self.pass(own, to: wakes)
                var told = ToldFiles(files: known)
                for await _ in merged {
                    // A look that fails is made again at the next wake.
                    guard let look = try? await self.reading({ try self.look() }) else { continue }
                    for change in told.changes(to: look) { stream.yield(change) }
                }
                _ = await (others, ours)
                stream.finish()
            }
            stream.onTermination = { _ in task.cancel() }
        }
    }

    private static func pass(_ wakes: AsyncStream<Void>, to other: Wakes) async {
        for await _ in wakes { other.wake() }
    }
}

/// What a listener knows of a workspace.
private struct ToldFiles {
    var files: [WorkspacePath: WorkspaceLook.File]
    var isVanished = false

    /// What a listener must be told to know what a look found.
    mutating func changes(to look: WorkspaceLook) -> [WorkspaceChange] {
        defer { isVanished = look.isVanished }
        var changes: [WorkspaceChange] = []
        if look.isVanished, !isVanished {
            changes.append(WorkspaceChange(path: .root, kind: .vanished, isOwn: false))
        }
        guard look.isAvailable else { return changes }
        let (found, removedHere) = (look.files, look.removedHere)
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
