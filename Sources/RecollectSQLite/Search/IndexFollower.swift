import RecollectCore

/// Lets the search index follow the saves, outside of their commits.
///
/// While saves go on it takes small bites, so that they hardly notice; when they rest it catches up. It ends by itself when
/// the index is up to date, and begins again with the next save or opening.
final class IndexFollower: Sendable {
    private struct State {
        var isRunning = false
        var hasNewCommits = false
        /// The latest database: a store that was closed goes on with another one. Weak, so that a follower keeps none open.
        weak var database: HistoryDatabase?
    }

    private let state = Locked(State())
    private let upkeep: Upkeep

    init(upkeep: Upkeep) {
        self.upkeep = upkeep
    }

    /// Notes that something was saved, or that there may be something to follow.
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

    /// Indexes a bite; false when there is nothing left to do.
    private func step() async -> Bool {
        let (database, isBusy) = state.withLock { state in
            defer { state.hasNewCommits = false }
            return (state.database, state.hasNewCommits)
        }
        do {
            while let database, try await database.read({ try SearchIndex.isBehind($0) || Settling.isBehind($0) }) {
                _ = try await database.write {
                    try Settling.settle($0)
                    return try SearchIndex.advance($0, limit: isBusy ? 256 : 1000)
                }
                if isBusy { return true }
            }
            // Another process may have deleted something and ended.
            if let database, try await database.read({ try Erasing.isPending($0) }) { upkeep.wake() }
        } catch {
            // The next search indexes what is missing and tells what is wrong.
            database?.configuration.logger.debug("the search index waits: \(error)")
        }
        return state.withLock { state in
            state.isRunning = state.hasNewCommits
            return state.isRunning
        }
    }
}
