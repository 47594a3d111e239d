import Foundation

/// The exclusive right of one turn to write to a session, limited in time.
///
/// Programs and servers that share a history take turns in a session with it:
///
/// ```swift
/// try await history.withLease(of: scope.session) {
///     let past = try await history.window(of: scope, maxMessages: 100)
///     try await history.append(try await turn(past), to: scope)
/// }
/// ```
///
/// A store gives the leases of a session one after the other, in the order of the calls. While a lease is in use, it is renewed
/// in the background. If its process ends, or does not reach the store for longer than its duration, the next turn begins.
/// The lease is then lost: the task of its turn is canceled, and all its writes to the store throw `leaseLost`, and save nothing. So
/// a turn never writes between the messages of a later one.
///
/// The turn is the task in `run`, with the tasks created in it, other than detached ones. Writes of other tasks need no lease: a
/// lease orders turns that ask for one. An `Orchestrator` asks for one in each turn, if its store gives them.
public final class TurnLease: Sendable {
    /// The session.
    public let session: SessionKey
    /// The number of the lease. A later lease of the session has a greater one (a fencing token).
    public let token: Int64
    /// Whether there was an earlier turn to wait for.
    package let hasWaited: Bool

    private struct State {
        var isReleased = false
        var isLost = false
        /// Cancels the turn.
        var cancel: (@Sendable () -> Void)?

        mutating func lose() {
            guard !isReleased else { return }
            isLost = true
            cancel?()
        }
    }

    private let storage: any LeaseStorage
    private let state: Locked<State>
    private let renewing: Task<Void, Never>

    /// Creates a lease taken from a storage, and renews it until its release.
    package init(
        of session: SessionKey, token: Int64, hasWaited: Bool, in storage: any LeaseStorage, for duration: Duration
    ) {
        self.session = session
        self.token = token
        self.hasWaited = hasWaited
        self.storage = storage
        let state = Locked(State())
        self.state = state
        renewing = Task {
            var pause = duration / 3
            // Ends with the cancellation of its sleep.
            while (try? await Task.sleep(for: pause)) != nil {
                let isValid = try? await storage.renew(token, of: session, for: duration)
                if isValid == false { return state.withLock { $0.lose() } }
                // A failed renewal may have taken a long time.
                pause = isValid == nil ? .milliseconds(200) : duration / 3
            }
        }
    }

    deinit {
        renewing.cancel()
        guard !state.withLock(\.isReleased) else { return }
        // No caller is left for an error. After a failure, the lease ends at the end of its duration.
        Task { [storage, token, session] in try? await storage.remove(token, of: session) }
    }

    /// The leases of the turns containing the current task.
    @TaskLocal package static var held: [TurnLease] = []

    /// The leases from a storage that a write of the current task needs.
    package static func held(from origin: @autoclosure () -> String) -> [TurnLease] {
        let held = held
        guard !held.isEmpty else { return [] }
        let origin = origin()
        return held.filter { !$0.isOver && $0.isFrom(origin) }
    }

    /// Whether the lease was released, and not lost before. Later writes of its turn need no lease.
    package var isOver: Bool { state.withLock { $0.isReleased && !$0.isLost } }

    /// Notes that the lease is not valid in its storage.
    /// - Throws: `leaseLost`, unless the lease was released.
    package func lose() throws {
        let isLost = state.withLock { state in
            state.lose()
            return state.isLost
        }
        if isLost { throw lost }
    }

    private var lost: RecollectError {
        RecollectError(
            .leaseLost,
            "the lease of this turn of session \(session.sessionId) expired, and another turn began; "
                + "earlier saves were kept, and nothing more was saved; read the session again, and send the input again"
        )
    }

    /// Whether the lease is one of a storage.
    package func isFrom(_ origin: String) -> Bool { storage.origin == origin }

    /// Runs a turn with this lease, then releases it.
    ///
    /// The turn runs in a task of its own, canceled with the calling task, and if the lease is lost. Cancellation does not prevent
    /// the release.
    /// - Throws: The errors of `body`; `leaseLost` for a turn canceled because of that.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let turn = Task { try await Self.$held.withValue(Self.held + [self]) { try await body() } }
        state.withLock { state in
            state.cancel = { turn.cancel() }
            if state.isLost { turn.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await turn.result
        } onCancel: {
            turn.cancel()
        }
        let isLost = state.withLock { state in
            state.cancel = nil
            return state.isLost
        }
        await release()
        do {
            return try result.get()
        } catch is CancellationError where isLost {
            throw lost
        }
    }

    /// Ends the lease: the next turn begins. Later calls do nothing.
    public func release() async {
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        guard isFirst else { return }
        renewing.cancel()
        // In a task of its own, unaffected by cancellation. After a failure, the lease ends at the end of its duration.
        await Task { [storage, token, session] in try? await storage.remove(token, of: session) }.value
    }
}
