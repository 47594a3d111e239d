#if Postgres
    import RecollectCore

    /// Runs the appends of a process, one of a session at a time. Saves waiting appends together, in one transaction and one round trip: a
    /// group commit.
    ///
    /// An append to a scope in a known state is one statement, so a group is a pipeline. Other appends, and those of a failed group, run by
    /// themselves.
    final class AppendQueue: Sendable {
        /// An append of a caller.
        struct Request: Sendable {
            let messages: [ConversationMessage]
            let scope: Scope
            let options: AppendOptions
            /// The leases of the caller's turn.
            let leases: [TurnLease]
            /// Whether the messages have attachments.
            let hasAttachments: Bool
        }

        private struct Entry: Sendable {
            let number: Int
            let request: Request
            let continuation: CheckedContinuation<Turn, any Error>
            let arrival = ContinuousClock.now
            /// Whether an earlier group with this append has failed.
            var hasFailed = false
            /// The failure of an earlier group during its commit, with an unknown outcome; `nil` without one.
            var unknownOutcome: RecollectError?

            var session: SessionKey { request.scope.session }
        }

        /// The result of waiting.
        private enum Turn: Sendable {
            case saved(AppendPlan)
            /// The append runs by itself.
            case alone(unknownOutcome: RecollectError?)
        }

        private struct State {
            /// In order of arrival.
            var waiting: [Entry] = []
            /// The number of running appends of a session.
            var running: [SessionKey: Int] = [:]
            /// The number of appends running by themselves.
            var aloneCount = 0
            var groupCount = 0
            /// The transactions of the groups, by the numbers of their appends.
            var transactions: [Int: Task<[PostgresResult], any Error>] = [:]
            /// The appends of groups canceled before their transaction began.
            var canceled: Set<Int> = []

            mutating func begin(_ session: SessionKey) { running[session, default: 0] += 1 }

            mutating func end(_ session: SessionKey) {
                running[session] = running[session].flatMap { $0 > 1 ? $0 - 1 : nil }
            }
        }

        /// The maximum number of appends running by themselves without a wait.
        private static let maxAlone = 2
        private static let maxGroups = 2
        /// The maximum number of appends of a group, and of the messages of each.
        private static let groupLimit = 64
        /// The maximum size of an append in a group, in bytes.
        private static let sizeLimit = 1 << 20
        /// The maximum number of waiting appends. Further ones fail at once.
        private static let waitingLimit = 10_000
        /// The time of waiting, at least, before an append fails together with the one of its session before it.
        private static let waitingTime: Duration = .seconds(10)
        /// Limits the wait of a group for rows locked by another server. Then its appends run by themselves, and none delays the others.
        /// See also `PostgresTransaction.readingInOrder`.
        private static let settings = PostgresStatement(
            "SELECT set_config('lock_timeout', '200ms', true), set_config('enable_bitmapscan', 'off', true)")

        private let database: PostgresDatabase
        private let knownStates: KnownStates
        private let state = Locked(State())
        private let numbers = Locked(0)

        init(_ database: PostgresDatabase, _ knownStates: KnownStates) {
            self.database = database
            self.knownStates = knownStates
        }

        /// Saves an append in a group, or by `body` if it runs by itself.
        ///
        /// The cancellation of one append rolls its group back. The others are then saved again.
        func append(_ request: Request, alone body: () async throws -> AppendPlan?) async throws -> AppendPlan? {
            let session = request.scope.session
            var unknownOutcome: RecollectError?
            if !beginAlone(session) {
                switch try await wait(request) {
                case .saved(let plan): return plan
                case .alone(let outcome): unknownOutcome = outcome
                }
            }
            do {
                let plan = try await RecollectError.keeping(unknownOutcome) {
                    try Task.checkCancellation()
                    return try await body()
                }
                endAlone(session)
                return plan
            } catch {
                endAlone(session, error as? RecollectError)
                throw error
            }
        }

        // MARK: - Alone

        /// Begins an append by itself, unless it must wait. Returns whether it has begun.
        private func beginAlone(_ session: SessionKey) -> Bool {
            state.withLock { state in
                guard state.waiting.isEmpty, state.aloneCount < Self.maxAlone, state.running[session] == nil else {
                    return false
                }
                state.aloneCount += 1
                state.begin(session)
                return true
            }
        }

        /// Ends an append that ran by itself, and starts a group.
        /// - Parameter error: The error of the append. After a time limit, appends waiting behind it for `waitingTime` fail with the same
        ///   error at once, instead of one by one.
        private func endAlone(_ session: SessionKey, _ error: RecollectError? = nil) {
            let failed = state.withLock { state in
                state.aloneCount -= 1
                state.end(session)
                guard let code = error?.code, code == .timedOut || code == .busy || code == .unavailable else {
                    return [Entry]()
                }
                let limit = ContinuousClock.now - Self.waitingTime
                let failed = state.waiting.filter { $0.session == session && $0.arrival < limit }
                state.waiting.removeAll { $0.session == session && $0.arrival < limit }
                return failed
            }
            for entry in failed {
                if let reason = entry.unknownOutcome ?? error { entry.continuation.resume(throwing: reason) }
            }
            startGroup()
        }

        // MARK: - Groups

        /// Waits until a group has saved an append, or until it runs by itself.
        private func wait(_ request: Request) async throws -> Turn {
            let number = numbers.withLock { count in
                count += 1
                return count
            }
            defer { state.withLock { _ = $0.canceled.remove(number) } }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let error: (any Error)? = state.withLock { state in
                        // A later cancellation finds the append among the waiting ones.
                        guard !Task.isCancelled else { return CancellationError() }
                        guard state.waiting.count < Self.waitingLimit else {
                            return RecollectError(
                                .busy, "\(Self.waitingLimit) appends are waiting already; make fewer calls at once")
                        }
                        state.waiting.append(Entry(number: number, request: request, continuation: continuation))
                        return nil
                    }
                    if let error { return continuation.resume(throwing: error) }
                    startGroup()
                }
            } onCancel: {
                cancel(number)
            }
        }

        private func cancel(_ number: Int) {
            let (entry, transaction) = state.withLock { state -> (Entry?, Task<[PostgresResult], any Error>?) in
                if let index = state.waiting.firstIndex(where: { $0.number == number }) {
                    return (state.waiting.remove(at: index), nil)
                }
                state.canceled.insert(number)
                return (nil, state.transactions[number])
            }
            entry?.continuation.resume(throwing: entry?.unknownOutcome ?? CancellationError())
            transaction?.cancel()
        }

        /// Starts a task that saves groups, unless enough of them run.
        private func startGroup() {
            let starts = state.withLock { state in
                guard !state.waiting.isEmpty, state.groupCount < Self.maxGroups else { return false }
                state.groupCount += 1
                return true
            }
            guard starts else { return }
            // Not of the caller: it has the caller's lease, and its cancellation.
            Task.detached { [self] in
                while let group = takeGroup() { await save(group) }
            }
        }

        /// Takes the waiting appends of sessions without a running one; `nil`, and the task ends, without any.
        private func takeGroup() -> [Entry]? {
            state.withLock { state in
                var group: [Entry] = []
                var rest: [Entry] = []
                var sessions: Set<SessionKey> = []
                for entry in state.waiting {
                    if group.count < Self.groupLimit,
                        sessions.contains(entry.session) || state.running[entry.session] == nil
                    {
                        sessions.insert(entry.session)
                        group.append(entry)
                    } else {
                        rest.append(entry)
                    }
                }
                state.waiting = rest
                guard !group.isEmpty else {
                    state.groupCount -= 1
                    return nil
                }
                sessions.forEach { state.begin($0) }
                return group
            }
        }

        /// An append of a group, with its statement.
        private struct Planned {
            var entry: Entry
            let known: KnownAppend
            let earlierRevision: Int64
        }

        /// Saves a group, and resumes its callers.
        private func save(_ group: [Entry]) async {
            var (planned, others) = plan(group)
            var saved: Set<Int> = []
            if !planned.isEmpty {
                let statements = [Self.settings] + planned.map(\.known.insertion.statement)
                var database = database
                // After a failure, the appends know whether the group may have been saved.
                (database.retries.conflictCount, database.retries.unavailableTime) = (0, .zero)
                let transaction = Task.detached { [database] in try await database.write(statements) }
                begin(transaction, planned.map(\.entry.number))
                do {
                    saved = note(try await transaction.value, of: planned)
                } catch is CancellationError {
                    // Nothing was saved.
                } catch {
                    // One of the appends may have failed. By itself, it fails again, and the others succeed.
                    let failure = error as? RecollectError
                    for index in planned.indices {
                        planned[index].entry.hasFailed = true
                        if failure?.code == .unavailable { planned[index].entry.unknownOutcome = failure }
                    }
                }
            }
            end(planned.map(\.entry) + others, saved)
            for append in planned where saved.contains(append.entry.number) {
                append.entry.continuation.resume(returning: .saved(append.known.plan))
            }
        }

        /// Notes the states after a group. Returns the numbers of its saved appends.
        private func note(_ results: [PostgresResult], of planned: [Planned]) -> Set<Int> {
            var saved: Set<Int> = []
            for (append, result) in zip(planned, results.dropFirst()) {
                guard result.affectedCount == append.known.plan.rows.count else {
                    // Another server has saved to the session.
                    knownStates.forget(append.entry.session)
                    continue
                }
                saved.insert(append.entry.number)
                knownStates.note(
                    append.known.insertion.state, of: append.entry.request.scope, after: append.earlierRevision)
            }
            return saved
        }

        /// Plans the appends of a group in known states, in the order of their sessions: two servers must not lock them in different orders.
        private func plan(_ group: [Entry]) -> (planned: [Planned], others: [Entry]) {
            var planned: [Planned] = []
            var others: [Entry] = []
            var states: [SessionKey: SessionStates] = [:]
            /// The sessions with an unplanned append. Later appends of the session stay behind it.
            var blocked: Set<SessionKey> = []
            var feedOffset: Int64 = 0
            var known: [(entry: Entry, number: Int64)] = []
            for entry in group {
                let session = entry.session
                if states[session] == nil { states[session] = knownStates.states(of: session) }
                if !blocked.contains(session), !entry.hasFailed, entry.request.messages.count <= Self.groupLimit,
                    let state = states[session]?.state(of: entry.request.scope.agentId)
                {
                    known.append((entry, state.session))
                } else {
                    blocked.insert(session)
                    others.append(entry)
                }
            }
            blocked = []
            // Sorting is stable.
            for entry in known.sorted(by: { $0.number < $1.number }).map(\.entry) {
                let agentId = entry.request.scope.agentId
                guard !blocked.contains(entry.session), let state = states[entry.session]?.state(of: agentId),
                    let append = KnownAppend(entry.request, state, feedOffset: feedOffset),
                    append.insertion.statement.byteCount <= Self.sizeLimit
                else {
                    blocked.insert(entry.session)
                    others.append(entry)
                    continue
                }
                feedOffset += Int64(append.plan.rows.count)
                states[entry.session]?.note(append.insertion.state, of: agentId, after: state.revision)
                planned.append(Planned(entry: entry, known: append, earlierRevision: state.revision))
            }
            return (planned, others)
        }

        private func begin(_ transaction: Task<[PostgresResult], any Error>, _ numbers: [Int]) {
            let isCanceled = state.withLock { state in
                for number in numbers { state.transactions[number] = transaction }
                return !state.canceled.isDisjoint(with: numbers)
            }
            if isCanceled { transaction.cancel() }
        }

        /// Ends a group: the first unsaved append of each session runs by itself, and the others wait again.
        private func end(_ group: [Entry], _ saved: Set<Int>) {
            let alone = state.withLock { state in
                for session in Set(group.map(\.session)) { state.end(session) }
                for entry in group { state.transactions[entry.number] = nil }
                var (alone, again) = ([Entry](), [Entry]())
                for entry in group.sorted(by: { $0.number < $1.number }) where !saved.contains(entry.number) {
                    // A canceled append ends at once.
                    if state.running[entry.session] == nil || state.canceled.contains(entry.number) {
                        state.begin(entry.session)
                        state.aloneCount += 1
                        alone.append(entry)
                    } else {
                        again.append(entry)
                    }
                }
                state.waiting = again + state.waiting
                return alone
            }
            for entry in alone { entry.continuation.resume(returning: .alone(unknownOutcome: entry.unknownOutcome)) }
        }
    }

    extension RecollectError {
        /// Runs work after an attempt with an unknown outcome. The work must find the changes of the attempt. Returns its value.
        /// - Throws: The error of the work. If it says "nothing was saved" (canceled, `timedOut` or `busy`), the error of the attempt instead.
        static func keeping<Value>(
            _ unknownOutcome: RecollectError?, _ work: () async throws -> Value
        ) async throws -> Value {
            do {
                return try await work()
            } catch let error as CancellationError {
                throw unknownOutcome ?? error
            } catch let error as RecollectError where error.code == .timedOut || error.code == .busy {
                throw unknownOutcome ?? error
            }
        }
    }
#endif
