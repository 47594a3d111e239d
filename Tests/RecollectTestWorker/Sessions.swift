import Foundation
import RecollectCore
import RecollectSQLite

/// `sessions FOLDER WRITER COUNT`: saves transcripts of its own entries into session `s`, two entries more each time and the first
/// edited, and says `saved N` after each; renames `s` to `t` or back after every third. The entries' texts are `WRITER N`.
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

/// `branches FOLDER`: for ever appends a turn to session `s`, branches before it and brings the branch back, and says `saved N`
/// after each turn.
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
