import Foundation
import RecollectCore
import RecollectTestSupport
import Testing

@testable import RecollectAgents

@Suite("Turn queue", .timeLimit(.minutes(10)))
struct TurnQueueTests {
    private final class Held: Sendable {}

    @Test("The queue releases turns that have ended or were stopped")
    func holdsNothing() async throws {
        let queue = TurnQueue()
        let reached = Gate()
        weak var weakly: Held?
        do {
            let held = Held()
            weakly = held
            for number in 0..<100 {
                let session = SessionKey(userId: "user", sessionId: "\(number % 10)")
                _ = queue.add(to: session) {
                    if number == 99 {
                        reached.open()
                        try? await Gate().wait()
                    }
                    withExtendedLifetime(held) {}
                }
            }
        }
        try await reached.wait()
        #expect(weakly != nil)
        await queue.stop(SessionKey(userId: "user", sessionId: "9"))
        await queue.waitUntilIdle()
        #expect(weakly == nil)
    }

    @Test("Stopping a session cancels its waiting turns before the running one, so that none of them begins")
    func stopsLastFirst() async throws {
        let queue = TurnQueue()
        let session = SessionKey(userId: "user", sessionId: "session")
        let waiting = Locked<[Task<Void, Never>]>([])
        let wereStopped = Locked<[Bool]>([])
        let reached = Gate()
        _ = queue.add(to: session) {
            await withTaskCancellationHandler {
                reached.open()
                try? await Gate().wait()
            } onCancel: {
                let tasks = waiting.withLock { $0 }
                wereStopped.withLock { $0 = tasks.map(\.isCancelled) }
            }
        }
        for _ in 0..<4 {
            let task = try #require(queue.add(to: session) {})
            waiting.withLock { $0.append(task) }
        }
        try await reached.wait()
        await queue.stop(session)
        #expect(wereStopped.withLock { $0 } == [true, true, true, true])
    }

    /// How a turn waits for the turns of another queue.
    enum Wait: CaseIterable {
        case untilIdle, stop

        func callAsFunction(_ queue: TurnQueue, _ session: SessionKey) async {
            switch self {
            case .untilIdle: await queue.waitUntilIdle()
            case .stop: await queue.stop(session)
            }
        }
    }

    @Test("Turns of two queues never wait for each other's ends", arguments: Wait.allCases)
    func circle(_ wait: Wait) async throws {
        let queues = [TurnQueue(), TurnQueue()]
        let session = SessionKey(userId: "user", sessionId: "session")
        let haveBegun = [Gate(), Gate()]
        for (own, other) in [(0, 1), (1, 0)] {
            _ = queues[own].add(to: session) {
                haveBegun[own].open()
                await Task { try? await haveBegun[other].wait() }.value
                await wait(queues[other], session)
            }
        }
        for queue in queues { await queue.waitUntilIdle() }
    }

    @Test("A turn can add to the queue of a turn that waits for it, without a deadlock", arguments: Wait.allCases)
    func addsBehindWaiting(_ wait: Wait) async throws {
        let (outer, inner) = (TurnQueue(), TurnQueue())
        let session = SessionKey(userId: "user", sessionId: "session")
        let hasBegun = Gate()
        _ = outer.add(to: session) {
            try? await hasBegun.wait()
            await wait(inner, session)
        }
        _ = inner.add(to: session) {
            hasBegun.open()
            // Refused if the outer turn already waits. Otherwise the outer turn does not wait.
            await outer.add(to: session) {}?.value
        }
        for queue in [outer, inner] { await queue.waitUntilIdle() }
    }

    @Test("A turn waits for the turns of another queue", arguments: Wait.allCases)
    func waitsInTurn(_ wait: Wait) async throws {
        let (outer, inner) = (TurnQueue(), TurnQueue())
        let session = SessionKey(userId: "user", sessionId: "session")
        let (hasBegun, mayEnd, hasEnded) = (Gate(), Gate(), Locked(false))
        let hadEnded = Locked(false)
        _ = inner.add(to: session) {
            hasBegun.open()
            await Task { try? await mayEnd.wait() }.value
            hasEnded.withLock { $0 = true }
        }
        try await hasBegun.wait()
        _ = outer.add(to: session) {
            await wait(inner, session)
            let value = hasEnded.withLock { $0 }
            hadEnded.withLock { $0 = value }
        }
        for _ in 0..<100 { await Task.yield() }
        mayEnd.open()
        await outer.waitUntilIdle()
        #expect(hadEnded.withLock { $0 })
    }

    @Test("A new queue is not confused with a released one at the same address")
    func newQueueAtOldAddress() async throws {
        let session = SessionKey(userId: "user", sessionId: "session")
        let left = try #require(TurnQueue().add(to: session) { try? await Gate().wait() })
        for _ in 0..<100 where !left.isCancelled { await TurnQueue().stop(session) }
        #expect(!left.isCancelled)
        left.cancel()
    }

    @Test("A turn can stop and await a thousand queued turns", arguments: Wait.allCases)
    func manyQueued(_ wait: Wait) async throws {
        let (outer, inner) = (TurnQueue(), TurnQueue())
        let session = SessionKey(userId: "user", sessionId: "session")
        let mayWait = Gate()
        _ = outer.add(to: session) {
            try? await mayWait.wait()
            await wait(outer, session)
            await wait(inner, session)
        }
        for queue in [outer, inner] {
            for _ in 0..<1000 { _ = queue.add(to: session) { try? await mayWait.wait() } }
        }
        mayWait.open()
        await outer.waitUntilIdle()
    }

    @Test("Code left over from an ended turn can add and await turns, even if a turn waited for the ended one")
    func leftover() async throws {
        let (waiting, awaited) = (TurnQueue(), TurnQueue())
        let session = SessionKey(userId: "user", sessionId: "session")
        let (hasBegun, mayEnd, mayEndLater) = (Gate(), Gate(), Gate())
        let leftover = Locked<Task<[Bool], Never>?>(nil)
        let hasEnded = Locked(false)
        _ = awaited.add(to: SessionKey(userId: "user", sessionId: "other")) { try? await mayEndLater.wait() }
        let turn = Locked<Task<Void, Never>?>(nil)
        let first = try #require(
            awaited.add(to: session) {
                let left = Task {
                    await turn.withLock { $0 }?.value
                    let isAdded = waiting.add(to: session) {} != nil
                    mayEndLater.open()
                    await waiting.waitUntilIdle()
                    return [isAdded, hasEnded.withLock { $0 }]
                }
                leftover.withLock { $0 = left }
                try? await mayEnd.wait()
            })
        turn.withLock { $0 = first }
        _ = waiting.add(to: session) {
            hasBegun.open()
            await awaited.waitUntilIdle()
            for _ in 0..<100 { await Task.yield() }
            hasEnded.withLock { $0 = true }
        }
        try await hasBegun.wait()
        for _ in 0..<100 { await Task.yield() }
        mayEnd.open()
        await first.value
        #expect(await leftover.withLock { $0 }?.value == [true, true])
    }

    @Test("A chain of turns begun by leftover code accumulates no ended turns")
    func chain() async throws {
        let queue = TurnQueue()
        let counts = Locked<[Int]>([])
        @Sendable func add(_ left: Int, after last: Task<Void, Never>?) async {
            await last?.value
            let own = Locked<Task<Void, Never>?>(nil)
            let isKnown = Gate()
            let added = queue.add(to: SessionKey(userId: "user", sessionId: "session")) {
                counts.withLock { $0.append(TurnQueue.enclosingTurns.count) }
                try? await isKnown.wait()
                guard left > 0 else { return }
                // The turn ends before the next one begins.
                Task { [task = own.withLock { $0 }] in await add(left - 1, after: task) }
            }
            own.withLock { $0 = added }
            isKnown.open()
        }
        await add(20, after: nil)
        while counts.withLock({ $0.count }) < 21 { await Task.yield() }
        #expect(counts.withLock { $0 }.allSatisfy { $0 == 1 })
    }
}
