import Foundation
import RecollectCore
import Testing

/// The seeds of every test of random input.
///
/// `make test` runs the same seeds each time. `make soak` draws new ones until its time, `RECOLLECT_SOAK_SECONDS`, is
/// over, and prints the number of seeds of each test. `make quick` runs one in twenty of the fixed seeds.
/// `RECOLLECT_SEED` runs only one seed. An issue names its seed and the command that repeats it.
package enum Seeds {
    /// Runs a check once for each seed, in order, and stops at the first seed with an issue.
    ///
    /// An error that the check throws is an issue. The task yields between seeds, so other tests get their turn.
    ///
    /// - Parameters:
    ///   - count: The number of seeds; a soak takes as many as its time allows, at least one.
    ///   - first: The first of the fixed seeds; the others follow it. Tests in parts give each part its own.
    ///   - check: The check of one seed.
    nonisolated(nonsending) package static func run(
        _ count: Int, from first: UInt64 = 1, _ check: @escaping (UInt64) async throws -> Void
    ) async {
        switch mode {
        case .fixed:
            let count = Need.isNoneMet ? (count + 19) / 20 : count
            for seed in first..<(first + UInt64(count)) {
                guard await passes(seed, check) else { return }
            }
        case .one(let seed):
            _ = await passes(seed, check)
        case .soak(let end):
            var count = 0
            defer { print("Seeds: \(count) of \(Test.current?.displayName ?? "a test")") }
            repeat {
                count += 1
                guard await passes(.random(in: 0 ... .max), check) else { return }
            } while ContinuousClock.now < end
        }
    }

    /// Whether all fixed seeds are run, so that a test can check how often something happens in them.
    package static var areFixed: Bool {
        if case .fixed = mode { !Need.isNoneMet } else { false }
    }

    /// Whether one seed is repeated, so that a failure can be reported in detail.
    package static var isOne: Bool {
        if case .one = mode { true } else { false }
    }

    private enum Mode {
        case fixed
        case one(UInt64)
        case soak(until: ContinuousClock.Instant)
    }

    private static let mode: Mode = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["RECOLLECT_SEED"].flatMap(UInt64.init) { return .one(seed) }
        guard let seconds = environment["RECOLLECT_SOAK_SECONDS"].flatMap(Int.init) else { return .fixed }
        return .soak(until: .now + .seconds(seconds))
    }()

    /// Runs a check with one seed; returns whether it recorded no issue.
    nonisolated(nonsending) private static func passes(
        _ seed: UInt64, _ check: @escaping (UInt64) async throws -> Void
    ) async -> Bool {
        await Task.yield()
        guard let test = Test.current else {
            Issue.record("Seeds.run outside a test")
            return false
        }
        let hasIssue = Locked(false)
        let naming = IssueHandlingTrait.compactMapIssues { issue in
            hasIssue.withLock { $0 = true }
            var issue = issue
            issue.comments.append("repeat it: \(command(test, seed))")
            return issue
        }
        let running = RunningSeed(command(test, seed))
        defer { running?.end() }
        // The scope runs the check before it returns, and the check is not used elsewhere meanwhile.
        nonisolated(unsafe) let check = check
        do {
            try await naming.provideScope(for: test, testCase: Test.Case.current) {
                do {
                    try await check(seed)
                } catch {
                    // `#require` throws after it has recorded its issue.
                    if !hasIssue.withLock({ $0 }) { Issue.record(error, "seed \(seed)") }
                }
            }
        } catch {
            Issue.record(error, "seed \(seed)")
        }
        return !hasIssue.withLock { $0 }
    }

    /// The command that repeats a seed.
    private static func command(_ test: Test, _ seed: UInt64) -> String {
        let names = test.id.nameComponents.map { String($0.prefix { $0 != "(" }) }
        let filter = test.id.moduleName + "." + names.joined(separator: "/")
        #if AsyncHTTPClient && Postgres
            let traits = " --traits CommandLine,AsyncHTTPClient,Postgres"
        #elseif AsyncHTTPClient
            let traits = " --traits CommandLine,AsyncHTTPClient"
        #elseif CommandLine
            let traits = " --traits CommandLine"
        #else
            let traits = ""
        #endif
        return "RECOLLECT_SEED=\(seed) swift test\(traits) --filter '\(filter)'"
    }
}

/// A file that names the seed of a running check in a soak, because a check that ends the process records no issue.
private struct RunningSeed {
    private let url: URL

    init?(_ command: String) {
        guard let folder = ProcessInfo.processInfo.environment["RECOLLECT_SOAK_FOLDER"] else { return nil }
        url = URL(fileURLWithPath: folder).appendingPathComponent(UUID().uuidString)
        // The soak also works without the file.
        try? Data((command + "\n").utf8).write(to: url)
    }

    func end() {
        try? FileManager.default.removeItem(at: url)
    }
}
