#if Postgres
    import Logging
    import Metrics
    import RecollectCore
    import Tracing

    /// The limits of a history in PostgreSQL.
    public struct PostgresConfiguration: Sendable {
        /// The maximum number of connections of a store, at least 1. An operation uses one at a time.
        public var maxConnections: Int
        /// The maximum time an operation waits for a free connection before it throws `busy`.
        public var connectionTimeout: Duration
        /// The maximum time a read of the change feed waits for transactions that began before those of saved changes. Later, it
        /// returns the changes before them.
        public var feedTimeout: Duration
        /// The time after which the streaming reply of a server that has ended, or does not reach the database, is saved as
        /// interrupted. Running servers renew it.
        public var replyLeaseDuration: Duration
        /// The logger for events. Message bodies are never logged.
        public var logger: Logger
        /// The backend of metrics. The default is that of the process, so start it before the first store: `MetricsSystem.bootstrap`.
        public var metrics: any MetricsFactory
        /// The backend of spans, one for each operation. The default is that of the process: `InstrumentationSystem.bootstrap`.
        public var tracer: any Tracer

        /// Creates a configuration.
        public init(
            maxConnections: Int = 10, connectionTimeout: Duration = .seconds(10),
            feedTimeout: Duration = .seconds(1), replyLeaseDuration: Duration = .seconds(30),
            logger: Logger = Logger(label: "recollect.history"), metrics: any MetricsFactory = MetricsSystem.factory,
            tracer: any Tracer = InstrumentationSystem.tracer
        ) {
            self.maxConnections = maxConnections
            self.connectionTimeout = connectionTimeout
            self.feedTimeout = feedTimeout
            self.replyLeaseDuration = replyLeaseDuration
            self.logger = logger
            self.metrics = metrics
            self.tracer = tracer
        }
    }
#endif
