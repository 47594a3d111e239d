#if Postgres
    import Logging
    import RecollectCore

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

        /// Creates a configuration.
        public init(
            maxConnections: Int = 10, connectionTimeout: Duration = .seconds(10),
            feedTimeout: Duration = .seconds(1), replyLeaseDuration: Duration = .seconds(30),
            logger: Logger = Logger(label: "recollect.history")
        ) {
            self.maxConnections = maxConnections
            self.connectionTimeout = connectionTimeout
            self.feedTimeout = feedTimeout
            self.replyLeaseDuration = replyLeaseDuration
            self.logger = logger
        }
    }
#endif
