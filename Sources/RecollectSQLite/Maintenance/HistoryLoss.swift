import Foundation
import RecollectCore

/// What a salvage could not read of a damaged database. It is told for as long as the damaged file is kept.
public struct HistoryLoss: Sendable, Codable, Hashable {
    /// The name of the damaged file, in the history's folder. Remove it, and nothing is told any more.
    public let setAside: String
    /// When the database was salvaged.
    public let date: Date
    /// How many messages were recovered; `nil` where that was not kept.
    public let recoveredMessages: Int?
    /// How many messages are known to be lost; `nil` where nothing tells how many there were.
    public let lostMessages: Int?
    /// The sessions of which messages are known to be lost, where it is known of which.
    public let sessions: [SessionLoss]

    init(setAside: String, date: Date, recoveredMessages: Int?, lostMessages: Int?, sessions: [SessionLoss]) {
        self.setAside = setAside
        self.date = date
        self.recoveredMessages = recoveredMessages
        self.lostMessages = lostMessages
        self.sessions = sessions
    }

    /// A salvage of which nothing but its files is known.
    init(unknownIn setAside: String) {
        self.init(
            setAside: setAside, date: Date(timeIntervalSince1970: 0), recoveredMessages: nil, lostMessages: nil,
            sessions: [])
    }

    /// Whether anything was lost, or may have been.
    var isLoss: Bool { lostMessages != 0 }
}
