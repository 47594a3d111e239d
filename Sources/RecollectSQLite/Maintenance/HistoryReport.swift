import Foundation

/// The result of a check of a history's files, as printed by `recall doctor`.
public struct HistoryReport: Sendable, Codable {
    /// A problem found by the check.
    public struct Problem: Sendable, Codable, Hashable {
        /// The kind of the problem, stable across versions: `integrity`, `messageCount`, `messageId`,
        /// `contentDamaged`, `searchIndex`, `log`, `messagesLost`, `owner`, `window`, `attachmentUse`,
        /// `attachmentMissing`, `attachmentDamaged`, `attachmentUnused`.
        public let kind: String
        /// A description of the problem.
        public let message: String
    }

    /// The folder of the history, or `nil` for a history in memory.
    public var directory: String?
    /// The SQLite version of this program.
    public var sqliteVersion: String
    /// The applied schema migrations, oldest first. Empty if the database is too damaged to be read; all counts are
    /// 0 then.
    public var migrations: [String]
    /// The number of users with a history.
    public var userCount: Int
    /// The number of sessions.
    public var sessionCount: Int
    /// The number of messages.
    public var messageCount: Int
    /// The number of messages missing from the search index. The next search adds them.
    public var messagesToIndex: Int
    /// The size of the database, in bytes.
    public var databaseBytes: Int
    /// The size of the write-ahead log, in bytes.
    public var logBytes: Int
    /// The number of stored attachments, each counted once.
    public var attachmentCount: Int
    /// The total size of the attachments, in bytes.
    public var attachmentBytes: Int
    /// The names of damaged files set aside earlier.
    public var setAside: [String]
    /// The losses with damaged files still set aside, the oldest first.
    public var losses: [HistoryLoss] = []
    /// The problems found. An empty list means no problems.
    public var problems: [Problem]
    /// The deleted content not yet erased.
    public var erasure = Erasure()
}
