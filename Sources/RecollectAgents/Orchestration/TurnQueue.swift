import RecollectCore

/// Runs the turns of one session one after another, and different sessions concurrently. A session without turns uses
/// no memory.
final class TurnQueue: Sendable {
    private struct State {
        /// The unfinished turns of each session, by number in queue order. No inner dictionary is empty.
        var sessions: [Session: [Int: Entry]] = [:]
        var last: [Session: Int] = [:]
        var count = 0
    }

    /// The turns of all queues: a turn may begin a turn in another queue, and two such turns must not wait for each
    /// other.
    private static let state = Locked(State())

    private struct Session: Hashable, Sendable {
        /// The queue. It exists as long as it has unfinished turns.
        let queue: ObjectIdentifier
        let conversation: ConversationID
    }

    /// An unfinished turn.
    private struct Entry {
        let task: Task<Void, Never>
        /// The turns around the call of `add`, outermost first.
        let surroundings: [Surrounding]
    }

    /// A turn containing the current task. It may have ended.
    private struct Surrounding: Hashable, Sendable {
        let session: Session
        let number: Int
    }

    @TaskLocal private static var surroundings: [Surrounding] = []

    /// Queues a turn behind the session's other turns. Canceling the returned task cancels the turn, but the turn
    /// still waits for its predecessors.
    /// - Returns: `nil` if the turn would wait for a turn containing the current task: neither would end.
    func add(
        to conversation: ConversationID, _ turn: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        let (surroundings, session) = (Self.surroundings, session(conversation))
        return Self.state.withLock { state in
            guard !Self.isAwaited(by: session, anyOf: surroundings, in: state) else { return nil }
            state.count += 1
            let number = state.count
            let previous = state.last[session].flatMap { state.sessions[session]?[$0]?.task }
            let task = Task {
                await previous?.value
                let surrounding = Surrounding(session: session, number: number)
                await Self.$surroundings.withValue(surroundings + [surrounding]) { await turn() }
                self.remove(number, from: session)
            }
            state.sessions[session, default: [:]][number] = Entry(task: task, surroundings: surroundings)
            state.last[session] = number
            return task
        }
    }

    /// Whether turns of a session wait for one of the given turns, directly or indirectly, or are among them. A turn
    /// waits for earlier turns of its session, and for turns begun inside it.
    private static func isAwaited(
        by session: Session, anyOf surroundings: [Surrounding], in state: State
    ) -> Bool {
        guard !surroundings.isEmpty else { return false }
        let turns = state.sessions.flatMap { session, entries in
            entries.map { number, entry in
                (turn: Surrounding(session: session, number: number), surroundings: entry.surroundings)
            }
        }
        var reached = Set(turns.map(\.turn).filter { $0.session == session })
        var rest = Array(reached)
        while let turn = rest.popLast() {
            if surroundings.contains(turn) { return true }
            let awaited = turns.filter { other in
                other.surroundings.contains(turn)
                    || other.turn.session == turn.session && other.turn.number < turn.number
            }
            rest += awaited.map(\.turn).filter { reached.insert($0).inserted }
        }
        return false
    }

    private func remove(_ number: Int, from session: Session) {
        Self.state.withLock { state in
            state.sessions[session]?[number] = nil
            guard state.sessions[session]?.isEmpty == true else { return }
            state.sessions[session] = nil
            state.last[session] = nil
        }
    }

    private func session(_ conversation: ConversationID) -> Session {
        Session(queue: ObjectIdentifier(self), conversation: conversation)
    }

    /// Cancels the turns of a session, and waits for their ends, except inside one of them. The last turn is canceled
    /// first, so that no turn begins when another ends.
    func stop(_ conversation: ConversationID) async {
        let (tasks, isInside) = Self.state.withLock { [session = session(conversation)] state in
            let turns = state.sessions[session] ?? [:]
            let isInside = Self.surroundings.contains { $0.session == session && turns[$0.number] != nil }
            return (turns.sorted { $0.key > $1.key }.map(\.value.task), isInside)
        }
        tasks.forEach { $0.cancel() }
        if isInside { return }
        for task in tasks { await task.value }
    }

    /// Waits until no turn is left. Returns at once inside a turn, which would wait for its own end.
    func waitUntilIdle() async {
        let queue = ObjectIdentifier(self)
        let surroundings = Self.surroundings.filter { $0.session.queue == queue }
        let isInside = Self.state.withLock { state in
            surroundings.contains { state.sessions[$0.session]?[$0.number] != nil }
        }
        if isInside { return }
        while let task = Self.state.withLock({ state in
            state.sessions.first { $0.key.queue == queue }?.value.first?.value.task
        }) {
            await task.value
        }
    }
}
