#if Postgres
    import RecollectCore

    /// The appends of a process, one of a session at a time. Those that wait are saved together, in one transaction and one round trip: a
    /// group commit.
    ///
    /// An append to a scope in a known state is one statement, so a group is a pipeline of them. An append that needs more, or whose
    /// group failed, runs by itself.
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
            let continuation: CheckedContinuation<AppendPlan?, any Error>
            /// Whether a group with this append has failed.
            var hasFailed = false

            var session: SessionKey { request.scope.session }
        }

        private struct State {
            /// In order of arrival.
            var waiting: [Entry] = []
            /// The number of running appends of a session.
            var running: [SessionKey: Int] = [:]
            /// The number of appends that run by themselves.
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

        /// The number of appends that run by themselves before others wait.
        private static let maxAlone = 2
        private static let maxGroups = 2
        /// The maximum number of appends of a group, and of their messages.
        private static let groupLimit = 64
        /// Limits the time a group waits for the rows of another server's transaction. Then its appends run by themselves, so that
        /// one of them holds up no other. See also `PostgresTransaction.readingInOrder`.
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
        /// The cancellation of one append rolls its group back. The others then run by themselves.
        func append(_ request: Request, alone body: () async throws -> AppendPlan?) async throws -> AppendPlan? {
            let session = request.scope.session
            if !beginAlone(session), let plan = try await wait(request) { return plan }
            do {
                try Task.checkCancellation()
                let plan = try await body()
                endAlone(session)
                return plan
            } catch {
                // Those behind it would wait for the same server or lock: not one after the other.
                let code = (error as? RecollectError)?.code
                endAlone(session, releasesWaiting: code == .timedOut || code == .busy || code == .unavailable)
                throw error
            }
        }

        // MARK: - Alone

        /// Begins an append that need not wait. Returns whether it need not.
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

        private func endAlone(_ session: SessionKey, releasesWaiting: Bool = false) {
            let released = state.withLock { state in
                state.aloneCount -= 1
                state.end(session)
                guard releasesWaiting else { return [Entry]() }
                let released = state.waiting.filter { $0.session == session }
                state.waiting.removeAll { $0.session == session }
                for _ in released { state.begin(session) }
                state.aloneCount += released.count
                return released
            }
            released.forEach { $0.continuation.resume(returning: nil) }
            startGroup()
        }

        // MARK: - Groups

        /// Waits until a group has saved an append. Returns `nil` if it runs by itself.
        private func wait(_ request: Request) async throws -> AppendPlan? {
            let number = numbers.withLock { count in
                count += 1
                return count
            }
            defer { state.withLock { _ = $0.canceled.remove(number) } }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let isCanceled = state.withLock { state in
                        // A later cancellation finds the append among the waiting ones.
                        guard !Task.isCancelled else { return true }
                        state.waiting.append(Entry(number: number, request: request, continuation: continuation))
                        return false
                    }
                    if isCanceled { return continuation.resume(throwing: CancellationError()) }
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
            entry?.continuation.resume(throwing: CancellationError())
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
            let entry: Entry
            let known: KnownAppend
            let earlierRevision: Int64
        }

        /// Saves a group, and resumes its callers.
        private func save(_ group: [Entry]) async {
            let (planned, unplanned) = plan(group)
            var saved: Set<Int> = []
            var hasFailed = false
            var failure: RecollectError?
            if !planned.isEmpty {
                let statements = [Self.settings] + planned.map(\.known.insertion.statement)
                var database = database
                database.retries.conflictCount = 0
                let transaction = Task.detached { [database] in try await database.write(statements) }
                begin(transaction, planned.map(\.entry.number))
                do {
                    let results = try await transaction.value
                    for (append, result) in zip(planned, results.dropFirst()) {
                        guard result.affectedCount == append.known.plan.rows.count else {
                            // Another server has saved to the session.
                            knownStates.forget(append.entry.session)
                            continue
                        }
                        saved.insert(append.entry.number)
                        knownStates.note(
                            append.known.insertion.state, of: append.entry.request.scope,
                            after: append.earlierRevision)
                    }
                } catch let error as RecollectError where error.code == .unavailable {
                    (failure, hasFailed) = (error, true)
                } catch {
                    // One of the appends has failed. By itself, it fails again, and the others succeed.
                    hasFailed = true
                }
            }
            let appends = planned.map { append in
                var entry = append.entry
                entry.hasFailed = hasFailed
                return entry
            }
            end(appends, unplanned, saved, failure)
            for append in planned where saved.contains(append.entry.number) {
                append.entry.continuation.resume(returning: append.known.plan)
            }
        }

        /// Plans the appends of a group in known states, in the order of their sessions: two servers must not lock them in different orders.
        private func plan(_ group: [Entry]) -> (planned: [Planned], others: [Entry]) {
            var planned: [Planned] = []
            var others: [Entry] = []
            var states: [SessionKey: SessionStates] = [:]
            var feedOffset: Int64 = 0
            var known: [(entry: Entry, number: Int64)] = []
            for entry in group {
                if states[entry.session] == nil { states[entry.session] = knownStates.states(of: entry.session) }
                if !entry.hasFailed, let state = states[entry.session]?.state(of: entry.request.scope.agentId) {
                    known.append((entry, state.session))
                } else {
                    // Those behind it in its session follow it.
                    states[entry.session] = SessionStates()
                    others.append(entry)
                }
            }
            // Sorting is stable.
            for entry in known.sorted(by: { $0.number < $1.number }).map(\.entry) {
                let agentId = entry.request.scope.agentId
                guard let state = states[entry.session]?.state(of: agentId),
                    let append = KnownAppend(entry.request, state, feedOffset: feedOffset)
                else {
                    states[entry.session] = SessionStates()
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
        /// - Parameter failure: The reason why nobody knows whether the group was saved, or `nil`. If the group was canceled, it is that of
        ///   the canceled appends only: the others run again, and save nothing twice.
        private func end(_ planned: [Entry], _ others: [Entry], _ saved: Set<Int>, _ failure: RecollectError?) {
            let group = planned + others
            let (alone, failed) = state.withLock { state in
                for session in Set(group.map(\.session)) { state.end(session) }
                for entry in group { state.transactions[entry.number] = nil }
                var unsaved = group.filter { !saved.contains($0.number) }.sorted { $0.number < $1.number }
                var failed: [Entry] = []
                if failure != nil {
                    let canceled = state.canceled.intersection(planned.map(\.number))
                    failed = canceled.isEmpty ? planned : planned.filter { canceled.contains($0.number) }
                    unsaved.removeAll { entry in failed.contains { $0.number == entry.number } }
                }
                var (alone, again) = ([Entry](), [Entry]())
                for entry in unsaved {
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
                return (alone, failed)
            }
            for entry in alone { entry.continuation.resume(returning: nil) }
            if let failure { failed.forEach { $0.continuation.resume(throwing: failure) } }
        }
    }
#endif
