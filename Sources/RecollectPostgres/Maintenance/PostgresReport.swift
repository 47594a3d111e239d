#if Postgres
    /// The result of a check of a history in PostgreSQL, as printed by `recall postgres check`.
    public struct PostgresReport: Sendable, Codable {
        /// A problem found by the check.
        public struct Problem: Sendable, Codable, Hashable {
            /// The kind of the problem, stable across versions: `durability`, `schema`, `feed`, `messageCount`, `position`, `owner`, `contentDamaged`,
            /// `searchTerms`, `attachmentMissing`, `attachmentDamaged`, `attachmentUse`, `attachmentUnused`.
            public let kind: String
            /// A description of the problem.
            public let message: String
        }

        /// The hosts, ports and name of the database.
        public var server: String
        /// The version of the server, such as `15.18`.
        public var serverVersion: String
        /// The version of the tables.
        public var schemaVersion: Int
        /// The number of users with sessions. Without all tables, the counts are 0.
        public var userCount = 0
        /// The number of sessions, including branches and discarded ones.
        public var sessionCount = 0
        /// The number of messages.
        public var messageCount = 0
        /// The number of streaming replies, of all servers.
        public var streamingReplyCount = 0
        /// The number of attachments.
        public var attachmentCount = 0
        /// The total size of the attachments, in bytes.
        public var attachmentBytes = 0
        /// The size of the database with its indexes, in bytes.
        public var databaseBytes: Int
        /// The problems found, at most 100 of a kind. An empty list means no problems.
        public var problems: [Problem] = []
    }
#endif
