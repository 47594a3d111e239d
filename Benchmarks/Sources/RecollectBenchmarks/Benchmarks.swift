import ArgumentParser
import Foundation

/// The benchmarks, by their names on the command line.
enum Work: String, CaseIterable, ExpressibleByArgument {
    case save, relaxed, window, group, files, search, recall, searches, imports, sessions, transcripts, opening,
        migration,
        agents,
        workspace, merging, peers, postgres
}

/// The amounts of data: those promised in the table, or small ones to check that everything runs.
struct Sizes {
    var turns = 100_000
    var messages = 1_000_000
    var rounds = 40
    var imports = 5
    /// In the session library: sessions in a list, messages in a session, messages to migrate.
    var library = 100_000
    /// The sessions streaming at the same time.
    var streams = 1_000
    /// The turns of the chat for other libraries.
    var peerTurns = 500
    /// The files in a workspace.
    var files = 5_000
    /// The bytes of each version of a large file to be merged.
    var mergedBytes = 19_000_000
    /// The bytes of a large message.
    var largeMessage = 100_000_000
    /// The users who share `messages` in PostgreSQL.
    var users = 100

    static let quick = Sizes(
        turns: 4_000, messages: 50_000, rounds: 8, imports: 2, library: 5_000, streams: 100, peerTurns: 60, files: 500,
        mergedBytes: 500_000, largeMessage: 20_000_000)
}

@main
struct Benchmarks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RecollectBenchmarks",
        abstract:
            "Measures Recollect against the bare C API of SQLite, or of the system, both in alternating stretches of one run.",
        subcommands: [Measure.self, ImportOnce.self, MigrateOnce.self, StreamOnce.self, LargeMessageOnce.self],
        defaultSubcommand: Measure.self
    )
}

struct Measure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Measures, and prints a table.")

    @Argument(
        help: "What to measure: \(Work.allCases.map(\.rawValue).joined(separator: ", ")); all where none is named.")
    var works: [Work] = []

    @Flag(help: "Small sizes, to see that everything runs: the numbers mean little.")
    var quick = false

    @Option(
        help: "A folder of Claude Code transcripts to import; else that of the environment's RECOLLECT_SHARED_DATA.")
    var transcripts: String?

    @Option(
        help:
            "With recall: a command that compares texts, such as Benchmarks/embedding-similarity.py, for a reranked search."
    )
    var similarity: String?

    @Option(help: "Also writes the table, with the machine and the versions, to this file.")
    var output: String?

    func run() async throws {
        let sizes = quick ? Sizes.quick : Sizes()
        let report = Report()
        report.begin()
        for work in works.isEmpty ? Work.allCases : works {
            for line in try await lines(of: work, sizes) { report.add(line) }
        }
        if let output { try report.write(to: output, arguments: quick ? " ARGS=--quick" : "") }
    }

    private func lines(of work: Work, _ sizes: Sizes) async throws -> [Line] {
        switch work {
        case .save: try await saveLines(durability: .full, turns: sizes.turns)
        case .relaxed: try await saveLines(durability: .relaxed, turns: sizes.turns)
        case .window: try await windowLines(messages: sizes.messages, rounds: sizes.rounds)
        case .group: try await groupLines(rounds: sizes.rounds)
        case .files: try await fileLines(rounds: sizes.rounds / 2, largeMessage: sizes.largeMessage)
        case .search: try await searchLines(messages: sizes.messages, rounds: sizes.rounds)
        case .recall: try await recallLines(folder: transcriptsFolder, similarity: similarity)
        case .searches: try await listedSearchLines(folder: transcriptsFolder)
        case .imports: try await importLines(folder: transcriptsFolder, runs: sizes.imports)
        case .sessions: try await sessionListLines(sessions: sizes.library, rounds: sizes.rounds)
        case .transcripts: try await transcriptLines(rounds: sizes.rounds)
        case .opening: try await openingLines(messages: sizes.library, rounds: sizes.rounds)
        case .migration: try await migrationLines(messages: sizes.library)
        case .agents: try await agentLines(rounds: sizes.rounds, sessions: sizes.streams)
        case .workspace: try await workspaceLines(files: sizes.files, rounds: sizes.rounds)
        case .peers: try await peerLines(turns: sizes.peerTurns, rounds: 3)
        case .postgres: try await postgresLines(sizes)
        case .merging: try await mergingLines(bytes: sizes.mergedBytes, rounds: 2)
        }
    }

    private var transcriptsFolder: String? {
        transcripts ?? ProcessInfo.processInfo.environment["RECOLLECT_SHARED_DATA"]
    }
}
