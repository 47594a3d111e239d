import Foundation
import RecollectCore
import Testing

@testable import RecollectAgents

@Suite("The queue of turns")
struct TurnQueueTests {
    private final class Held: Sendable {}

    @Test("holds nothing of a turn that has ended or was stopped")
    func holdsNothing() async throws {
        let queue = TurnQueue()
        let reached = Gate()
        weak var weakly: Held?
        do {
            let held = Held()
            weakly = held
            for number in 0..<100 {
                let conversation = ConversationID(userId: "user", sessionId: "\(number % 10)")
                _ = queue.add(to: conversation) {
                    if number == 99 {
                        await reached.open()
                        try? await Gate().wait()
                    }
                    withExtendedLifetime(held) {}
                }
            }
        }
        try await reached.wait()
        #expect(weakly != nil)
        await queue.stop(ConversationID(userId: "user", sessionId: "9"))
        await queue.waitUntilIdle()
        #expect(weakly == nil)
    }

    @Test("stops those that wait before the one that runs, so that its end lets none of them begin")
    func stopsLastFirst() async throws {
        let queue = TurnQueue()
        let conversation = ConversationID(userId: "user", sessionId: "session")
        let waiting = Locked<[Task<Void, Never>]>([])
        let wereStopped = Locked<[Bool]>([])
        let reached = Gate()
        _ = queue.add(to: conversation) {
            await withTaskCancellationHandler {
                await reached.open()
                try? await Gate().wait()
            } onCancel: {
                let tasks = waiting.withLock { $0 }
                wereStopped.withLock { $0 = tasks.map(\.isCancelled) }
            }
        }
        for _ in 0..<4 {
            let task = try #require(queue.add(to: conversation) {})
            waiting.withLock { $0.append(task) }
        }
        try await reached.wait()
        await queue.stop(conversation)
        #expect(wereStopped.withLock { $0 } == [true, true, true, true])
    }
}
