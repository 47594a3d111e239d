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

    @Test("begins no turn of those that are stopped, though the one before them ends first")
    func stopsLastFirst() async {
        let queue = TurnQueue()
        let conversation = ConversationID(userId: "user", sessionId: "session")
        for _ in 0..<200 {
            let uncancelled = Locked(0)
            for _ in 0..<8 {
                _ = queue.add(to: conversation) {
                    if !Task.isCancelled { uncancelled.withLock { $0 += 1 } }
                    while !Task.isCancelled { await Task.yield() }
                }
            }
            await queue.stop(conversation)
            #expect(uncancelled.withLock { $0 } <= 1)
        }
    }
}
