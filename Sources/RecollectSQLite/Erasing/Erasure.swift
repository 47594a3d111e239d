import Foundation
import RecollectCore

/// The deleted content not yet erased.
///
/// Content is permanently hidden from every read once its deletion has returned. Its bytes may remain for a while:
/// in the search index, in files, and in the log as long as another process reads an older state. They are erased
/// in the background, in small steps, by this process or by the next one opening the history.
public struct Erasure: Sendable, Codable, Hashable {
    /// The number of deleted sessions with remaining messages.
    public var sessionCount = 0
    /// The number of deleted attachments with remaining files.
    public var attachmentCount = 0
    /// The number of damaged files set aside, and of leftovers of interrupted work, not yet removed.
    public var fileCount = 0
    /// Whether the search index may contain words of deleted messages.
    public var isIndexPending = false
    /// Whether deleted text may be in the write-ahead log or, until the log is moved into the database, in the
    /// database file.
    public var isLogPending = false

    /// Whether all deleted content has been erased from the files.
    public var isComplete: Bool { self == Erasure() }
}
