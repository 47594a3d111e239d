import RecollectCore

/// Updates the search index and the derived data after saves, outside of their commits.
///
/// While saves continue, it works in small transactions to delay them little. Between saves it catches up. It stops
/// when the index is up to date, and starts again with the next save or opening.
final class IndexFollower: Sendable {
    private struct State {
        var isRunning = false
        var hasNewCommits = false
        /// The latest database: a store uses another one after closing. Weak, so that the follower keeps no
        /// database open.
        weak var database: HistoryDatabase?
    }

    private let state = Locked(State())
    private let maintenance: BackgroundMaintenance

    init(maintenance: BackgroundMaintenance) {
        self.maintenance = maintenance
    }

    /// Records a commit, or an opening with pending messages.
    func noteCommit(_ database: HistoryDatabase) {
        let mustStart = state.withLock { state in
            state.database = database
            state.hasNewCommits = true
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard mustStart else { return }
        Task(priority: .utility) {
            while await self.step() {
                try? await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    /// Indexes one batch of messages. Returns false when none are left.
    private func step() async -> Bool {
        let (database, isBusy) = state.withLock { state in
            defer { state.hasNewCommits = false }
            return (state.database, state.hasNewCommits)
        }
        do {
            while let database, try await database.read({ try SearchIndex.isBehind($0) || DerivedData.isBehind($0) }) {
                _ = try await database.write {
                    try DerivedData.update($0)
                    return try SearchIndex.advance($0, limit: isBusy ? 256 : 1000)
                }
                if isBusy { return true }
            }
            // Another process may have deleted content and ended.
            if let database, try await database.read({ try Eraser.isPending($0) }) { maintenance.wake() }
        } catch {
            // The next search indexes the missing messages and throws the error.
            database?.configuration.logger.debug("indexing is postponed: \(error)")
        }
        return state.withLock { state in
            state.isRunning = state.hasNewCommits
            return state.isRunning
        }
    }
}
