import RecollectCore

/// Tells whether the files of an open database are still those that were opened.
///
/// SQLite goes on writing to a file that was unlinked, and to a log that was replaced, into nowhere. Adding, removing or replacing a
/// name changes the time of its folder's last change, so one look at the folder is enough while that stays the same.
final class FileGuard: Sendable {
    private struct State {
        let identity: HistoryFiles.Identity
        /// The folder's stamp when the files were last compared; `nil` where a later change might give the same one.
        var stamp: FolderStamp?
    }

    private let files: HistoryFiles
    private let state: Locked<State>

    /// - Parameter identity: The identity of SQLite's open files: see `HistoryFiles.identityForOpening`.
    init(files: HistoryFiles, identity: HistoryFiles.Identity) {
        self.files = files
        state = Locked(State(identity: identity))
    }

    /// The identity of the database's file.
    var databaseID: FileID? { state.withLock { $0.identity.database } }

    /// Whether the paths still lead to the files that were opened.
    func filesAreUnchanged() -> Bool {
        // A link lies in another folder.
        let stamp = files.link == nil ? FolderStamp(at: files.folder) : nil
        return state.withLock { state in
            if let stamp, stamp == state.stamp { return true }
            let isSettled = stamp?.isSettled ?? false
            guard state.identity == files.identity() else { return false }
            state.stamp = isSettled ? stamp : nil
            return true
        }
    }
}
