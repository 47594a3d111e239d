import Foundation
import RecollectSQLite

/// `repair FOLDER`: repairs the history and prints `repaired`, then `peak N`: the process's peak resident memory in KB,
/// as counted by Linux.
func repair(_ arguments: [String]) async throws {
    let history = SQLiteHistoryStore(directory: URL(fileURLWithPath: arguments[0]))
    try await history.repair()
    await history.close()
    say("repaired")
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
        say("peak \(line.split(whereSeparator: { !$0.isNumber }).first ?? "0")")
    }
}
