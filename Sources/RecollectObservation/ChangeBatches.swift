import RecollectCore

/// The changes of one user's sessions since the previous batch.
struct ChangeBatch: Sendable {
    /// Sessions to read again.
    private(set) var changed: Set<SessionKey> = []
    /// Sessions with new messages.
    private(set) var spokenIn: Set<SessionKey> = []
    /// Whether the whole list must be read again.
    private(set) var isEverything = false
    /// The position in the feed after this batch.
    private(set) var cursor = ChangeCursor.beginning

    mutating func add(_ change: HistoryChange, of userId: String) {
        cursor = change.cursor
        guard change.session.userId.hasSameBytes(as: userId) else { return }
        switch change.kind {
        case .userDeleted: isEverything = true
        case .messageAdded:
            spokenIn.insert(change.session)
            changed.insert(change.session)
        default: changed.insert(change.session)
        }
    }
}

/// A change feed with one element for all changes since the previous element. An import of a million messages
/// costs a list as much as one message.
struct ChangeBatches: AsyncSequence {
    typealias Element = ChangeBatch

    /// The changes after `cursor`. Changes of other users only advance the cursor.
    let history: any HistoryStore
    let userId: String
    let cursor: ChangeCursor

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let waiting: Locked<ChangeBatch>
        fileprivate var signals: AsyncThrowingStream<Void, any Error>.Iterator

        mutating func next() async throws -> ChangeBatch? {
            guard try await signals.next() != nil else { return nil }
            return waiting.withLock { waiting in
                let batch = waiting
                waiting = ChangeBatch()
                return batch
            }
        }
    }

    /// Follows the feed until the iterator is released or its task is canceled.
    func makeAsyncIterator() -> AsyncIterator {
        let waiting = Locked(ChangeBatch())
        let (signals, continuation) = AsyncThrowingStream<Void, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let reading = Task { [history, userId, cursor] in
            do {
                for try await change in history.changes(after: cursor) {
                    waiting.withLock { $0.add(change, of: userId) }
                    continuation.yield()
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in reading.cancel() }
        return AsyncIterator(waiting: waiting, signals: signals.makeAsyncIterator())
    }
}
