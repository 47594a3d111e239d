import RecollectCore

/// Runs the operations on one session one after another, in the order of the calls, and those on different sessions
/// concurrently.
///
/// The calls of one actor have an order. An operation must not call its queue again.
final class SessionOperationQueue: Sendable {
    /// A running or waiting operation.
    private struct Operation {
        let sessions: [ByteString]
        /// The number of earlier operations still to end.
        var earlier: Int
        /// The operations waiting for it.
        var later: [Int] = []
        var caller: CheckedContinuation<Void, any Error>?
        /// Whether its caller was canceled before its beginning. Later operations wait for it like for any other, because
        /// they must not overtake the earlier ones.
        var isCanceled = false
    }

    private struct State {
        var operations: [Int: Operation] = [:]
        /// The last operation of each session.
        var last: [ByteString: Int] = [:]
        /// The last operation on all sessions.
        var lastOfAll = 0
        var count = 0

        /// Adds an operation on some sessions, or on all of them. Returns its number, and whether it must wait.
        mutating func add(_ sessions: [ByteString]?) -> (number: Int, mustWait: Bool) {
            count += 1
            let before = sessions.map { [lastOfAll] + $0.compactMap { last[$0] } } ?? Array(operations.keys)
            let earlier = Set(before).filter { operations[$0] != nil }
            for number in earlier { operations[number]?.later.append(count) }
            operations[count] = Operation(sessions: sessions ?? [], earlier: earlier.count)
            for session in sessions ?? [] { last[session] = count }
            if sessions == nil { lastOfAll = count }
            return (count, !earlier.isEmpty)
        }

        /// Removes an operation. Returns the callers of the operations to begin now.
        mutating func end(_ number: Int) -> [CheckedContinuation<Void, any Error>] {
            var ended = [number]
            var callers: [CheckedContinuation<Void, any Error>] = []
            while let number = ended.popLast(), let operation = operations.removeValue(forKey: number) {
                for session in operation.sessions where last[session] == number { last[session] = nil }
                for next in operation.later {
                    operations[next]?.earlier -= 1
                    guard let later = operations[next], later.earlier == 0 else { continue }
                    if later.isCanceled { ended.append(next) }
                    if let caller = later.caller { callers.append(caller) }
                }
            }
            return callers
        }
    }

    private let state = Locked(State())

    /// Runs an operation after all earlier ones on its sessions.
    /// - Parameters:
    ///   - ids: The IDs of the sessions; `nil` for all sessions.
    ///   - operation: The operation. Canceling the task after its beginning is its own matter.
    /// - Throws: `CancellationError` if the task is canceled while it waits, and the errors of the operation.
    nonisolated(nonsending) func run<Result>(
        on ids: [String]?, _ operation: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        // Added before the first suspension, so that the operations have the order of the calls.
        let (number, mustWait) = state.withLock { $0.add(ids.map { $0.map { ByteString($0) } }) }
        if mustWait { try await wait(for: number) }
        defer { for caller in state.withLock({ $0.end(number) }) { caller.resume() } }
        return try await operation()
    }

    /// Waits for the beginning of an operation.
    private nonisolated(nonsending) func wait(for number: Int) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                let result: Result<Void, any Error>? = state.withLock { state in
                    guard let operation = state.operations[number], !operation.isCanceled else {
                        return .failure(CancellationError())
                    }
                    if operation.earlier == 0 { return .success(()) }
                    state.operations[number]?.caller = caller
                    return nil
                }
                if let result { caller.resume(with: result) }
            }
        } onCancel: {
            let caller = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let operation = state.operations[number], operation.earlier > 0 else { return nil }
                state.operations[number]?.isCanceled = true
                state.operations[number]?.caller = nil
                return operation.caller
            }
            caller?.resume(throwing: CancellationError())
        }
    }
}
