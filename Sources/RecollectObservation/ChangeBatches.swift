import RecollectCore

/// What has changed of one user's conversations since it was asked for last.
struct ChangeBatch: Sendable {
    /// Conversations that are to be read again.
    private(set) var changed: Set<ConversationID> = []
    /// Those in which something new was said.
    private(set) var spokenIn: Set<ConversationID> = []
    /// Whether everything is to be read again.
    private(set) var isEverything = false
    /// Where the feed stands after it.
    private(set) var cursor = ChangeCursor.beginning

    mutating func add(_ change: HistoryChange, of userId: String) {
        cursor = change.cursor
        guard change.conversation.userId.hasSameBytes(as: userId) else { return }
        switch change.kind {
        case .userDeleted: isEverything = true
        case .messageAdded:
            spokenIn.insert(change.conversation)
            changed.insert(change.conversation)
        default: changed.insert(change.conversation)
        }
    }
}

/// A feed of changes, of which those that came while nobody asked are one batch: an import of a million messages costs a list
/// what one message does.
struct ChangeBatches: AsyncSequence {
    typealias Element = ChangeBatch

    /// The changes after a cursor; those of other users count only for the cursor.
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

    /// Follows the feed until the iterator goes or its task is cancelled.
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
