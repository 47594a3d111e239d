import ArgumentParser
import Foundation
import Recollect

/// Migrates sessions from one library to another, in a process of its own for each size, so that its memory is measured alone.
func migrationLines(messages count: Int) async throws -> [Line] {
    let few = count / 10
    let small = try migrateOnce(few)
    let large = try migrateOnce(count)
    let growth = Double(large.peak) / Double(small.peak)
    return [
        Line(
            work: "migrate \(count) messages in sessions of 100 between two libraries, verified",
            ours: Line.text(Double(large.nanoseconds) / 1000)),
        Line(
            work: "the same, peak resident memory; the baseline is \(few) messages",
            ours: megabytes(large.peak), baseline: megabytes(small.peak), ratio: growth, target: "≤ 1.5",
            isMet: growth <= 1.5),
    ]
}

private func migrateOnce(_ messages: Int) throws -> (nanoseconds: UInt64, peak: Int) {
    let folder = try Folder()
    _ = try ChildProcess.run(
        CommandLine.arguments[0], ["migrate-once", "--fill", "\(messages)", folder.path("from"), folder.path("to")])
    let run = try ChildProcess.run(CommandLine.arguments[0], ["migrate-once", folder.path("from"), folder.path("to")])
    let reported = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard reported.count == 2, reported[0] == messages else {
        throw ChildProcess.Failure(description: "not \(messages) messages: \(run.output)")
    }
    return (run.nanoseconds, reported[1])
}

/// One migration, for a process of its own.
struct MigrateOnce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate-once", abstract: "Migrates, and prints how many messages, and the memory's peak.",
        shouldDisplay: false)

    @Option(help: "Only fill the source with so many messages.")
    var fill: Int?

    @Argument var from: String
    @Argument var to: String

    func run() async throws {
        let source = SQLiteSessionStorage(history: history(from))
        if let fill {
            for session in 0..<fill / 100 {
                try await source.saveSession(id: "session \(session)", firstMessage: Turn.question)
                let messages = (0..<50).flatMap { Turn.messages(session * 50 + $0) }.flatMap { $0.chatMessages() }
                try await source.updateSessionMessages(id: "session \(session)", messages: messages)
            }
            return
        }
        let report = try await source.migrate(to: SQLiteSessionStorage(history: history(to)))
        print(report.messageCount, ChildProcess.peakMemory)
    }

    private func history(_ path: String) -> SQLiteHistoryStore {
        SQLiteHistoryStore(
            directory: URL(fileURLWithPath: path), configuration: HistoryConfiguration(durability: .relaxed))
    }
}
