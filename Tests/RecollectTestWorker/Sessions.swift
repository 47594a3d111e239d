import Foundation
import RecollectCore
import RecollectSQLite

/// `sessions FOLDER WRITER COUNT`: saves transcripts of its own entries in session `s`, each time with two more entries
/// and the first entry edited, and prints `saved N` after each. After every third, it renames `s` to `t` or back. The
/// entries' texts are `WRITER N`.
func sessions(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0]))
    let storage = SQLiteSessionStorage(history: history, userId: "u", agentId: arguments[1])
    var transcript = [ChatMessage(role: .user, content: "\(arguments[1]) begins")]
    for number in 0..<(Int(arguments[2]) ?? 0) {
        transcript[0].content = "\(arguments[1]) begins, \(number) saved"
        for role in [MessageRole.user, .assistant] {
            transcript.append(ChatMessage(role: role, content: "\(arguments[1]) \(number)"))
        }
        try await storage.updateSessionMessages(id: "s", messages: transcript)
        say("saved \(number)")
        switch number % 6 {
        case 2: try await storage.updateSessionId(oldId: "s", newId: "t")
        case 5: try await storage.updateSessionId(oldId: "t", newId: "s")
        default: break
        }
    }
}

/// `branches FOLDER`: repeatedly appends a turn to session `s`, prints `saved ID`, branches before the turn, and
/// restores the branch.
func branches(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0]))
    let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
    let writer = UUID().uuidString
    for number in 0... {
        let turn = turn(number, of: writer)
        try await history.append(turn, to: scope)
        say("saved \(turn[0].id)")
        let branch = try await history.branch(scope.session, from: turn[0].id)
        try await history.restoreBranch(branch, in: scope.session)
    }
}
