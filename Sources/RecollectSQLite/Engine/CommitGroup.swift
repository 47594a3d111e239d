import Foundation
import GRDB
import RecollectCore

/// The writes that wait for the writer, in order of arrival: all that wait share one transaction and one sync.
///
/// One thread at a time has the writer's role: the writer's queue, or a caller that found the role free. A write is waiting, and
/// cancelling its task takes it back, or it is taken, and no cancellation reaches it.
final class CommitGroup: Sendable {
    fileprivate enum Role {
        case free, taken
        /// The writer's queue is idle and spins some microseconds for the next write. A caller may take the role.
        case lingering
    }

    fileprivate struct State {
        var waiting: [QueuedWrite] = []
        var role = Role.free
        var isSealed = false
        /// The number of writes in the last transaction of the writer's queue.
        var crowd = 1
    }

    /// How long the queue waits for another write, in nanoseconds.
    private static let patience: UInt64 = 25_000
    /// How long it waits for a crowd, in nanoseconds: as long as a sync takes.
    private static let longestLinger: UInt64 = 250_000

    private let state = Locked(State())

    /// Adds a write. Returns whether the caller must start the writer.
    /// - Throws: `CancellationError` if the write was canceled before, `DatabaseRetired` after `seal`.
    func add(_ write: QueuedWrite) throws -> Bool {
        try state.withLock { state in
            try state.admit(write)
            write.stage = .waiting
            state.waiting.append(write)
            return state.takeRole()
        }
    }

    /// Takes the writer's role for one write if nothing is written and nothing waits. Returns whether it did; the caller must
    /// then call `release`.
    /// - Throws: As `add`.
    func claim(_ write: QueuedWrite) throws -> Bool {
        try state.withLock { state in
            try state.admit(write)
            guard state.claimRole() else { return false }
            write.stage = .taken
            return true
        }
    }

    /// Takes the writer's role for work that is no write, if nothing is written and nothing waits.
    func claim() -> Bool {
        state.withLock { !$0.isSealed && $0.claimRole() }
    }

    /// Takes back the claim of a write that was not run: it is as new.
    func unclaim(_ write: QueuedWrite) {
        state.withLock { _ in write.stage = .new }
    }

    /// Gives the role back. Returns whether the caller must start the writer for writes that wait.
    func release() -> Bool {
        state.withLock { state in
            state.role = state.waiting.isEmpty ? .free : .taken
            return state.role == .taken
        }
    }

    /// Takes a write back that the writer has not taken. It has written nothing and ends with `CancellationError`.
    func cancel(_ write: QueuedWrite) {
        let wasWaiting = state.withLock { state in
            guard write.stage == .new || write.stage == .waiting else { return false }
            let wasWaiting = write.stage == .waiting
            write.stage = .canceled
            state.waiting.removeAll { $0 === write }
            return wasWaiting
        }
        if wasWaiting { write.finish(CancellationError()) }
    }

    /// Adds a last job and admits no write after it. Returns whether the caller must start the writer; `nil` if the group was
    /// sealed before.
    func seal(with job: QueuedWrite) -> Bool? {
        state.withLock { state -> Bool? in
            guard !state.isSealed else { return nil }
            state.isSealed = true
            job.stage = .waiting
            state.waiting.append(job)
            return state.takeRole()
        }
    }

    /// Waits for the next write for some microseconds, without sleeping: a task that saves in a row comes back sooner than a
    /// sleeping thread wakes. Where writes come in crowds it waits until no more come, so that all share the next sync. Returns
    /// whether the role is still the caller's.
    func linger() -> Bool {
        let isCrowded = state.withLock { state in
            state.role = .lingering
            return state.crowd > 1
        }
        let start = DispatchTime.now().uptimeNanoseconds
        var (count, lastArrival) = (0, start)
        while true {
            let waiting = state.withLock { $0.role == .lingering ? $0.waiting.count : nil }
            guard let waiting, waiting == 0 || isCrowded else { break }
            let now = DispatchTime.now().uptimeNanoseconds
            if waiting > count { (count, lastArrival) = (waiting, now) }
            guard now < lastArrival + Self.patience, now < start + Self.longestLinger else { break }
            sched_yield()
        }
        return state.withLock { state in
            guard state.role == .lingering else { return false }
            state.role = state.waiting.isEmpty ? .free : .taken
            return state.role == .taken
        }
    }

    /// Takes the writes that share the next transaction, at most `limit`, or one job that runs alone. Empty means that the role
    /// is free again and the next write must start the writer.
    func take(limit: Int) -> [QueuedWrite] {
        state.withLock { state in
            var taken = Array(state.waiting.prefix(limit).prefix { !$0.runsAlone })
            if taken.isEmpty, let job = state.waiting.first { taken = [job] }
            state.waiting.removeFirst(taken.count)
            for write in taken { write.stage = .taken }
            if taken.isEmpty { state.role = .free } else if !taken[0].runsAlone { state.crowd = taken.count }
            return taken
        }
    }
}

extension CommitGroup.State {
    fileprivate func admit(_ write: QueuedWrite) throws {
        guard !isSealed else { throw DatabaseRetired() }
        guard write.stage == .new else { throw CancellationError() }
    }

    /// Takes the role for a caller, also from the lingering queue. Refuses during group commits: a single write would delay the others
    /// by a sync.
    fileprivate mutating func claimRole() -> Bool {
        guard role != .taken, waiting.isEmpty, crowd == 1 else { return false }
        role = .taken
        return true
    }

    /// Takes the role for the writer's queue if it is free. A lingering queue needs no start: it sees new writes.
    fileprivate mutating func takeRole() -> Bool {
        guard role == .free else { return false }
        role = .taken
        return true
    }
}

/// A database was closed before an operation began. Nothing was read or written; the operation runs again on a new opening.
struct DatabaseRetired: Error {}

/// A database was opened to be read only. Nothing was written; a new opening may find that it can be written by now.
struct NotWritable: Error {
    let cause: RecollectError
}

/// A write of any result.
///
/// `@unchecked Sendable`: `stage` is guarded by its group's lock; only the thread with the writer's role touches the rest after
/// the write was taken, and none before.
class QueuedWrite: @unchecked Sendable {
    enum Stage {
        case new, waiting, taken, canceled
    }

    fileprivate var stage = Stage.new

    /// Whether this shares no transaction with other writes.
    var runsAlone: Bool { false }

    /// Does the work: inside the shared transaction, or by itself for a job.
    func perform(_ db: Database) throws {}

    /// Ends the write: with its own failure, else with the transaction's, else well.
    func finish(_ error: (any Error)?) {}
}

/// A job for the thread that has the writer's role. It needs no answer.
final class WriterJob: QueuedWrite, @unchecked Sendable {
    private let body: () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    override var runsAlone: Bool { true }

    func run() { body() }
}

/// A write with the task that awaits its result, or with a caller that runs it in place.
final class AwaitedWrite<Value: Sendable>: QueuedWrite, @unchecked Sendable {
    private let body: (Database) throws -> Value
    private let isAlone: Bool
    private var outcome: Result<Value, any Error>?
    private var continuation: CheckedContinuation<Value, any Error>?

    /// - Parameter isAlone: Whether the write gets its own transaction.
    init(isAlone: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value) {
        self.isAlone = isAlone
        self.body = body
    }

    override var runsAlone: Bool { isAlone }

    /// Sets the task that waits. Must be called before the write is added to a group.
    func await(by continuation: CheckedContinuation<Value, any Error>) {
        self.continuation = continuation
    }

    override func perform(_ db: Database) throws {
        do {
            outcome = .success(try body(db))
        } catch {
            outcome = .failure(error)
            throw error
        }
    }

    override func finish(_ error: (any Error)?) {
        switch (outcome, error) {
        case (.failure, _): break
        case (_, let error?): outcome = .failure(error)
        case (.success, nil): break
        case (nil, nil): outcome = .failure(CancellationError())
        }
        if let outcome { continuation?.resume(with: outcome) }
        continuation = nil
    }

    /// The result of a write that ran in place and was finished.
    func result() throws -> Value {
        guard let outcome else { throw CancellationError() }
        return try outcome.get()
    }
}
