import Foundation
import RecollectCore

/// Checks of the leases of turns.
enum LeaseChecks {
    static let all: [HistoryStoreCheck] = [
        HistoryStoreCheck(
            "leases.oneTurnAtATime", rule: 6,
            "Turns with a lease of a session run one after the other, and turns of other sessions meanwhile.",
            needs: [.leases, .concurrent]
        ) { store in
            let running = Locked(0)
            let isApart = Locked(true)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        try await store.withLease(of: Self.session) {
                            let count = running.withLock { running in
                                running += 1
                                return running
                            }
                            if count != 1 { isApart.withLock { $0 = false } }
                            for part in 0..<3 {
                                try await store.append([SampleData.message(.user, "\(number).\(part)")], to: .plain)
                            }
                            running.withLock { $0 -= 1 }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try expect(isApart.withLock { $0 }, "one turn at a time", actual: "turns at the same time")
            let ids = try await store.window(of: .plain, maxMessages: nil).map(\.id)
            for turn in stride(from: 0, to: ids.count, by: 3) {
                let number = ids[turn].prefix { $0 != "." }
                try expectEqual(
                    Array(ids[turn..<turn + 3]), (0..<3).map { "\(number).\($0)" }, "the messages of a turn, together")
            }
            try await store.withLease(of: Self.session) {
                try await store.withLease(of: Scope.plain.session("other").session) {}
            }
        },
        HistoryStoreCheck(
            "leases.inOrder", "Waiting turns get the lease in the order of their calls, each with a greater token.",
            needs: [.leases, .concurrent]
        ) { store in
            guard let first = try await store.lease(of: Self.session, for: .seconds(30)) else {
                throw BrokenPromise(expected: "a lease", actual: "none")
            }
            let tokens = Locked<[Int64]>([])
            var waiting: [Task<Void, any Error>] = []
            for _ in 0..<4 {
                let task = Task {
                    guard let lease = try await store.lease(of: Self.session, for: .seconds(30)) else { return }
                    tokens.withLock { $0.append(lease.token) }
                    await lease.release()
                }
                waiting.append(task)
            }
            await first.release()
            for task in waiting { try await task.value }
            let order = [first.token] + tokens.withLock { $0 }
            try expectEqual(order, order.sorted(), "the tokens")
            try expectEqual(Set(order).count, 5, "the number of different tokens")
        },
        HistoryStoreCheck(
            "leases.cancellation", "A canceled call gets no lease, and delays no other turn.",
            needs: [.leases, .concurrent]
        ) { store in
            guard let first = try await store.lease(of: Self.session, for: .seconds(30)) else {
                throw BrokenPromise(expected: "a lease", actual: "none")
            }
            let canceled = Task { try await store.lease(of: Self.session, for: .seconds(30)) }
            let next = Task { try await store.lease(of: Self.session, for: .seconds(30)) }
            canceled.cancel()
            await first.release()
            do {
                let lease = try await canceled.value
                throw BrokenPromise(
                    expected: "CancellationError", actual: lease.map { "a lease with token \($0.token)" } ?? "nil")
            } catch is CancellationError {}
            let lease = try await next.value
            try expect(lease != nil, "a lease after that of a canceled call", actual: "none")
            await lease?.release()
        },
        HistoryStoreCheck(
            "leases.nested", "A turn cannot wait for itself: a lease of its own session is refused inside it.",
            needs: .leases
        ) { store in
            try await store.withLease(of: Self.session) {
                try await expectError(.invalidArgument, "a lease of the session of the turn") {
                    _ = try await store.lease(of: Self.session, for: .seconds(30))
                }
            }
            for duration in [Duration.zero, .seconds(3_601)] {
                try await expectError(.invalidArgument, "a lease of \(duration)") {
                    _ = try await store.lease(of: Self.session, for: duration)
                }
            }
        },
        HistoryStoreCheck(
            "leases.tasksAfterTurn", "A task begun in a turn can write after the end of the turn.",
            needs: [.leases, .concurrent]
        ) { store in
            let hasEnded = Locked(false)
            let late = try await store.withLease(of: Self.session) {
                Task {
                    while !hasEnded.withLock({ $0 }) { await Task.yield() }
                    try await store.append([SampleData.message(.user, "late")], to: .plain)
                }
            }
            hasEnded.withLock { $0 = true }
            try await late.value
            try await expectIDs(store.window(of: .plain, maxMessages: nil), ["late"], "the window")
        },
    ]

    private static let session = Scope.plain.session
}
