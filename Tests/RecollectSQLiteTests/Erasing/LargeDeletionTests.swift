import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

private let largeCount = ProcessInfo.processInfo.environment["RECOLLECT_LARGE"].flatMap { Int($0) }

/// Deletions in a large history, with measurements: `RECOLLECT_LARGE=200000 swift test --filter LargeDeletionTests`.
@Suite("Large deletions", .enabled(if: largeCount != nil)) struct LargeDeletionTests {
    @Test("In a history of any size, a deletion returns within 100 ms, saves continue, and all is erased")
    func large() async throws {
        let count = try #require(largeCount)
        let folder = try TemporaryFolder()
        let history = folder.history(durability: .relaxed)
        var random = SeededGenerator(seed: 11)
        let words = (0..<20_000).map { "w\($0)" }
        func text() -> String {
            (0..<40).map { _ in words[Int(Double(words.count) * pow(.random(in: 0..<1, using: &random), 4))] }
                .joined(separator: " ")
        }
        let half = Scope(userId: "ann", sessionId: "half", agentId: "a")
        for start in stride(from: 0, to: count, by: 1000) {
            let batch = (start..<start + 1000).map {
                ConversationMessage(id: "m\($0)", role: $0.isMultiple(of: 2) ? .user : .assistant, text: text())
            }
            let session = Scope(userId: "ann", sessionId: "s\(start % 100_000)", agentId: "a")
            try await history.append(batch, to: start < count / 2 ? half : session)
        }
        let secret = ConversationMessage(id: "secret", role: .user, text: "quetzalcoatl")
        try await history.append([secret], to: scope)
        try await history.indexEverything()
        for session in [scope.session, half.session] {
            let start = ContinuousClock.now
            #expect(try await history.deleteSession(session))
            let returned = ContinuousClock.now - start
            var slowest = Duration.zero
            var saves = 0
            while try await !history.erasure().isComplete {
                let begin = ContinuousClock.now
                try await history.append(
                    messages(saves..<saves + 1), to: Scope(userId: "bob", sessionId: "s", agentId: "a"))
                slowest = max(slowest, ContinuousClock.now - begin)
                saves += 1
            }
            print(
                "\(count) messages: returned \(returned), erased \(ContinuousClock.now - start), \(saves) saves, slowest \(slowest)"
            )
            #expect(returned < .milliseconds(100))
        }
        #expect(try await history.traces(of: "quetzalcoatl") == [])
        #expect(try await history.check().problems.isEmpty)
    }
}
