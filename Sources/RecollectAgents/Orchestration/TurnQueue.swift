import RecollectCore

/// Runs the turns of one session one after another, and different sessions concurrently. A session without turns uses
/// no memory.
final class TurnQueue: Sendable {
    private struct State {
        /// The unfinished turns of each session, by number in queue order. No inner dictionary is empty.
        var sessions: [ConversationID: [Int: Entry]] = [:]
        var last: [ConversationID: Int] = [:]
        var count = 0
    }

    private let state = Locked(State())

    /// An unfinished turn.
    private struct Entry {
        let task: Task<Void, Never>
        /// The turns around the call of `add`, outermost first.
        let surroundings: [Surrounding]
    }

    /// A turn containing the current task. It may have ended.
    private struct Surrounding: Hashable, Sendable {
        let queue: ObjectIdentifier
        let conversation: ConversationID
        let number: Int
    }

    @TaskLocal private static var surroundings: [Surrounding] = []

    /// Queues a turn behind the session's other turns. Canceling the returned task cancels the turn, but the turn
    /// still waits for its predecessors.
    /// - Returns: `nil` if the turn would wait for a turn containing the current task: neither would end.
    func add(
        to conversation: ConversationID, _ turn: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        let surroundings = Self.surroundings
        return state.withLock { state in
            guard !isAwaited(by: conversation, anyOf: surroundings, in: state) else { return nil }
            state.count += 1
            let number = state.count
            let previous = state.last[conversation].flatMap { state.sessions[conversation]?[$0]?.task }
            let task = Task {
                await previous?.value
                let surrounding = Surrounding(
                    queue: ObjectIdentifier(self), conversation: conversation, number: number)
                await Self.$surroundings.withValue(surroundings + [surrounding]) { await turn() }
                self.remove(number, from: conversation)
            }
            state.sessions[conversation, default: [:]][number] = Entry(task: task, surroundings: surroundings)
            state.last[conversation] = number
            return task
        }
    }

    /// Whether turns of a session wait for one of the given turns, directly or indirectly, or are among them. A turn
    /// waits for earlier turns of its session, and for turns begun inside it.
    private func isAwaited(
        by conversation: ConversationID, anyOf surroundings: [Surrounding], in state: State
    ) -> Bool {
        guard !surroundings.isEmpty else { return false }
        let turns = state.sessions.flatMap { conversation, entries in
            entries.map { number, entry in
                let queue = ObjectIdentifier(self)
                return (
                    turn: Surrounding(queue: queue, conversation: conversation, number: number),
                    surroundings: entry.surroundings
                )
            }
        }
        var reached = Set(turns.map(\.turn).filter { $0.conversation == conversation })
        var rest = Array(reached)
        while let turn = rest.popLast() {
            if surroundings.contains(turn) { return true }
            let awaited = turns.filter { other in
                other.surroundings.contains(turn)
                    || other.turn.conversation == turn.conversation && other.turn.number < turn.number
            }
            rest += awaited.map(\.turn).filter { reached.insert($0).inserted }
        }
        return false
    }

    private func remove(_ number: Int, from conversation: ConversationID) {
        state.withLock { state in
            state.sessions[conversation]?[number] = nil
            guard state.sessions[conversation]?.isEmpty == true else { return }
            state.sessions[conversation] = nil
            state.last[conversation] = nil
        }
    }

    /// Cancels the turns of a session, and waits for their ends. The last turn is canceled first, so that no turn
    /// begins when another ends.
    func stop(_ conversation: ConversationID) async {
        let tasks = state.withLock { state in
            (state.sessions[conversation] ?? [:]).sorted { $0.key > $1.key }.map(\.value.task)
        }
        tasks.forEach { $0.cancel() }
        for task in tasks { await task.value }
    }

    /// Waits until no turn is left. Returns at once inside a turn, which would wait for its own end.
    func waitUntilIdle() async {
        let surroundings = Self.surroundings.filter { $0.queue == ObjectIdentifier(self) }
        let isInside = state.withLock { state in
            surroundings.contains { state.sessions[$0.conversation]?[$0.number] != nil }
        }
        if isInside { return }
        while let task = state.withLock({ $0.sessions.first?.value.first?.value.task }) { await task.value }
    }
}
