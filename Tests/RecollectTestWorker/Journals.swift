import Foundation
import RecollectAgents
import RecollectCore

/// `journal FOLDER WRITER COUNT`: adds entries to the journal of user `ada`, agent `scribe`, on one day, and says `noted N` after
/// each. The entries' texts are `WRITER N`.
func journal(_ arguments: [String]) async throws {
    let journal = JournalFolder(baseURL: URL(fileURLWithPath: arguments[0]), timeZone: .gmt)
    let morning = Date(timeIntervalSince1970: 1_795_252_327)
    for number in 0..<(Int(arguments[2]) ?? 0) {
        let entry = JournalEntry(date: morning, text: "\(arguments[1]) \(number)")
        try await journal.append(entry, to: JournalID(userId: "ada", agentId: "scribe"))
        say("noted \(number)")
    }
}
