import ArgumentParser
import Foundation
import Recollect

/// `FileChatStorage` without a budget: turns near the 2,000th compared with turns near the 20th, each in files of its own.
func fileLines(rounds: Int, largeMessage: Int) async throws -> [Line] {
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
                "FileChatStorage without a limit, turn 2,000, \(name); the baseline is turn 20", late, early,
                stretches: rounds, atMost: 1.5
            ))
    }
    return lines + [try largeMessageLine(bytes: largeMessage)]
}

/// A large message saved, then read, each in a process of its own, so that its memory is measured alone.
private func largeMessageLine(bytes: Int) throws -> Line {
    let folder = try Folder()
    let peaks = try [["--save", "\(bytes)"], []].map { options in
        let run = try ChildProcess.run(
            CommandLine.arguments[0], ["large-message-once", folder.path("chats")] + options)
        let reported = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        guard reported.count == 2, reported[0] == bytes else { throw ChildProcess.Failure(description: run.output) }
        return reported[1]
    }
    let peak = peaks.max() ?? 0
    let ratio = Double(peak) / Double(bytes)
    return Line(
        work: "FileChatStorage saves and reads a message, peak resident memory; the baseline is its size",
        ours: megabytes(peak), baseline: megabytes(bytes), ratio: ratio, target: "≤ 3", isMet: ratio <= 3)
}

/// One save or read of a large message, for a process of its own.
struct LargeMessageOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "large-message-once",
        abstract: "Saves a message, or reads it, and prints its bytes, and the memory's peak.", shouldDisplay: false)

    @Option(help: "The number of bytes to save.")
    var save: Int?

    @Argument var path: String

    func run() async throws {
        let store = FileChatStorage(baseURL: URL(fileURLWithPath: path))
        if let save {
            let message = ConversationMessage(id: "large", role: .user, text: String(repeating: "x", count: save))
            try await store.saveMessages(
                [message], userId: "bench", sessionId: "large", agentId: "agent", maxMessages: nil)
            return print(save, ChildProcess.peakMemory)
        }
        let read = try await store.fetch(userId: "bench", sessionId: "large", agentId: "agent", maxMessages: nil)
        print(read.reduce(0) { $0 + $1.text.utf8.count }, ChildProcess.peakMemory)
    }
}
