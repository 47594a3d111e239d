import Foundation
import RecollectTestSupport
import Testing

@testable import RecollectCore
@testable import RecollectSQLite

@Suite("Operations on sessions") @MainActor struct SessionOperationQueueTests {
    private let queue = SessionOperationQueue()
    private let ended = Locked<[String]>([])

    /// Begins an operation that runs until the gate is open.
    private func begin(_ name: String, on ids: [String]?, until gate: Gate? = nil) -> Task<Void, any Error> {
        Task {
            try await queue.run(on: ids) {
                try? await gate?.wait()
                ended.withLock { $0.append(name) }
            }
        }
    }

    private func waitForEnds(_ count: Int) async throws {
        while ended.withLock({ $0.count < count }) { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test("Operations on one session run in the order of the calls, also after a failed one")
    func order() async throws {
        let gate = Gate()
        let first = begin("first", on: ["s"], until: gate)
        let failing = Task { try await queue.run(on: ["s"]) { throw CocoaError(.featureUnsupported) } }
        let others = (0..<100).map { begin("\($0)", on: ["s"]) }
        gate.open()
        try await first.value
        await #expect(throws: CocoaError.self) { try await failing.value }
        for other in others { try await other.value }
        #expect(ended.withLock(\.self) == ["first"] + (0..<100).map(String.init))
    }

    @Test("Operations on different sessions run concurrently, and those on both wait for each")
    func concurrent() async throws {
        let (one, other) = (Gate(), Gate())
        let tasks = [
            begin("s", on: ["s"], until: one), begin("t", on: ["t"], until: other), begin("both", on: ["s", "t"]),
            begin("s again", on: ["s"]), begin("u", on: ["u"]),
        ]
        try await waitForEnds(1)
        other.open()
        try await waitForEnds(2)
        one.open()
        for task in tasks { try await task.value }
        #expect(ended.withLock(\.self) == ["u", "t", "s", "both", "s again"])
    }

    @Test("An operation on all sessions waits for all earlier ones, and later ones wait for it")
    func all() async throws {
        let gate = Gate()
        let tasks = [
            begin("s", on: ["s"], until: gate), begin("t", on: ["t"]), begin("all", on: nil), begin("u", on: ["u"]),
            begin("all again", on: nil), begin("s again", on: ["s"]),
        ]
        try await waitForEnds(1)
        try await Task.sleep(for: .milliseconds(20))
        #expect(ended.withLock(\.self) == ["t"])
        gate.open()
        for task in tasks { try await task.value }
        #expect(ended.withLock(\.self) == ["t", "s", "all", "u", "all again", "s again"])
    }

    @Test("A canceled operation does not wait, and no later one overtakes an earlier one")
    func canceled() async throws {
        let gate = Gate()
        let first = begin("first", on: ["s"], until: gate)
        let waiting = begin("canceled", on: ["s"])
        let last = begin("last", on: ["s"])
        await Task.yield()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        try await Task.sleep(for: .milliseconds(20))
        #expect(ended.withLock(\.self).isEmpty)
        gate.open()
        try await first.value
        try await last.value
        #expect(ended.withLock(\.self) == ["first", "last"])
        try await begin("next", on: ["s"]).value
    }

    @Test("An operation that has begun is not canceled by the queue")
    func canceledAfterBeginning() async throws {
        let gate = Gate()
        let running = begin("running", on: ["s"], until: gate)
        await Task.yield()
        running.cancel()
        try await running.value
        #expect(ended.withLock(\.self) == ["running"])
    }
}
