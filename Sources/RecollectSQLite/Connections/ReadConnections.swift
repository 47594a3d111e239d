import Dispatch
import Foundation
import GRDB
import RecollectCore

/// A connection for reads.
final class ReadConnection: Sendable {
    private let queue: DatabaseQueue
    private let format: FormatWatch
    private let unlocked: UnlockedFiles?

    /// Creates a read connection.
    /// - Parameters:
    ///   - queue: The connection. It may also serve writes.
    ///   - unlocked: The files, for a connection without locks.
    init(_ queue: DatabaseQueue, _ known: KnownFormat, unlocked: UnlockedFiles? = nil) {
        self.queue = queue
        self.unlocked = unlocked
        format = FormatWatch(known)
    }

    /// Reads. Blocks.
    /// - Throws: `DatabaseRetired` for a newer format, and for files changed under a connection without locks, in
    ///   place of the result or of the failure.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        guard let unlocked else { return try readNow(body) }
        return try unlocked.reading { try readNow(body) }
    }

    private func readNow<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try queue.unsafeRead { db in
            let result = Result { try body(db) }
            _ = try format.check(db)
            return try result.get()
        }
    }

    func close() throws {
        try queue.close()
    }
}

/// The read connections of an open database: up to four, opened on demand.
///
/// A read runs on the calling thread if `InlineWork` allows it, otherwise on a queue. Reads beyond the fourth wait
/// in a list and block no thread.
final class ReadConnections: Sendable {
    /// Reads through a connection, or receives the error of its opening or `DatabaseRetired`. Returns the work to
    /// do after the connection is returned.
    typealias Body = @Sendable (Result<ReadConnection, any Error>) -> @Sendable () -> Void

    private static let limit = 4

    private struct State {
        var idle: [ReadConnection] = []
        var count = 0
        var active = 0
        var waiting: [Body] = []
        var isPaused = false
        var isClosed = false
    }

    private let open: @Sendable () throws -> ReadConnection
    private let queue = DispatchQueue(label: "recollect.history.read", qos: .userInitiated, attributes: .concurrent)
    private let state = Locked(State())
    private let rest = NSCondition()

    init(open: @escaping @Sendable () throws -> ReadConnection) {
        self.open = open
    }

    /// Whether no connection has been opened.
    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// Returns an idle connection for work in place, or `nil` if there is none. The caller must give it back.
    func takeIdle() -> ReadConnection? {
        state.withLock { state in
            guard !state.isPaused, let connection = state.idle.popLast() else { return nil }
            state.active += 1
            return connection
        }
    }

    /// Calls `body` on a queue.
    func withConnection(_ body: @escaping Body) {
        let isAdmitted = state.withLock { state in
            state.waiting.append(body)
            return !state.isClosed
        }
        isAdmitted ? startNext() : refuseWaiting()
    }

    /// Returns a connection to the pool.
    func release(_ connection: ReadConnection) {
        let isLast = state.withLock { state in
            state.idle.append(connection)
            state.active -= 1
            return state.active == 0
        }
        if isLast { signalRest() }
        startNext()
    }

    /// Holds back new reads until `resume` and waits for the running ones. Returns whether all ended in time.
    /// Blocks.
    func pause(milliseconds: Int) -> Bool {
        state.withLock { $0.isPaused = true }
        return waitForRest(until: Date(timeIntervalSinceNow: Double(milliseconds) / 1000))
    }

    func resume() {
        state.withLock { $0.isPaused = false }
        for _ in 0..<Self.limit { startNext() }
    }

    /// Ends the waiting reads with `DatabaseRetired`, waits for the running ones and closes the connections.
    /// Blocks.
    func close() {
        state.withLock { $0.isClosed = true }
        refuseWaiting()
        _ = waitForRest(until: nil)
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle {
            // A read connection has nothing to lose. One left open is closed with its last reference.
            try? connection.close()
        }
    }

    /// Starts the first waiting read if a connection is free or another one may be opened.
    private func startNext() {
        enum Next {
            case nothing
            case run(Body, ReadConnection)
            case open(Body)
        }
        let next = state.withLock { state -> Next in
            guard !state.isPaused, !state.isClosed, !state.waiting.isEmpty else { return .nothing }
            if let connection = state.idle.popLast() {
                state.active += 1
                return .run(state.waiting.removeFirst(), connection)
            }
            guard state.count < Self.limit else { return .nothing }
            state.count += 1
            state.active += 1
            return .open(state.waiting.removeFirst())
        }
        switch next {
        case .nothing: return
        case .run(let body, let connection): queue.async { self.run(body, connection) }
        case .open(let body): queue.async { self.openAndRun(body) }
        }
    }

    private func run(_ body: Body, _ connection: ReadConnection) {
        let end = body(.success(connection))
        release(connection)
        end()
    }

    private func openAndRun(_ body: Body) {
        do {
            run(body, try open())
        } catch {
            let isLast = state.withLock { state in
                state.count -= 1
                state.active -= 1
                return state.active == 0
            }
            body(.failure(error))()
            if isLast { signalRest() }
            startNext()
        }
    }

    private func refuseWaiting() {
        let refused = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in refused { body(.failure(DatabaseRetired()))() }
    }

    /// Waits until no read is running, without a deadline for `nil`. Returns whether none is running.
    private func waitForRest(until deadline: Date?) -> Bool {
        rest.lock()
        defer { rest.unlock() }
        while state.withLock({ $0.active > 0 }) {
            if let deadline {
                guard rest.wait(until: deadline) else { return state.withLock { $0.active == 0 } }
            } else {
                rest.wait()
            }
        }
        return true
    }

    private func signalRest() {
        rest.lock()
        rest.broadcast()
        rest.unlock()
    }
}
