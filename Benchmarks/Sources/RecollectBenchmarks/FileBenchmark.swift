import Foundation
import Recollect

/// `FileChatStorage` without a budget: turns near the 2,000th compared with turns near the 20th, each in files of its own.
func fileLines(rounds: Int) async throws -> [Line] {
    var lines: [Line] = []
    for durability in [Durability.full, .relaxed] {
        let folder = try Folder()
        let store = FileChatStorage(baseURL: folder.url, durability: durability)
        func save(_ turn: Int, in session: String) async throws -> UInt64 {
            let messages = Turn.messages(turn)
            return try await time {
                try await store.saveMessages(
                    messages, userId: "bench", sessionId: session, agentId: "agent", maxMessages: nil)
            }
        }
        for turn in 0..<1950 { _ = try await save(turn, in: "long") }
        var (late, early) = (Samples(), Samples())
        // Five turns of the long file and twenty of a new one alternate, so that noise affects both.
        for round in 0..<rounds {
            for turn in 0..<30 {
                let taken = try await save(turn, in: "short \(round)")
                if turn >= 10 { early.add(taken) }
            }
            for turn in 0..<5 { late.add(try await save(1950 + round * 5 + turn, in: "long")) }
        }
        let name = durability == .full ? "`.full`" : "`.relaxed`"
        lines.append(
            Line(
                "FileChatStorage, uncapped, turn 2,000, \(name), the floor here being turn 20", late, early,
                stretches: rounds, atMost: 1.5
            ))
    }
    return lines
}
