/// The leases of a store, in order.
///
/// A turn takes a number behind all others of its session. It has the lease while there is no smaller valid number.
package protocol LeaseStorage: Sendable {
    /// The database of the leases. Stores of the same database have the same leases.
    var origin: String { get }
    /// Signals removed leases of this process.
    var signal: Signal { get }
    /// Adds a number greater than all others of the session, valid for a duration. Returns it, and whether it is the only one.
    func enqueue(in session: SessionKey, for duration: Duration) async throws -> (token: Int64, isFirst: Bool)
    /// Removes the expired smaller numbers, and renews this one. Returns whether it is the smallest one; `nil` if it was removed.
    func take(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool?
    /// Renews a number. Returns whether it is still there.
    func renew(_ token: Int64, of session: SessionKey, for duration: Duration) async throws -> Bool
    /// Removes a number, so that the next one has the lease.
    func remove(_ token: Int64, of session: SessionKey) async throws
}

extension LeaseStorage {
    /// Waits for the lease of a session. A canceled call leaves no number.
    /// - Throws: `CancellationError`; `invalidArgument` inside a turn with a lease of the session, which would wait for itself,
    ///   and for a duration outside its range; `timedOut` inside another turn, after the duration; errors of the storage.
    package func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease {
        try Task.checkCancellation()
        guard (.seconds(1) ... .seconds(3_600)).contains(duration) else {
            throw RecollectError(.invalidArgument, "a lease lasts for 1 to 3,600 seconds, not for \(duration)")
        }
        if TurnLease.held.contains(where: { $0.isFrom(origin) && $0.session == session && !$0.isOver }) {
            throw RecollectError(
                .invalidArgument,
                "a turn of session \(session.sessionId) was started inside a turn of the same session: it would wait for itself; "
                    + "use another session, or send it when the turn has ended")
        }
        // Two turns, each with another one in the other's session inside it, wait for each other.
        let outer = TurnLease.held.first { $0.isFrom(origin) && !$0.isOver }
        let deadline = ContinuousClock.now + duration
        var (token, isFirst) = try await enqueue(in: session, for: duration)
        var hasWaited = false
        do {
            var pause = Duration.milliseconds(5)
            while true {
                if isFirst {
                    return TurnLease(of: session, token: token, hasWaited: hasWaited, in: self, for: duration)
                }
                hasWaited = true
                let seen = signal.count
                switch try await take(token, of: session, for: duration) {
                case true?: isFirst = true
                // This task was stopped for longer than the duration.
                case nil: (token, isFirst) = try await enqueue(in: session, for: duration)
                case false?: await signal.wait(since: seen, atMost: pause)
                }
                try Task.checkCancellation()
                if let outer, ContinuousClock.now > deadline {
                    throw RecollectError(
                        .timedOut,
                        "a turn of session \(session.sessionId), started inside a turn of session \(outer.session.sessionId), waited "
                            + "for \(duration); turns of both may wait for each other; ask when the outer turn has ended"
                    )
                }
                // The leases of other processes are removed without a signal.
                pause = min(pause * 3 / 2, .milliseconds(200))
            }
        } catch {
            // After a failure, the number expires.
            await Task { [token] in try? await remove(token, of: session) }.value
            throw error
        }
    }
}
