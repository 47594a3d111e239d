import Foundation
import RecollectCore

/// The messages lost in a salvage of a damaged database. The loss is reported for as long as the damaged file
/// exists.
public struct HistoryLoss: Sendable, Codable, Hashable {
    /// The name of the damaged file, in the history's folder. Remove the file to end the reports.
    public let setAside: String
    /// The date of the salvage.
    public let date: Date
    /// The number of recovered messages, or `nil` if it was not recorded.
    public let recoveredMessages: Int?
    /// The number of messages known to be lost, or `nil` if the original number is unknown.
    public let lostMessages: Int?
    /// The sessions with messages known to be lost, as far as these are known.
    public let sessions: [SessionLoss]

    init(setAside: String, date: Date, recoveredMessages: Int?, lostMessages: Int?, sessions: [SessionLoss]) {
        self.setAside = setAside
        self.date = date
        self.recoveredMessages = recoveredMessages
        self.lostMessages = lostMessages
        self.sessions = sessions
    }

    /// Creates the loss of a salvage known only by its damaged file.
    init(unknownIn setAside: String) {
        self.init(
            setAside: setAside, date: Date(timeIntervalSince1970: 0), recoveredMessages: nil, lostMessages: nil,
            sessions: [])
    }

    /// Whether messages were lost, or may have been.
    var isLoss: Bool { lostMessages != 0 }
}
