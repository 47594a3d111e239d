import RecollectCore
import RecollectFileSystem

/// Detects that the files of an open database were replaced or removed.
///
/// SQLite continues writing to an unlinked file or a replaced log, and these writes are lost. Adding, removing or
/// replacing a name changes the folder's status-change time. While it stays the same, checking the folder is
/// enough.
final class ReplacementWatch: Sendable {
    private struct State {
        let identity: HistoryFiles.Identity
        /// The folder's stamp at the last comparison of the files; `nil` if a later change might give the same
        /// stamp.
        var stamp: FolderStamp?
    }

    private let files: HistoryFiles
    private let state: Locked<State>

    /// Creates a guard of open files.
    /// - Parameter identity: The identity of SQLite's open files: see `HistoryFiles.identityForOpening`.
    init(files: HistoryFiles, identity: HistoryFiles.Identity) {
        self.files = files
        state = Locked(State(identity: identity))
    }

    /// The identity of the database's file.
    var databaseID: FileID? { state.withLock { $0.identity.database } }

    /// Whether the paths still refer to the opened files.
    func filesAreUnchanged() -> Bool {
        // A symbolic link is in another folder.
        let stamp = files.link == nil ? FolderStamp(at: files.folder) : nil
        return state.withLock { state in
            if let stamp, stamp == state.stamp { return true }
            let isStable = stamp?.isStable ?? false
            guard state.identity == files.identity() else { return false }
            state.stamp = isStable ? stamp : nil
            return true
        }
    }
}
