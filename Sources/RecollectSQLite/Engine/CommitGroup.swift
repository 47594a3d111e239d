import Dispatch
import Foundation
import GRDB
import RecollectCore

/// The writes that wait for the writer, in order of arrival: all that wait share one transaction and one sync.
///
/// A write is waiting, when its task's cancellation still takes it back, or taken, when no cancellation reaches it.
final class CommitGroup: Sendable {
    private struct State {
        var waiting: [QueuedWrite] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Adds a write. Returns whether the caller must start the writer; throws if the write was cancelled before.
    func add(_ write: QueuedWrite) throws -> Bool {
        try state.withLock { state in
            guard write.stage == .new else { throw CancellationError() }
            write.stage = .waiting
            state.waiting.append(write)
            defer { state.isDraining = true }
            return !state.isDraining
        }
    }

    /// Takes a write back that the writer has not taken; it has then written nothing and gets `CancellationError`.
    func cancel(_ write: QueuedWrite) {
        let wasWaiting = state.withLock { state in
            guard write.stage == .new || write.stage == .waiting else { return false }
            let wasWaiting = write.stage == .waiting
            write.stage = .cancelled
            state.waiting.removeAll { $0 === write }
            return wasWaiting
        }
        if wasWaiting { write.finish(CancellationError()) }
    }

    /// Waits for the next write for some microseconds, without sleeping: a task that saves in a row comes back sooner than a
    /// sleeping thread wakes.
    func linger() {
        let end = DispatchTime.now().uptimeNanoseconds + 25_000
        while state.withLock({ $0.waiting.isEmpty }), DispatchTime.now().uptimeNanoseconds < end { sched_yield() }
    }

    /// Takes all that wait, at most `limit`. Empty means that the writer is done and the next write must start it.
    func take(limit: Int) -> [QueuedWrite] {
        state.withLock { state in
            let taken = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(taken.count)
            for write in taken { write.stage = .taken }
            if taken.isEmpty { state.isDraining = false }
            return taken
        }
    }
}

/// A write of any result.
///
/// `@unchecked Sendable`: `stage` is guarded by its group's lock; the rest is touched by the writer alone once the write was
/// taken, and by nobody before.
class QueuedWrite: @unchecked Sendable {
    enum Stage {
        case new, waiting, taken, cancelled
    }

    fileprivate var stage = Stage.new

    /// Does the work inside the shared transaction.
    func perform(_ db: Database) throws {}

    /// Tells the task how its write ended: with its own failure, else with the transaction's, else well.
    func finish(_ error: (any Error)?) {}
}

/// A write with the task that awaits its result.
final class AwaitedWrite<Value: Sendable>: QueuedWrite, @unchecked Sendable {
    private let body: (Database) throws -> Value
    private var result: Result<Value, any Error>?
    private var continuation: CheckedContinuation<Value, any Error>?

    init(_ body: @escaping @Sendable (Database) throws -> Value) {
        self.body = body
    }

    /// Sets who waits. Must be called before the write is added to a group.
    func await(by continuation: CheckedContinuation<Value, any Error>) {
        self.continuation = continuation
    }

    override func perform(_ db: Database) throws {
        do {
            result = .success(try body(db))
        } catch {
            result = .failure(error)
            throw error
        }
    }

    override func finish(_ error: (any Error)?) {
        switch (result, error) {
        case (.failure(let own), _): continuation?.resume(throwing: own)
        case (_, let error?): continuation?.resume(throwing: error)
        case (.success(let value), nil): continuation?.resume(returning: value)
        case (nil, nil): continuation?.resume(throwing: CancellationError())
        }
        continuation = nil
    }
}
