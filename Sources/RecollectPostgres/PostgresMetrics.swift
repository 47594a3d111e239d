#if Postgres
    import Metrics
    import RecollectCore
    import Tracing

    /// The metrics and spans of a history in PostgreSQL. They contain no IDs and no content.
    ///
    /// - `recollect.postgres.duration`: a timer of each operation, with the dimensions `operation` and `error`, the code of its error or
    ///   `none`. Each operation is also a span.
    /// - `recollect.postgres.connection.wait`: a timer of the time until an operation had a connection.
    /// - `recollect.postgres.repetitions`: a counter of the transactions run again, with the dimension `reason`: `conflict` or
    ///   `unavailable`.
    struct PostgresMetrics: Sendable {
        /// Why a transaction runs again.
        enum Reason: String {
            /// Another transaction has changed the same rows.
            case conflict
            /// The server or the connection has ended, or is not ready.
            case unavailable
        }

        private let factory: any MetricsFactory
        private let tracer: any Tracer
        private let server: String
        private let wait: Metrics.Timer
        /// The timers of operations, by operation and error: a backend searches for each new one.
        private let timers = Locked<[String: Metrics.Timer]>([:])

        /// Creates metrics of a server, by its hosts, ports and name of the database.
        init(
            _ factory: any MetricsFactory = NOOPMetricsHandler.instance, tracer: any Tracer = NoOpTracer(),
            server: String = ""
        ) {
            (self.factory, self.tracer, self.server) = (factory, tracer, server)
            wait = Metrics.Timer(label: "recollect.postgres.connection.wait", dimensions: [], factory: factory)
        }

        /// Runs an operation, and reports its duration.
        /// - Parameter function: The name of the operation. Labels of arguments are left out.
        func measure<Value>(_ function: String, _ body: () async throws -> Value) async throws -> Value {
            let operation = String(function.prefix { $0 != "(" })
            let start = ContinuousClock.now
            do {
                let value = try await tracer.withSpan("recollect.\(operation)", ofKind: .client) { span in
                    span.attributes["db.system.name"] = "postgresql"
                    span.attributes["server.address"] = server
                    return try await body()
                }
                record(operation, since: start, error: "none")
                return value
            } catch {
                let code = (error as? RecollectError)?.code.rawValue
                record(operation, since: start, error: code ?? (error is CancellationError ? "canceled" : "other"))
                throw error
            }
        }

        private func record(_ operation: String, since start: ContinuousClock.Instant, error: String) {
            let timer = timers.withLock { timers in
                if let timer = timers["\(operation) \(error)"] { return timer }
                let timer = Metrics.Timer(
                    label: "recollect.postgres.duration", dimensions: [("operation", operation), ("error", error)],
                    factory: factory)
                timers["\(operation) \(error)"] = timer
                return timer
            }
            timer.recordNanoseconds((ContinuousClock.now - start).nanoseconds)
        }

        /// Reports the time until an operation had a connection.
        func recordWait(since start: ContinuousClock.Instant) {
            wait.recordNanoseconds((ContinuousClock.now - start).nanoseconds)
        }

        /// Reports a transaction that runs again.
        func recordRepetition(_ reason: Reason) {
            Counter(
                label: "recollect.postgres.repetitions", dimensions: [("reason", reason.rawValue)], factory: factory
            )
            .increment()
        }
    }

    extension Duration {
        fileprivate var nanoseconds: Int64 {
            components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
        }
    }
#endif
