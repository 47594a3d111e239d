#if Postgres
    import Dispatch
    import Foundation
    import RecollectCore

    /// Connections to one database, shared by all tasks of a process.
    ///
    /// A task that needs a connection takes an idle one, opens one, or waits in order of arrival. A connection that failed, or
    /// has an open transaction at its return, is not used again.
    final class PostgresPool: Sendable {
        /// The limits of a pool.
        struct Limits: Sendable {
            /// The maximum number of connections, at least 1.
            var maxConnections = 10
            /// The maximum number of waiting tasks. Further tasks fail at once with `busy`.
            var waitingCount = 1_000
            /// The maximum time to wait for a connection.
            var waitingTime: Duration = .seconds(10)
            /// The age at which an unused connection is closed.
            var idleTime: Duration = .seconds(300)
            /// The age at which a connection is closed after its use, so that a server added later gets its part.
            var age: Duration = .seconds(3_600)
        }

        private struct State {
            var idle: [PostgresConnection] = []
            /// The number of connections in use or being opened.
            var usedCount = 0
            /// In order of arrival.
            var waiting: [WaitingTask] = []
            var hasTimer = false
            var isClosed = false

            mutating func removeWaiting(_ number: Int) -> WaitingTask? {
                waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0) }
            }
        }

        private struct WaitingTask: Sendable {
            let number: Int
            let deadline: ContinuousClock.Instant
            let continuation: CheckedContinuation<Grant, any Error>
        }

        /// The answer to a task: a connection, or the permission to open one.
        private enum Grant: Sendable {
            case connection(PostgresConnection)
            case permission
        }

        let address: PostgresAddress
        let metrics: PostgresMetrics
        private let limits: Limits
        private let state = Locked(State())
        private let numbers = Locked(0)

        init(
            _ address: PostgresAddress, limits: Limits = Limits(), metrics: PostgresMetrics = PostgresMetrics()
        ) {
            self.address = address
            self.metrics = metrics
            self.limits = limits
        }

        deinit {
            close()
        }

        /// The number of tasks waiting for a connection.
        var waitingCount: Int { state.withLock { $0.waiting.count } }

        /// Runs work with a connection, which only this work uses meanwhile.
        /// - Throws: `busy` if no connection was free in time, `unavailable` after `close()`; `PostgresFailure` if no connection
        ///   can be opened; the errors of `body`.
        func withConnection<Value: Sendable>(
            _ body: (PostgresConnection) async throws -> Value
        ) async throws -> Value {
            let start = ContinuousClock.now
            let connection = try await acquire()
            metrics.recordWait(since: start)
            do {
                let value = try await body(connection)
                putBack(connection)
                return value
            } catch {
                putBack(connection)
                throw error
            }
        }

        /// Closes all connections: those in use after their use. Waiting tasks fail with `unavailable`.
        func close() {
            let (idle, waiting) = state.withLock { state in
                state.isClosed = true
                defer { (state.idle, state.waiting) = ([], []) }
                return (state.idle, state.waiting)
            }
            idle.forEach { $0.close() }
            waiting.forEach { $0.continuation.resume(throwing: closedError) }
        }

        // MARK: - Taking and returning

        private func acquire() async throws -> PostgresConnection {
            switch try await grant() {
            case .connection(let connection): return connection
            case .permission:
                do {
                    return try await PostgresConnection.connect(to: address)
                } catch {
                    release(nil)
                    throw error
                }
            }
        }

        private func grant() async throws -> Grant {
            try Task.checkCancellation()
            let number = numbers.withLock { count in
                count += 1
                return count
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    wait(continuation, number)
                }
            } onCancel: {
                state.withLock { $0.removeWaiting(number) }?.continuation.resume(throwing: CancellationError())
            }
        }

        private func wait(_ continuation: CheckedContinuation<Grant, any Error>, _ number: Int) {
            var unused: [PostgresConnection] = []
            var startsTimer = false
            let result: Result<Grant, any Error>? = state.withLock { state in
                // A later cancellation finds the task among the waiting ones.
                guard !Task.isCancelled else { return .failure(CancellationError()) }
                guard !state.isClosed else { return .failure(closedError) }
                // The connection used last is the most likely to work, and the others grow old.
                while let connection = state.idle.popLast() {
                    if isUsable(connection) {
                        state.usedCount += 1
                        return .success(.connection(connection))
                    }
                    unused.append(connection)
                }
                if state.usedCount < limits.maxConnections {
                    state.usedCount += 1
                    return .success(.permission)
                }
                guard state.waiting.count < limits.waitingCount else {
                    return .failure(busyError("\(limits.waitingCount) tasks are already waiting for a connection"))
                }
                state.waiting.append(
                    WaitingTask(number: number, deadline: .now + limits.waitingTime, continuation: continuation))
                startsTimer = !state.hasTimer
                state.hasTimer = true
                return nil
            }
            unused.forEach { $0.close() }
            if let result { continuation.resume(with: result) }
            if startsTimer { startTimer() }
        }

        /// Fails the tasks that have waited too long. The pool has one timer, for the first task.
        private func startTimer() {
            Task { [weak self] in
                while let deadline = self?.failLateTasks() {
                    // The task is never canceled.
                    try? await Task.sleep(until: deadline, clock: .continuous)
                }
            }
        }

        /// Returns the time limit of the first task still waiting; `nil` and no timer without one.
        private func failLateTasks() -> ContinuousClock.Instant? {
            let (late, deadline) = state.withLock { state in
                let now = ContinuousClock.now
                let count = state.waiting.prefix { $0.deadline <= now }.count
                defer { state.waiting.removeFirst(count) }
                let next = state.waiting.dropFirst(count).first?.deadline
                state.hasTimer = next != nil
                return (state.waiting.prefix(count), next)
            }
            for task in late {
                task.continuation.resume(throwing: busyError("no connection was free within \(limits.waitingTime)"))
            }
            return deadline
        }

        private func putBack(_ connection: PostgresConnection) {
            guard isUsable(connection), !state.withLock(\.isClosed) else {
                connection.close()
                return release(nil)
            }
            release(connection)
        }

        /// Passes a connection, or the permission to open one, to the first waiting task.
        private func release(_ connection: PostgresConnection?) {
            let task = state.withLock { state -> WaitingTask? in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.usedCount -= 1
                if let connection { state.idle.append(connection) }
                return nil
            }
            task?.continuation.resume(returning: connection.map(Grant.connection) ?? .permission)
        }

        private func isUsable(_ connection: PostgresConnection) -> Bool {
            let condition = connection.currentCondition
            return !condition.isBroken && !condition.isInTransaction
                && condition.openedAt.duration(to: .now) < limits.age
                && condition.lastUse.duration(to: .now) < limits.idleTime
        }

        private var closedError: RecollectError {
            RecollectError(.unavailable, "the store of \(address.description) was closed")
        }

        private func busyError(_ reason: String) -> RecollectError {
            RecollectError(
                .busy, "\(address.description): \(reason); allow more connections, or make fewer calls at once")
        }
    }
#endif
