import Foundation

/// Does the file work of sessions off the cooperative pool: that of one session in order, that of others beside it.
///
/// A session whose lock another process holds is left and tried again a little later, without a thread, so that it keeps nobody
/// but its own callers waiting.
///
/// `@unchecked Sendable` because all that changes is behind `lock`, but for the files of a session, which the one operation
/// uses that is under way for it.
final class SessionQueues: @unchecked Sendable {
    /// What became of an operation.
    private enum Outcome {
        case done
        /// The lock was held, and the operation wants to be tried again.
        case waits
        /// The lock was held for too long, and the caller has been told.
        case gaveUp
    }

    private typealias Operation = (_ files: SessionFiles, _ mayTryAgain: Bool) -> Outcome

    private struct Session {
        let files: SessionFiles
        var waiting = Line<(work: Operation, since: ContinuousClock.Instant)>()
        /// Since when its lock has been found held.
        var heldSince: ContinuousClock.Instant?
        var usedAt = 0
    }

    private let base: String
    private let durability: Durability
    private let events: StoreEvents
    private let knownNames = KnownNames()
    /// How long an operation waits for a lock that is held all the time.
    private let patience: Duration
    /// Each does the work of some sessions, an operation after the other.
    private let lanes = (0..<4).map { DispatchQueue(label: "recollect.files.\($0)") }
    private let lock = NSLock()
    private var sessions: [ConversationID: Session] = [:]
    private var now = 0

    /// How many sessions are remembered: what is forgotten is read again at its next touch.
    private static let capacity = 128
    /// How long an operation that finds a lock held waits for it on its thread: most are held for less.
    private static let firstPatience = Duration.milliseconds(2)

    init(base: String, durability: Durability, events: StoreEvents, patience: Duration) {
        self.base = base
        self.durability = durability
        self.events = events
        self.patience = patience
    }

    /// Runs work on the files of a session in its turn; not cancelled once it is queued.
    func run<Result: Sendable>(
        _ conversation: ConversationID, _ work: @escaping @Sendable (SessionFiles) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            add(conversation) { files, mayTryAgain in
                let result = Swift.Result { try work(files) }
                let isHeld =
                    if case .failure(let error as RecollectError) = result { error.isOfHeldLock } else { false }
                if isHeld, mayTryAgain { return .waits }
                continuation.resume(with: result)
                return isHeld ? .gaveUp : .done
            }
        }
    }

    private func add(_ conversation: ConversationID, _ work: @escaping Operation) {
        let isIdle = lock.withLock {
            var session = sessions.removeValue(forKey: conversation) ?? makeSession(conversation)
            defer { sessions[conversation] = session }
            let isIdle = session.waiting.isEmpty
            session.waiting.append((work, .now))
            return isIdle
        }
        if isIdle { lane(of: conversation).async { self.serve(conversation) } }
    }

    private func lane(of conversation: ConversationID) -> DispatchQueue {
        lanes[Int(UInt(bitPattern: conversation.hashValue) % UInt(lanes.count))]
    }

    /// Does the first operation of a session, which has nothing else under way.
    private func serve(_ conversation: ConversationID) {
        let next = lock.withLock { () -> (files: SessionFiles, work: Operation, mayTryAgain: Bool)? in
            guard let session = sessions[conversation], let first = session.waiting.first else { return nil }
            session.files.lockPatience = session.heldSince == nil ? Self.firstPatience : .zero
            // Both: an operation may have waited long for others of its session, or have met a lock that has long been held.
            let begun = session.heldSince.map { max($0, first.since) } ?? .now
            return (session.files, first.work, begun.duration(to: .now) < patience)
        }
        guard let next else { return }
        let outcome = next.work(next.files, next.mayTryAgain)
        guard let pause = lock.withLock({ settle(conversation, outcome) }) else { return }
        let lane = lane(of: conversation)
        if pause > 0 {
            lane.asyncAfter(deadline: .now() + pause) { self.serve(conversation) }
        } else {
            lane.async { self.serve(conversation) }
        }
    }

    /// Notes what became of an operation; the seconds until the session's next one begins, `nil` where it has none. Under the
    /// lock.
    private func settle(_ conversation: ConversationID, _ outcome: Outcome) -> Double? {
        now += 1
        guard var session = sessions.removeValue(forKey: conversation) else { return nil }
        defer { sessions[conversation] = session }
        session.usedAt = now
        if outcome == .waits {
            let since = session.heldSince ?? .now
            session.heldSince = since
            // The longer it is held, the more rarely it is tried: a process that hangs costs next to nothing.
            return min(max(0.002, since.duration(to: .now) / .seconds(10)), 0.1)
        }
        if outcome == .done { session.heldSince = nil }
        _ = session.waiting.popFirst()
        return session.waiting.isEmpty ? nil : 0
    }

    /// Makes a session, and forgets the one that was used longest ago if there are too many.
    private func makeSession(_ conversation: ConversationID) -> Session {
        if sessions.count >= Self.capacity {
            let idle = sessions.filter { $0.value.waiting.isEmpty }
            if let oldest = idle.min(by: { $0.value.usedAt < $1.value.usedAt })?.key { sessions[oldest] = nil }
        }
        let place = SessionPlace(conversation, base: base, patience: Self.firstPatience, knownNames: knownNames)
        return Session(files: SessionFiles(place, durability: durability, events: events))
    }
}

/// Elements that leave in the order of their coming.
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
        // Half of them at a time, so that leaving costs the same however many there are.
        if start * 2 >= elements.count {
            elements.removeFirst(start)
            start = 0
        }
        return first
    }
}
