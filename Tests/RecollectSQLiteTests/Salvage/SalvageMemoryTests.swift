import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

private let largeCount = ProcessInfo.processInfo.environment["RECOLLECT_LARGE"].flatMap { Int($0) }

/// The memory use of checking, salvaging and repairing a damaged history, measured in a separate process.
@Suite("Memory use of a salvage", .needs(.processes)) struct SalvageMemoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("The memory use of a salvage does not grow with the history")
    func independence() async throws {
        // The smaller database does not fill the caches of all connections, and the peak of one history varies by 5 MB
        // between runs: from 74–79 MB to 81–90 MB, and to 77–87 MB with 72,000 messages. Memory that grows with the
        // history grows by 64 MB here.
        let small = try await peak(messages: 8000, length: 4000)
        let large = try await peak(messages: 24_000, length: 4000)
        #expect(large - small < 24_000, "KB: \(small), \(large); the database grew by 64,000")
        #expect(large < 100_000, "KB: \(small), \(large)")
    }

    /// `RECOLLECT_LARGE=1000000 swift test --filter SalvageMemoryTests`
    @Test("A salvage uses at most 100 MB for any number of messages", .enabled(if: largeCount != nil))
    func large() async throws {
        let count = try #require(largeCount)
        let start = ContinuousClock.now
        let peak = try await peak(messages: count, length: 400)
        print("\(count) messages filled, damaged and repaired in \(ContinuousClock.now - start), peak \(peak) KB")
        #expect(peak < 100_000)
    }

    /// Fills a history, damages one page, repairs it in another process, and returns the peak resident memory in KB.
    private func peak(messages count: Int, length: Int) async throws -> Int {
        let historyFolder = folder.file("\(count)")
        let history = SQLiteHistoryStore(
            directory: historyFolder,
            configuration: HistoryConfiguration(durability: .relaxed, indexesInBackground: false))
        let padding = String(repeating: "x", count: length)
        for start in stride(from: 0, to: count, by: 1000) {
            let batch = (start..<start + 1000).map {
                ConversationMessage(id: "m\($0)", role: .user, text: "\($0) " + padding)
            }
            try await history.append(batch, to: scope)
        }
        await history.close()
        let handle = try FileHandle(forWritingTo: historyFolder.appendingPathComponent("history.sqlite"))
        try handle.seek(toOffset: UInt64(40 * 4096))
        try handle.write(contentsOf: noise(4096, seed: 1))
        try handle.close()
        let lines = try await Worker(["repair", historyFolder.path]).finish()
        return try #require(lines.compactMap { Int($0.dropFirst("peak ".count)) }.first)
    }
}
