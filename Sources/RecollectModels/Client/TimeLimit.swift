import RecollectCore

/// Ends work after a time limit, or after a silence.
final class TimeLimit: Sendable {
    /// The time limit has passed.
    struct Expired: Error {}

    private let limit: Duration
    private let deadline: Locked<ContinuousClock.Instant>
    private let rests: AsyncStream<Duration>
    private let rest: AsyncStream<Duration>.Continuation

    /// The clock counts nanoseconds in 64 bits.
    private static let longest = Duration.seconds(1 << 31)

    private init(_ limit: Duration) {
        self.limit = max(.zero, min(limit, Self.longest))
        deadline = Locked(.now + self.limit)
        (rests, rest) = AsyncStream.makeStream()
    }

    /// Runs `body`, and cancels it when the limit has passed since the beginning or the last `extend()`.
    /// Returns after `body` has ended.
    /// - Throws: `Expired`, `CancellationError` if the task is canceled, or the error of `body`.
    static func run(
        _ limit: Duration, _ body: @escaping @Sendable (TimeLimit) async throws -> Void
    ) async throws {
        // The body could end before a task has seen that the time is over.
        guard limit > .zero else { throw Expired() }
        let time = TimeLimit(limit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body(time) }
            group.addTask { try await time.expire() }
            group.addTask { try await time.expireAfterRest() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Restarts the time limit.
    func extend() {
        deadline.withLock { $0 = .now + limit }
    }

    /// Limits the remaining time to this duration from now, until the next `extend()`.
    func leave(_ duration: Duration) {
        deadline.withLock { $0 = .now + duration }
        rest.yield(duration)
    }

    private func expireAfterRest() async throws {
        // The stream ends only for a canceled task.
        guard let rest = await rests.first(where: { _ in true }) else { throw CancellationError() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [deadline] in
                try await Task.sleep(for: rest)
                if deadline.withLock({ $0 <= .now }) { throw Expired() }
            }
            // A later duration may be shorter.
            group.addTask { try await self.expireAfterRest() }
            for try await _ in group {}
        }
    }

    private func expire() async throws {
        while true {
            let end = deadline.withLock { $0 }
            guard end > .now else { throw Expired() }
            try await ContinuousClock().sleep(until: end)
        }
    }
}
