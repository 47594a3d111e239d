import Foundation
import RecollectCore
import RecollectFileSystem

/// Runs the turns of one session one after another, and different sessions concurrently. A session without turns uses
/// no memory.
///
/// A turn waits for the turn before it in its session, for turns begun inside it, and for turns that it stops. No
/// circle of such turns forms: what would close one does not wait.
final class TurnQueue: Sendable {
    private struct QueuedSession: Hashable, Sendable {
        let queue: UUID
        let key: SessionKey
    }

    /// An unfinished turn.
    private struct Turn {
        let task: Task<Void, Never>
        /// The number of the turn before it in its session. That turn may have ended.
        let previous: Int?
        /// The numbers of the turns that wait for this one: the next one of its session, and those with code inside
        /// that waits for it. They may have ended.
        var waiting: Set<Int>
    }

    private struct State {
        /// The unfinished turns by number. No number is used twice.
        var turns: [Int: Turn] = [:]
        /// The last turn of each session with unfinished turns.
        var last: [QueuedSession: Int] = [:]
        var count = 0

        /// Returns the unfinished turns of a session, the last one first.
        func turns(of session: QueuedSession) -> [Int] {
            var (numbers, next) = ([Int](), last[session])
            while let number = next, let turn = turns[number] {
                numbers.append(number)
                next = turn.previous
            }
            return numbers
        }

        /// Returns the unfinished turns among the given ones, and the turns that wait for them, directly or indirectly.
        func dependents(of numbers: Set<Int>) -> Set<Int> {
            var (found, rest) = (Set<Int>(), Array(numbers))
            while let number = rest.popLast() {
                guard let turn = turns[number], found.insert(number).inserted else { continue }
                rest += turn.waiting
            }
            return found
        }

        mutating func remove(_ number: Int, of session: QueuedSession) {
            turns[number] = nil
            if last[session] == number { last[session] = nil }
        }
    }

    /// The turns of all queues: turns of two queues may wait for each other.
    private static let state = Locked(State())

    /// The turns containing the current task. Turns that ended before the innermost one was added are left out; the
    /// others may have ended since.
    @TaskLocal static var enclosingTurns: Set<Int> = []

    /// Not the address, because a turn may outlast its queue.
    private let id = UUID.random()

    /// Queues a turn behind the session's other turns. Canceling the returned task cancels the turn, but the turn
    /// still waits for its predecessors.
    /// - Returns: `nil` if the turn would wait for a turn containing the current task: neither would end.
    func add(
        to key: SessionKey, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>? {
        let session = QueuedSession(queue: id, key: key)
        return Self.state.withLock { [enclosingTurns = Self.enclosingTurns] state in
            let last = state.last[session]
            if let last, state.dependents(of: enclosingTurns).contains(last) { return nil }
            let unfinished = enclosingTurns.filter { state.turns[$0] != nil }
            state.count += 1
            let task = Task { [number = state.count, previous = last.flatMap { state.turns[$0]?.task }] in
                await previous?.value
                await Self.$enclosingTurns.withValue(unfinished.union([number])) { await body() }
                Self.state.withLock { $0.remove(number, of: session) }
            }
            state.turns[state.count] = Turn(task: task, previous: last, waiting: unfinished)
            if let last { state.turns[last]?.waiting.insert(state.count) }
            state.last[session] = state.count
            return task
        }
    }

    /// Cancels the turns of a session, and waits for their ends, except inside a turn that they wait for. The last
    /// turn is canceled first, so that no turn begins when another ends.
    func stop(_ key: SessionKey) async {
        let session = QueuedSession(queue: id, key: key)
        let turns = Self.state.withLock { state in
            state.turns(of: session).map { (number: $0, task: state.turns[$0]?.task) }
        }
        for turn in turns { turn.task?.cancel() }
        await Self.wait(for: turns.map(\.number))
    }

    /// Waits until no turn is left, except turns that wait for a turn containing the current task.
    func waitUntilIdle() async {
        var isIdle = false
        while !isIdle {
            let turns = Self.state.withLock { [id] state in
                state.last.keys.filter { $0.queue == id }.flatMap(state.turns(of:))
            }
            isIdle = await !Self.wait(for: turns)
        }
    }

    /// Waits for the ends of turns, except those that wait for a turn containing the current task.
    /// - Returns: Whether there was a turn to wait for.
    @discardableResult
    private static func wait(for turns: [Int]) async -> Bool {
        let tasks = state.withLock { [enclosingTurns] state in
            let dependents = state.dependents(of: enclosingTurns)
            let awaited = turns.filter { state.turns[$0] != nil && !dependents.contains($0) }
            for number in awaited { state.turns[number]?.waiting.formUnion(enclosingTurns) }
            return awaited.compactMap { state.turns[$0]?.task }
        }
        for task in tasks { await task.value }
        return !tasks.isEmpty
    }
}
