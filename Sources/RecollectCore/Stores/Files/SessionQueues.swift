import Foundation

/// Performs the file work of sessions outside the cooperative thread pool.
///
/// The operations of one session run in order. Different sessions share four queues. If another process holds a
/// session's lock, the session's work is retried a little later, without holding a thread. Only callers of this
/// session wait.
///
/// `@unchecked Sendable` because `lock` protects all mutable state except the files of a session, used by one
/// operation at a time.
final class SessionQueues: @unchecked Sendable {
    /// The outcome of an operation.
    private enum Outcome {
        case done
        /// The lock was held. The operation must be retried.
        case waits
        /// The lock was held for too long. The caller has received the error.
        case gaveUp
    }

    private typealias Operation = (_ files: SessionFiles, _ mayTryAgain: Bool) -> Outcome

    private struct QueuedSession {
        let files: SessionFiles
        var waiting = Line<(work: Operation, since: ContinuousClock.Instant)>()
        /// The date when the lock was first found held; `nil` after a successful operation.
        var heldSince: ContinuousClock.Instant?
        var usedAt = 0
    }

    private let base: String
    private let durability: Durability
    private let events: StoreEvents
    private let knownNames = FolderNameCache()
    /// The longest wait of an operation for a continuously held lock.
    private let maxWait: Duration
    /// The queues, each with the work of some sessions, one operation at a time.
    private let lanes = (0..<4).map { DispatchQueue(label: "recollect.files.\($0)") }
    private let lock = NSLock()
    private var sessions: [SessionKey: QueuedSession] = [:]
    private var now = 0

    /// The number of cached sessions. Above it, the least recently used idle session is removed, and read again at
    /// its next use.
    private static let capacity = 128
    /// The longest wait for a held lock on the operation's thread. Most locks are held for less.
    private static let firstLockWait = Duration.milliseconds(2)

    init(base: String, durability: Durability, events: StoreEvents, maxWait: Duration) {
        self.base = base
        self.durability = durability
        self.events = events
        self.maxWait = maxWait
    }

    /// Performs work on the files of a session, after the session's earlier work. It is not canceled once it is
    /// queued.
    func run<Result: Sendable>(
        _ key: SessionKey, _ work: @escaping @Sendable (SessionFiles) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            add(key) { files, mayTryAgain in
                let result = Swift.Result { try work(files) }
                let isHeld =
                    if case .failure(let error as RecollectError) = result { error.isOfHeldLock } else { false }
                if isHeld, mayTryAgain { return .waits }
                continuation.resume(with: result)
                return isHeld ? .gaveUp : .done
            }
        }
    }

    private func add(_ key: SessionKey, _ work: @escaping Operation) {
        let isIdle = lock.withLock {
            var session = sessions.removeValue(forKey: key) ?? makeSession(key)
            defer { sessions[key] = session }
            let isIdle = session.waiting.isEmpty
            session.waiting.append((work, .now))
            return isIdle
        }
        if isIdle { lane(of: key).async { self.serve(key) } }
    }

    private func lane(of key: SessionKey) -> DispatchQueue {
        lanes[Int(UInt(bitPattern: key.hashValue) % UInt(lanes.count))]
    }

    /// Performs the first operation of a session. No other operation of the session is in progress.
    private func serve(_ key: SessionKey) {
        let next = lock.withLock { () -> (files: SessionFiles, work: Operation, mayTryAgain: Bool)? in
            guard let session = sessions[key], let first = session.waiting.first else { return nil }
            session.files.lockWait = session.heldSince == nil ? Self.firstLockWait : .zero
            // The later date counts: neither a wait for the session's other operations nor a lock held before uses
            // up maxWait.
            let begun = session.heldSince.map { max($0, first.since) } ?? .now
            return (session.files, first.work, begun.duration(to: .now) < maxWait)
        }
        guard let next else { return }
        let outcome = next.work(next.files, next.mayTryAgain)
        guard let pause = lock.withLock({ finish(key, outcome) }) else { return }
        let lane = lane(of: key)
        if pause > 0 {
            lane.asyncAfter(deadline: .now() + pause) { self.serve(key) }
        } else {
            lane.async { self.serve(key) }
        }
    }

    /// Records the outcome of an operation. Requires the lock.
    /// - Returns: The seconds until the session's next operation begins; `nil` if there is none.
    private func finish(_ key: SessionKey, _ outcome: Outcome) -> Double? {
        now += 1
        guard var session = sessions.removeValue(forKey: key) else { return nil }
        defer { sessions[key] = session }
        session.usedAt = now
        if outcome == .waits {
            let since = session.heldSince ?? .now
            session.heldSince = since
            // The pauses grow with the wait, so that a process that hangs costs almost nothing.
            return min(max(0.002, since.duration(to: .now) / .seconds(10)), 0.1)
        }
        if outcome == .done { session.heldSince = nil }
        _ = session.waiting.popFirst()
        return session.waiting.isEmpty ? nil : 0
    }

    /// Creates a session, and removes the least recently used idle one from a full cache.
    private func makeSession(_ key: SessionKey) -> QueuedSession {
        if sessions.count >= Self.capacity {
            let idle = sessions.filter { $0.value.waiting.isEmpty }
            if let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key { sessions[oldest] = nil }
        }
        let folder = SessionFolder(key, base: base, maxWait: Self.firstLockWait, knownNames: knownNames)
        return QueuedSession(files: SessionFiles(folder, durability: durability, events: events))
    }
}

/// A queue: first in, first out.
private struct Line<Element> {
    private var elements: [Element] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard let first else { return nil }
        start += 1
        // Removes half of the elements at a time, so that the average cost does not depend on their number.
        if start * 2 >= elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
