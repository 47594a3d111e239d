import RecollectCore

/// Runs the turns of one session one after another, and different sessions concurrently. A session without turns uses
/// no memory.
///
/// A turn waits for earlier turns of its session, for turns begun inside it, and for turns that it stops. No circle of
/// such turns forms: what would close one does not wait.
final class TurnQueue: Sendable {
    private struct QueuedSession: Hashable, Sendable {
        /// The queue. It exists as long as it has unfinished turns.
        let queue: ObjectIdentifier
        let key: SessionKey
    }

    private struct Turn: Hashable, Sendable {
        let session: QueuedSession
        let number: Int
    }

    /// An unfinished turn.
    private struct Entry {
        let task: Task<Void, Never>
        /// The turns that code inside this turn waits for.
        var awaited: Set<Turn> = []
    }

    private struct State {
        /// The unfinished turns of each session, by number in queue order. No inner dictionary is empty.
        var sessions: [QueuedSession: [Int: Entry]] = [:]
        var last: [QueuedSession: Turn] = [:]
        var count = 0

        func tasks(of session: QueuedSession) -> [Turn: Task<Void, Never>] {
            let tasks = (sessions[session] ?? [:]).map { (Turn(session: session, number: $0), $1.task) }
            return Dictionary(uniqueKeysWithValues: tasks)
        }

        /// Whether an unfinished turn is one of the given turns, or waits for one of them, directly or indirectly.
        func waits(_ turn: Turn, forAnyOf turns: [Turn]) -> Bool {
            guard !turns.isEmpty else { return false }
            var (reached, rest) = (Set([turn]), [turn])
            while let turn = rest.popLast() {
                if turns.contains(turn) { return true }
                guard let entries = sessions[turn.session] else { continue }
                let earlier = entries.keys.filter { $0 < turn.number }.map { Turn(session: turn.session, number: $0) }
                rest += (entries[turn.number]?.awaited.union(earlier) ?? []).filter { reached.insert($0).inserted }
            }
            return false
        }

        /// Changes the turns that code inside these turns waits for. They may have ended.
        mutating func updateAwaited(of turns: [Turn], _ update: (inout Set<Turn>) -> Void) {
            for turn in turns {
                guard var entry = sessions[turn.session]?[turn.number] else { continue }
                update(&entry.awaited)
                sessions[turn.session]?[turn.number] = entry
            }
        }

        mutating func remove(_ turn: Turn) {
            sessions[turn.session]?[turn.number] = nil
            guard sessions[turn.session]?.isEmpty == true else { return }
            sessions[turn.session] = nil
            last[turn.session] = nil
        }
    }

    /// The turns of all queues: turns of two queues may wait for each other.
    private static let state = Locked(State())

    /// The turns containing the current task, outermost first. They may have ended.
    @TaskLocal private static var surroundings: [Turn] = []

    /// Queues a turn behind the session's other turns. Canceling the returned task cancels the turn, but the turn
    /// still waits for its predecessors.
    /// - Returns: `nil` if the turn would wait for a turn containing the current task: neither would end.
    func add(
        to key: SessionKey, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        let (surroundings, session) = (Self.surroundings, queuedSession(key))
        return Self.state.withLock { state in
            let last = state.last[session]
            if let last, state.waits(last, forAnyOf: surroundings) { return nil }
            let previous = last.flatMap { state.sessions[session]?[$0.number]?.task }
            state.count += 1
            let turn = Turn(session: session, number: state.count)
            let task = Task {
                await previous?.value
                await Self.$surroundings.withValue(surroundings + [turn]) { await body() }
                Self.state.withLock { state in
                    state.remove(turn)
                    state.updateAwaited(of: surroundings) { $0.remove(turn) }
                }
            }
            state.sessions[session, default: [:]][turn.number] = Entry(task: task)
            state.last[session] = turn
            state.updateAwaited(of: surroundings) { $0.insert(turn) }
            return task
        }
    }

    /// Cancels the turns of a session, and waits for their ends, except inside a turn that they wait for. The last
    /// turn is canceled first, so that no turn begins when another ends.
    func stop(_ key: SessionKey) async {
        let tasks = Self.state.withLock { [session = queuedSession(key)] in $0.tasks(of: session) }
        for (_, task) in tasks.sorted(by: { $0.key.number > $1.key.number }) { task.cancel() }
        await Self.wait(for: tasks)
    }

    /// Waits until no turn is left, except turns that wait for a turn containing the current task.
    func waitUntilIdle() async {
        let queue = ObjectIdentifier(self)
        var isIdle = false
        while !isIdle {
            let tasks = Self.state.withLock { state in
                state.sessions.keys.filter { $0.queue == queue }
                    .reduce(into: [:]) { $0.merge(state.tasks(of: $1)) { task, _ in task } }
            }
            isIdle = await !Self.wait(for: tasks)
        }
    }

    /// Waits for the ends of turns, except those that wait for a turn containing the current task.
    /// - Returns: Whether there was a turn to wait for.
    @discardableResult
    private static func wait(for tasks: [Turn: Task<Void, Never>]) async -> Bool {
        let surroundings = surroundings
        let awaited = state.withLock { state in
            let awaited = tasks.keys.filter { !state.waits($0, forAnyOf: surroundings) }
            state.updateAwaited(of: surroundings) { $0.formUnion(awaited) }
            return awaited
        }
        for turn in awaited { await tasks[turn]?.value }
        state.withLock { $0.updateAwaited(of: surroundings) { $0.subtract(awaited) } }
        return !awaited.isEmpty
    }

    private func queuedSession(_ key: SessionKey) -> QueuedSession {
        QueuedSession(queue: ObjectIdentifier(self), key: key)
    }
}
