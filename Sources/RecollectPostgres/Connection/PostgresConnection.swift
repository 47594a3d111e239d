#if Postgres
    import CLibpq
    import Dispatch
    import RecollectCore

    /// A connection to a PostgreSQL server over libpq. One caller uses it at a time: see `PostgresPool`.
    ///
    /// Statements are sent in pipelines, each with one round trip. No call blocks a thread: a serial queue reads and writes the
    /// socket whenever it is ready.
    ///
    /// `@unchecked Sendable` because all variables are used only on `queue`, except for `condition`, which has a lock.
    final class PostgresConnection: @unchecked Sendable {
        /// A pipeline with its results so far.
        private struct Exchange {
            let number: Int
            let count: Int
            let deadline: DispatchTime
            let continuation: CheckedContinuation<[PostgresResult], any Error>
            var results: [PostgresResult] = []
            /// The number of completely answered statements.
            var answeredCount = 0
            /// The first failure.
            var failure: PostgresFailure?
            var isCanceled = false
            var isTimedOut = false
            /// Whether the server has answered the last statement and the end of the pipeline.
            var isComplete = false
            /// Whether the failed transaction is being rolled back.
            var isRollingBack = false
        }

        /// Whether the connection can be used, and when it was made and last used.
        struct Condition: Sendable {
            var isBroken = false
            var isInTransaction = false
            let openedAt: ContinuousClock.Instant = .now
            var lastUse: ContinuousClock.Instant = .now
        }

        /// The time for the server to confirm a cancellation. After it, the connection is closed.
        private static let cancellationLimit: DispatchTimeInterval = .seconds(5)

        let server: String
        private let queue: DispatchQueue
        private let handle: OpaquePointer
        private let sockets: SocketSources
        private let numbers = Locked(0)
        private let condition = Locked(Condition())
        private let warning = ReplicationWarning()
        private var exchange: Exchange?
        private var begunCount = 0
        private var canceledBeforeBeginning: Set<Int> = []
        /// Requests of cancellation not sent yet. The next pipeline waits for them: the server would cancel it instead.
        private var pendingCancellations = 0
        private var hasTimer = false
        private var isClosed = false

        /// Creates a connection from an open one of libpq, used only on `queue`; `nil`, after closing it, if the process has no free
        /// descriptor.
        init?(_ handle: OpaquePointer, server: String, queue: DispatchQueue) {
            self.handle = handle
            self.server = server
            self.queue = queue
            PQsetnonblocking(handle, 1)
            PQenterPipelineMode(handle)
            guard let sockets = SocketSources(PQsocket(handle), queue: queue) else {
                PQfinish(handle)
                return nil
            }
            self.sockets = sockets
            warning.receive(from: handle)
            sockets.start(
                readable: { [weak self] in self?.receive() }, writable: { [weak self] in self?.flush() },
                finally: SendablePointer(handle))
        }

        deinit {
            // The handle is closed when its socket is no longer watched.
            sockets.stop()
        }

        /// Whether the connection can be used, and when it was made and last used.
        var currentCondition: Condition { condition.withLock { $0 } }

        /// The time for the statements of a call. Locks and slow queries must not hold it for longer.
        static let timeLimit = DispatchTimeInterval.seconds(30)

        /// Runs statements in one pipeline and returns their results, one for each statement.
        ///
        /// Without `BEGIN`, the statements are one transaction. After a failed statement, the following ones do not run, and an
        /// open transaction is rolled back before this method throws. The statement in progress is canceled if the task is.
        /// - Parameter timeLimit: The time for all statements. Then, they are canceled.
        /// - Throws: `PostgresFailure`, or `CancellationError` if the server canceled the statements for the task.
        func run(
            _ statements: [PostgresStatement], timeLimit: DispatchTimeInterval = timeLimit
        ) async throws -> [PostgresResult] {
            let number = numbers.withLock { count in
                count += 1
                return count
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    queue.async { [self] in
                        begin(
                            statements,
                            Exchange(
                                number: number, count: statements.count, deadline: .now() + timeLimit,
                                continuation: continuation))
                    }
                }
            } onCancel: {
                queue.async { [self] in cancel(number) }
            }
        }

        /// Runs one statement and returns its result.
        func run(_ sql: String, _ parameters: PostgresValue...) async throws -> PostgresResult {
            try await run([PostgresStatement(sql, parameters: parameters)])[0]
        }

        /// Closes the connection. A pipeline in progress fails, and is canceled at the server.
        func close() {
            queue.async { [self] in
                requestCancellation()
                end(PostgresFailure(message: "the connection was closed"))
            }
        }

        // MARK: - Sending

        private func begin(_ statements: [PostgresStatement], _ new: Exchange) {
            begunCount = max(begunCount, new.number)
            if canceledBeforeBeginning.remove(new.number) != nil {
                return new.continuation.resume(throwing: CancellationError())
            }
            guard !isClosed else {
                return new.continuation.resume(
                    throwing: PostgresFailure(message: "the connection to the server has ended"))
            }
            precondition(exchange == nil, "one caller uses a connection at a time")
            exchange = new
            warning.isPosted = false
            send(statements)
            startTimer()
        }

        private func send(_ statements: [PostgresStatement]) {
            for statement in statements where !send(statement) {
                return end(PostgresFailure(connection: handle))
            }
            guard PQpipelineSync(handle) == 1 else { return end(PostgresFailure(connection: handle)) }
            flush()
        }

        /// Adds a statement to the buffer of libpq. Returns whether the connection is intact.
        private func send(_ statement: PostgresStatement) -> Bool {
            guard !statement.parameters.isEmpty else {
                return PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1) == 1
            }
            var buffer: [UInt8] = []
            var starts: [Int?] = []
            var lengths: [Int32] = []
            for parameter in statement.parameters {
                let start = buffer.count
                starts.append(parameter.write(to: &buffer) ? start : nil)
                lengths.append(Int32(buffer.count - start))
            }
            // An empty value at the end has an address in the buffer, too.
            buffer.append(0)
            return buffer.withUnsafeBytes { bytes in
                let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                let values = starts.map { start in start.flatMap { base?.advanced(by: $0) } }
                let formats = [Int32](repeating: 1, count: starts.count)
                return PQsendQueryParams(
                    handle, statement.sql, Int32(starts.count), statement.parameters.map(\.typeID), values, lengths,
                    formats, 1) == 1
            }
        }

        /// Writes the buffer of libpq to the socket, now and whenever it is writable.
        private func flush() {
            guard !isClosed else { return }
            switch PQflush(handle) {
            case 0: sockets.watchesWriting = false
            case 1: sockets.watchesWriting = true
            // The answers until then may have the reason.
            default: receive()
            }
        }

        // MARK: - Receiving

        /// Reads all that has arrived, up to the end of the connection: Dispatch reports the end of a socket only once, often
        /// together with the last bytes.
        private func receive() {
            repeat {
                guard !isClosed else { return }
                let isIntact = PQconsumeInput(handle) == 1
                readResults()
                if !isIntact || PQstatus(handle) == CONNECTION_BAD { return end(PostgresFailure(connection: handle)) }
            } while sockets.isReadable
            // Reading may have made room for writing.
            if sockets.watchesWriting { flush() }
        }

        private func readResults() {
            var hasEndedStatement = false
            while let current = exchange, !current.isComplete, PQisBusy(handle) == 0 {
                guard let result = PQgetResult(handle) else {
                    // The end of a statement's results. A second end in a row means that libpq has no more statements.
                    guard !hasEndedStatement else { return }
                    hasEndedStatement = true
                    exchange?.answeredCount += 1
                    continue
                }
                hasEndedStatement = false
                switch PQresultStatus(result) {
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK: exchange?.results.append(PostgresResult(result))
                case PGRES_PIPELINE_SYNC:
                    PQclear(result)
                    exchange?.isComplete = true
                case PGRES_PIPELINE_ABORTED: PQclear(result)
                default:
                    if current.failure == nil {
                        exchange?.failure = PostgresFailure(result, statement: current.answeredCount)
                    }
                    PQclear(result)
                }
            }
            finish()
        }

        /// Returns the results of a complete pipeline, after the cancellations sent for it.
        private func finish() {
            guard var current = exchange, current.isComplete, pendingCancellations == 0 else { return }
            if current.failure != nil, !current.isRollingBack, PQtransactionStatus(handle) != PQTRANS_IDLE {
                current.isComplete = false
                current.isRollingBack = true
                exchange = current
                return send([PostgresStatement("ROLLBACK")])
            }
            exchange = nil
            let isInTransaction = PQtransactionStatus(handle) != PQTRANS_IDLE
            condition.withLock {
                $0.lastUse = .now
                $0.isInTransaction = isInTransaction
            }
            if let failure = current.failure {
                let isCanceled = failure.isCanceled && current.isCanceled
                let reported = failure.isCanceled && current.isTimedOut ? failure.timedOut : failure
                current.continuation.resume(throwing: isCanceled ? CancellationError() : reported)
            } else if warning.isPosted {
                current.continuation.resume(throwing: PostgresFailure.unreplicated)
            } else {
                current.continuation.resume(returning: current.results)
            }
        }

        /// Ends the connection and fails its pipeline. The reason is the failure already reported by the server, if any.
        private func end(_ failure: PostgresFailure) {
            guard !isClosed else { return }
            isClosed = true
            condition.withLock { $0.isBroken = true }
            sockets.stop()
            guard let current = exchange else { return }
            exchange = nil
            current.continuation.resume(throwing: current.failure ?? failure)
        }

        /// Whether the server has committed a transaction without the confirmation of a synchronous standby, because a cancellation or
        /// an administrator ended the wait. It then answers like after any commit, and posts only a warning, known by the name of
        /// its function (PostgreSQL source, `src/backend/replication/syncrep.c`).
        ///
        /// `@unchecked Sendable` because libpq calls the receiver only on the connection's queue.
        private final class ReplicationWarning: @unchecked Sendable {
            var isPosted = false

            /// Receives the notices of a connection of libpq, until it is closed. The default receiver writes to standard error.
            func receive(from handle: OpaquePointer) {
                let receiver: PQnoticeReceiver = { context, result in
                    guard let context, let name = PQresultErrorField(result, Int32(UInt8(ascii: "R"))) else { return }
                    guard String(cString: name) == "SyncRepWaitForLSN" else { return }
                    Unmanaged<ReplicationWarning>.fromOpaque(context).takeUnretainedValue().isPosted = true
                }
                PQsetNoticeReceiver(handle, receiver, Unmanaged.passUnretained(self).toOpaque())
            }
        }

        // MARK: - Cancellations and time limits

        private func cancel(_ number: Int) {
            if number > begunCount {
                canceledBeforeBeginning.insert(number)
            } else if exchange?.number == number {
                exchange?.isCanceled = true
                requestCancellation()
            }
        }

        /// Asks the server to cancel the statement in progress, and closes the connection if it does not.
        private func requestCancellation() {
            guard let current = exchange, !current.isComplete, let request = PQgetCancel(handle) else { return }
            pendingCancellations += 1
            // libpq sends the request over a connection of its own, and blocks meanwhile.
            let pointer = SendablePointer(request)
            DispatchQueue(label: "recollect.postgres.cancellation").async { [self] in
                var message = [CChar](repeating: 0, count: 256)
                PQcancel(pointer.value, &message, Int32(message.count))
                PQfreeCancel(pointer.value)
                queue.async {
                    self.pendingCancellations -= 1
                    self.finish()
                }
            }
            let number = current.number
            queue.asyncAfter(deadline: .now() + Self.cancellationLimit) { [weak self] in
                guard let self, exchange?.number == number else { return }
                end(PostgresFailure(message: "the server did not confirm a cancellation within 5 seconds"))
            }
        }

        /// Checks the time limit of the current pipeline. A connection has at most one timer.
        private func startTimer() {
            guard !hasTimer, !isClosed, let current = exchange, !current.isTimedOut else { return }
            hasTimer = true
            queue.asyncAfter(deadline: current.deadline) { [weak self] in
                guard let self else { return }
                hasTimer = false
                if let current = exchange, current.deadline <= .now(), !current.isTimedOut {
                    exchange?.isTimedOut = true
                    requestCancellation()
                }
                startTimer()
            }
        }
    }
#endif
