/// Reads the change feed for one reader, page by page on demand. At most one page is in memory.
package final class ChangeReading: Sendable {
    private struct State {
        var cursor: ChangeCursor
        /// The changes read and not yet returned, the last first.
        var read: [HistoryChange] = []
    }

    private let state: Locked<State>
    private static let pageSize = 500
    /// The interval of checks for writes of other processes. Writes of this process send a signal. The documented
    /// limit is one second.
    private static let pollInterval = Duration.milliseconds(250)

    package init(after cursor: ChangeCursor) {
        state = Locked(State(cursor: cursor))
    }

    /// Returns the next change, after waiting for one if necessary; `nil` after the task is canceled.
    /// - Parameters:
    ///   - signal: Signals the writes of this process.
    ///   - read: Returns at most this number of changes after a cursor.
    package func next(
        _ signal: Signal, read: (ChangeCursor, Int) async throws -> [HistoryChange]
    ) async throws -> HistoryChange? {
        while !Task.isCancelled {
            if let change = state.withLock({ $0.read.popLast() }) { return change }
            // A change signaled after this line may be missing from the page.
            let seen = signal.count
            let cursor = state.withLock { $0.cursor }
            let page = try await read(cursor, Self.pageSize)
            guard let last = page.last else {
                await signal.wait(since: seen, atMost: Self.pollInterval)
                continue
            }
            state.withLock { state in
                state.cursor = last.cursor
                state.read = page.reversed()
            }
        }
        return nil
    }
}
