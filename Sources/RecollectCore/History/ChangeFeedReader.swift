/// The position of one reader in the change feed. It reads page by page on demand: at most one page is in memory.
package final class ChangeFeedReader: Sendable {
    private struct State {
        var cursor: ChangeCursor
        /// The changes read and not yet returned, the last first.
        var read: [HistoryChange] = []
        var pageSize = 500
    }

    private let state: Locked<State>
    /// The maximum number of changes of a page. A reader far behind reads larger pages: each costs a query.
    private static let maxPageSize = 4_000
    /// The interval of checks for writes of other processes. Writes of this process send a signal. The documented
    /// limit is one second.
    private static let pollInterval = Duration.milliseconds(250)

    private init(after cursor: ChangeCursor) {
        state = Locked(State(cursor: cursor))
    }

    /// Returns a stream of the changes after a cursor. It ends when the iterating task is canceled.
    /// - Parameters:
    ///   - signal: Signals the writes of this process.
    ///   - isWanted: Whether the stream has a change.
    ///   - read: Returns at most this number of changes after a cursor.
    package static func stream(
        after cursor: ChangeCursor, _ signal: Signal,
        where isWanted: @escaping @Sendable (HistoryChange) -> Bool = { _ in true },
        read: @escaping @Sendable (ChangeCursor, Int) async throws -> [HistoryChange]
    ) -> AsyncThrowingStream<HistoryChange, any Error> {
        let reader = ChangeFeedReader(after: cursor)
        return AsyncThrowingStream {
            do {
                return try await reader.next(signal, where: isWanted, read: read)
            } catch is CancellationError {
                return nil
            }
        }
    }

    /// Returns the next change, after waiting for one if necessary; `nil` after the task is canceled.
    private func next(
        _ signal: Signal, where isWanted: (HistoryChange) -> Bool,
        read: (ChangeCursor, Int) async throws -> [HistoryChange]
    ) async throws -> HistoryChange? {
        while !Task.isCancelled {
            if let change = state.withLock({ $0.read.popLast() }) { return change }
            // A change signaled after this line may be missing from the page.
            let seen = signal.count
            let (cursor, limit) = state.withLock { ($0.cursor, $0.pageSize) }
            let page = try await read(cursor, limit)
            guard let last = page.last else {
                await signal.wait(since: seen, atMost: Self.pollInterval)
                continue
            }
            state.withLock { state in
                state.cursor = last.cursor
                state.pageSize = page.count < limit ? 500 : min(limit * 2, Self.maxPageSize)
                state.read = page.reversed().filter(isWanted)
            }
        }
        return nil
    }
}
