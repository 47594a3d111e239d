import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

/// Streaming replies of processes that are killed or stopped, or that share the history with others.
@Suite("Streaming replies of other processes", .needs(.processes)) struct ReplyProcessTests {
    private let folder: TemporaryFolder
    private let scope = Scope(userId: "u", sessionId: "s", agentId: "a")

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.url.path }

    private func locks() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("writers").path)
    }

    @Test(
        "A killed process leaves an interrupted reply with prose and thinking, missing at most the last second",
        arguments: [0, 5])
    func killed(thoughts: Int) async throws {
        try await folder.history().append(messages(0..<1), to: scope)
        let worker = try Worker(["stream", path, "r", "\(thoughts)"])
        _ = await worker.wait(forLines: 150)
        worker.kill()
        let pieces = await worker.finish().compactMap { Int($0) }
        let history = folder.history()
        let saved = try await history.window(of: scope, maxMessages: nil)
        #expect(saved.map(\.id) == ["m0", "r"])
        let reply = try #require(saved.last)
        #expect(reply.isInterrupted && !reply.isStreaming)
        let said = reply.parts.flatMap { part -> [Int] in
            if case .thinking(let piece, _) = part { return Int(piece).map { [$0] } ?? [] }
            return part.text?.split(separator: " ").compactMap { Int($0) } ?? []
        }
        #expect(reply.parts.count { $0.text == nil } == (thoughts == 0 ? 0 : said.count / thoughts))
        // The reply may contain a piece that the worker did not print before it was killed.
        #expect(said.prefix(pieces.count) == pieces.prefix(said.count))
        #expect(!said.isEmpty)
        let last = try #require(pieces.last)
        #expect(try last - #require(said.last) <= 1000, "\(pieces.count - said.count) pieces are missing")
        #expect(try await history.windowOfWholeExchanges(of: scope, maxMessages: nil) == saved)
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        #expect(try locks().isEmpty)
    }

    @Test("A reply of a running or stopped process is left unchanged; after a kill, it is saved")
    func living() async throws {
        let worker = try Worker(["reply", path, "r", "1"])
        _ = await worker.wait(forLines: 1)
        let history = folder.history()
        func isStreaming() async throws -> Bool {
            let replies = try await history.streamingReplies(in: scope.session)
            let saved = try await history.window(of: scope, maxMessages: nil)
            #expect(replies.map(\.message.text) == ["as far as it came"])
            #expect(replies.allSatisfy { $0.message.isStreaming })
            return replies.count == 1 && saved.isEmpty
        }
        #expect(try await isStreaming())
        worker.send(SIGSTOP)
        await history.close()
        #expect(try await isStreaming())
        worker.send(SIGCONT)
        worker.kill()
        _ = await worker.finish()
        // The history is already open, so the reply is found by listing replies.
        #expect(try await history.streamingReplies(in: scope.session).isEmpty)
        let saved = try await history.window(of: scope, maxMessages: nil)
        #expect(saved.map(\.text) == ["as far as it came"])
        #expect(saved.map(\.isInterrupted) == [true])
        #expect(history.events.takeUndelivered().map(\.kind) == [.interruptedReply])
        #expect(try locks().isEmpty)
    }

    @Test("Processes that find the same interrupted replies at the same time save each reply once")
    func atOnce() async throws {
        let worker = try Worker(["reply", path, "r", "30"])
        _ = await worker.wait(forLines: 1)
        worker.kill()
        _ = await worker.finish()
        let finders = try (0..<4).map { _ in try Worker(["recover", path]) }
        var found: [String] = []
        for finder in finders {
            found += await finder.finish()
            #expect(finder.endedWell)
        }
        let ids = (0..<30).map { "r\($0)" }
        #expect(found.sorted() == ids.sorted())
        let saved = try await folder.history().window(of: scope, maxMessages: nil)
        #expect(saved.map(\.id) == ids)
        #expect(saved.allSatisfy { $0.isInterrupted && $0.text == "as far as it came" })
        #expect(try await folder.history().check().problems.isEmpty)
    }
}
