import RecollectCore

/// Lets the turns of one session run one after the other, those of different sessions side by side. A session without turns takes no
/// room.
final class TurnQueue: Sendable {
    private struct State {
        /// The turns of each session that have not ended, in order; never empty.
        var sessions: [ConversationID: [Int: Task<Void, Never>]] = [:]
        var last: [ConversationID: Int] = [:]
        var count = 0
    }

    private let state = Locked(State())

    /// A turn that the current task is part of, and that may have ended.
    private struct Surrounding: Sendable {
        let queue: ObjectIdentifier
        let conversation: ConversationID
        let number: Int
    }

    @TaskLocal private static var surroundings: [Surrounding] = []

    /// Whether the current task is part of a turn of the session that still runs: another one would wait for it, and be waited for.
    func isInsideTurn(of conversation: ConversationID) -> Bool {
        let mine = Self.surroundings.filter {
            $0.queue == ObjectIdentifier(self) && $0.conversation == conversation
        }
        guard !mine.isEmpty else { return false }
        return state.withLock { state in
            mine.contains { state.sessions[conversation]?[$0.number] != nil }
        }
    }

    /// Queues a turn behind the session's others. Cancelling the task reaches the turn, not its place: it still waits.
    func add(
        to conversation: ConversationID, _ turn: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        state.withLock { state in
            state.count += 1
            let number = state.count
            let previous = state.last[conversation].flatMap { state.sessions[conversation]?[$0] }
            let task = Task {
                await previous?.value
                let surrounding = Surrounding(
                    queue: ObjectIdentifier(self), conversation: conversation, number: number)
                await Self.$surroundings.withValue(Self.surroundings + [surrounding]) { await turn() }
                self.remove(number, from: conversation)
            }
            state.sessions[conversation, default: [:]][number] = task
            state.last[conversation] = number
            return task
        }
    }

    private func remove(_ number: Int, from conversation: ConversationID) {
        state.withLock { state in
            state.sessions[conversation]?[number] = nil
            guard state.sessions[conversation]?.isEmpty == true else { return }
            state.sessions[conversation] = nil
            state.last[conversation] = nil
        }
    }

    /// Cancels the turns of a session, the last one first, so that none begins because another has ended; waits for their ends.
    func stop(_ conversation: ConversationID) async {
        let tasks = state.withLock { state in
            (state.sessions[conversation] ?? [:]).sorted { $0.key > $1.key }.map(\.value)
        }
        tasks.forEach { $0.cancel() }
        for task in tasks { await task.value }
    }

    /// Waits until there is no turn.
    func waitUntilIdle() async {
        while let task = state.withLock({ $0.sessions.first?.value.first?.value }) { await task.value }
    }
}
