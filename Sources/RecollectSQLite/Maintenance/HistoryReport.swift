import Foundation

/// What a look at a history's files found: what `recall doctor` prints.
public struct HistoryReport: Sendable, Codable {
    /// Something that is not as it should be.
    public struct Problem: Sendable, Codable, Hashable {
        /// What kind of problem it is, stable across versions: `integrity`, `messageCount`, `messageId`, `contentDamaged`,
        /// `searchIndex`, `log`, `messagesLost`, `owner`, `window`, `attachmentMissing`, `attachmentDamaged`, `attachmentUnused`.
        public let kind: String
        /// What is wrong, in words.
        public let message: String
    }

    /// The folder of the history; absent for one in memory.
    public var directory: String?
    /// The version of SQLite that this program runs with.
    public var sqliteVersion: String
    /// The schema's migrations that were applied, oldest first; empty where the database is too damaged to tell, and then the
    /// counts of what it holds are 0.
    public var migrations: [String]
    /// How many users have a history here.
    public var users: Int
    /// How many conversations there are.
    public var conversations: Int
    /// How many messages there are.
    public var messages: Int
    /// How many messages the search index has yet to take in; the next search does.
    public var messagesToIndex: Int
    /// The size of the database, in bytes.
    public var databaseBytes: Int
    /// The size of the write-ahead log, in bytes.
    public var logBytes: Int
    /// How many attachments are kept, each counted once.
    public var attachments: Int
    /// Their size, in bytes.
    public var attachmentBytes: Int
    /// Damaged files that were set aside, by name.
    public var setAside: [String]
    /// What was lost with damaged files that are still set aside, the oldest first.
    public var losses: [HistoryLoss] = []
    /// What is not as it should be; empty is good.
    public var problems: [Problem]
    /// What is left to be erased of what was deleted.
    public var erasure = Erasure()
}
