import Foundation
import GRDB
import RecollectCore

/// The queue of writes for group commits, in order of arrival: all waiting writes share one transaction and one
/// sync.
///
/// One thread at a time has the writer's role: the writer's queue, or a caller that took the free role. Canceling
/// a task withdraws its waiting write. A write already taken is not affected by cancellation.
final class GroupCommit: Sendable {
    fileprivate enum Role {
        case free, taken
        /// The writer's queue is idle and spins for some microseconds, waiting for the next write. A caller may
        /// take the role.
        case lingering
    }

    fileprivate struct State {
        var waiting: [QueuedWrite] = []
        var role = Role.free
        var isSealed = false
        /// The number of writes in the last transaction of the writer's queue.
        var groupSize = 1
    }

    /// The longest wait for another write, in nanoseconds.
    private static let maxWait: UInt64 = 25_000
    /// The longest wait for a group of writes, in nanoseconds: the duration of a sync.
    private static let maxLingerTime: UInt64 = 250_000

    private let state = Locked(State())

    /// Adds a write. Returns whether the caller must start the writer.
    /// - Throws: `CancellationError` if the write was already canceled, `DatabaseRetired` after `seal`.
    func add(_ write: QueuedWrite) throws -> Bool {
        try state.withLock { state in
            try state.admit(write)
            write.stage = .waiting
            state.waiting.append(write)
            return state.takeRole()
        }
    }

    /// Takes the writer's role for one write if no write is running or waiting, and no group commits are in progress.
    /// Returns true on success; the caller must then call `release`.
    /// - Throws: As `add`.
    func claim(_ write: QueuedWrite) throws -> Bool {
        try state.withLock { state in
            try state.admit(write)
            guard state.claimRole() else { return false }
            write.stage = .taken
            return true
        }
    }

    /// Takes the writer's role for work other than a write, under the same conditions. Returns false after `seal`.
    func claim() -> Bool {
        state.withLock { !$0.isSealed && $0.claimRole() }
    }

    /// Undoes the claim of a write before it runs. The write can be added or claimed again.
    func unclaim(_ write: QueuedWrite) {
        state.withLock { _ in write.stage = .new }
    }

    /// Releases the role. Returns whether the caller must start the writer for waiting writes.
    func release() -> Bool {
        state.withLock { state in
            state.role = state.waiting.isEmpty ? .free : .taken
            return state.role == .taken
        }
    }

    /// Withdraws a write not yet taken by the writer. It writes nothing and ends with `CancellationError`.
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

    /// Adds a last job and rejects all later writes. Returns whether the caller must start the writer; `nil` if
    /// the group was already sealed.
    func seal(with job: QueuedWrite) -> Bool? {
        state.withLock { state -> Bool? in
            guard !state.isSealed else { return nil }
            state.isSealed = true
            job.stage = .waiting
            state.waiting.append(job)
            return state.takeRole()
        }
    }

    /// Waits for the next write for some microseconds, spinning: a task with a series of saves returns sooner than
    /// a sleeping thread wakes. During group commits, waits until no more writes arrive, so that all share the
    /// next sync. Returns whether the caller still has the role.
    func linger() -> Bool {
        let isGrouped = state.withLock { state in
            state.role = .lingering
            return state.groupSize > 1
        }
        let start = DispatchTime.now().uptimeNanoseconds
        var (count, lastArrival) = (0, start)
        while true {
            let waiting = state.withLock { $0.role == .lingering ? $0.waiting.count : nil }
            guard let waiting, waiting == 0 || isGrouped else { break }
            let now = DispatchTime.now().uptimeNanoseconds
            if waiting > count { (count, lastArrival) = (waiting, now) }
            guard now < lastArrival + Self.maxWait, now < start + Self.maxLingerTime else { break }
            sched_yield()
        }
        return state.withLock { state in
            guard state.role == .lingering else { return false }
            state.role = state.waiting.isEmpty ? .free : .taken
            return state.role == .taken
        }
    }

    /// Takes the writes of the next transaction, at most `limit`, or one write or job to run alone. An empty
    /// result means that the role is free and the next write must start the writer.
    func take(limit: Int) -> [QueuedWrite] {
        state.withLock { state in
            var taken = Array(state.waiting.prefix(limit).prefix { !$0.runsAlone })
            if taken.isEmpty, let job = state.waiting.first { taken = [job] }
            state.waiting.removeFirst(taken.count)
            for write in taken { write.stage = .taken }
            if taken.isEmpty { state.role = .free } else if !taken[0].runsAlone { state.groupSize = taken.count }
            return taken
        }
    }
}

extension GroupCommit.State {
    fileprivate func admit(_ write: QueuedWrite) throws {
        guard !isSealed else { throw DatabaseRetired() }
        guard write.stage == .new else { throw CancellationError() }
    }

    /// Takes the role for a caller, also from the lingering queue. Refuses during group commits: a single write
    /// would delay the others by a sync.
    fileprivate mutating func claimRole() -> Bool {
        guard role != .taken, waiting.isEmpty, groupSize == 1 else { return false }
        role = .taken
        return true
    }

    /// Takes the role for the writer's queue if it is free. A lingering queue needs no start: it polls for new
    /// writes.
    fileprivate mutating func takeRole() -> Bool {
        guard role == .free else { return false }
        role = .taken
        return true
    }
}

/// A write with a result of any type.
///
/// `@unchecked Sendable`: the group's lock guards `stage`. After the write was taken, only the thread with the
/// writer's role accesses the rest. Before that, only its creator does, and the thread of a cancellation after
/// withdrawing it.
class QueuedWrite: @unchecked Sendable {
    enum Stage {
        case new, waiting, taken, canceled
    }

    fileprivate var stage = Stage.new

    /// Whether the write shares no transaction with other writes.
    var runsAlone: Bool { false }

    /// Does the work: inside the shared transaction, or, for a job, alone.
    func perform(_ db: Database) throws {}

    /// Ends the write: with its own error, otherwise with the transaction's, otherwise with success.
    func finish(_ error: (any Error)?) {}
}

/// A job for the thread with the writer's role. It returns no result.
final class WriterJob: QueuedWrite, @unchecked Sendable {
    private let body: () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    override var runsAlone: Bool { true }

    func run() { body() }
}

/// A write with an awaiting task, or with a caller running it in place.
final class AwaitedWrite<Value: Sendable>: QueuedWrite, @unchecked Sendable {
    private let body: (Database) throws -> Value
    private let isAlone: Bool
    private var outcome: Result<Value, any Error>?
    private var continuation: CheckedContinuation<Value, any Error>?

    /// Creates a write.
    /// - Parameter isAlone: Whether the write has a transaction of its own.
    init(isAlone: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value) {
        self.isAlone = isAlone
        self.body = body
    }

    override var runsAlone: Bool { isAlone }

    /// Sets the awaiting task. Must be called before the write is added to a group.
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

    /// Returns the result of a write that ran in place and was finished.
    func result() throws -> Value {
        guard let outcome else { throw CancellationError() }
        return try outcome.get()
    }
}
