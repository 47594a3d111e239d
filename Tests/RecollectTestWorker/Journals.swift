import Foundation
import RecollectBuiltInAgents
import RecollectCore
import RecollectWorkspace

/// `journal FOLDER WRITER COUNT`: appends entries to the journal of user `ada`, agent `scribe`, on one day, and prints
/// `noted N` after each. The entries' texts are `WRITER N`.
func journal(_ arguments: [String]) async throws {
    let journal = JournalFolder(baseURL: URL(fileURLWithPath: arguments[0]), timeZone: .gmt)
    let morning = Date(timeIntervalSince1970: 1_795_252_327)
    for number in 0..<(Int(arguments[2]) ?? 0) {
        let entry = JournalEntry(date: morning, text: "\(arguments[1]) \(number)")
        try await journal.append(entry, to: JournalID(userId: "ada", agentId: "scribe"))
        say("noted \(number)")
    }
}

/// `entries ROOT STATE WRITER COUNT`: the same in a workspace's journal of agent `scribe`.
func entries(_ arguments: [String]) async throws {
    let workspace = try SharedWorkspace(
        root: URL(fileURLWithPath: arguments[0]),
        configuration: WorkspaceConfiguration(stateURL: URL(fileURLWithPath: arguments[1])))
    let journal = WorkspaceJournal(workspace: workspace, timeZone: .gmt)
    let morning = Date(timeIntervalSince1970: 1_795_252_327)
    for number in 0..<(Int(arguments[3]) ?? 0) {
        try await journal.write("\(arguments[2]) \(number)", by: .agent("scribe"), at: morning)
        say("noted \(number)")
    }
}
