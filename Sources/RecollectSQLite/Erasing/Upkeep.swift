import Foundation
import RecollectCore

/// What a history does of its own accord after commits, outside of every save: it erases what was deleted, and deletes what has
/// grown too old.
///
/// The work is written down in the database, so nothing depends on this object: what one process leaves, the next one does.
/// No caller's cancellation reaches it and it fails no call.
final class Upkeep: Sendable {
    private struct State {
        weak var database: HistoryDatabase?
        var isRunning = false
        /// Whether the last step failed with corruption.
        var hasDoubted = false
        var nextExpiry = ContinuousClock.now
    }

    private let attachments: any AttachmentKeeping
    private let events: StoreEvents
    private let retention: Retention
    private let state = Locked(State())
    /// There may be work.
    private let woken = Signal()
    /// A run has ended.
    private let ended = Signal()

    init(attachments: any AttachmentKeeping, events: StoreEvents, retention: Retention) {
        self.attachments = attachments
        self.events = events
        self.retention = retention
    }

    /// Says which database is open. One that was just opened may hold what another process left to be erased.
    func use(_ database: HistoryDatabase) {
        let isNew = state.withLock { state in
            guard state.database !== database else { return false }
            state.database = database
            return true
        }
        guard isNew else { return }
        if case .days = retention { return wake() }
        if database.state?.isErasing ?? false { wake() }
    }

    /// Says that something was saved: under `retention: .days`, what is too old goes with the first save, then once an hour.
    func noteSave() {
        guard case .days = retention else { return }
        let isDue = state.withLock { ContinuousClock.now >= $0.nextExpiry }
        if isDue { wake() }
    }

    /// Starts the work unless it is under way. Never waits.
    func wake() {
        woken.signal()
        let mustStart = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // With the priority of whoever wakes it and may wait for it, and out of reach of its cancellation.
        if mustStart { Task { await run() } }
    }

    /// Removes attachments that were kept for a save which did not happen, where nothing else uses them. Never waits.
    func remove(unsaved hashes: [String]) {
        guard !hashes.isEmpty, let database = state.withLock({ $0.database }) else { return }
        Task {
            do {
                try await database.write { try Erasing.note(orphans: hashes, $0) }
                wake()
            } catch {
                // `doctor` finds what nothing uses.
                database.configuration.logger.debug("attachments of a failed save stay: \(error)")
            }
        }
    }

    /// Starts the work and waits until it has ended, at most so long.
    func work(atMost limit: Duration) async {
        let seen = ended.count
        wake()
        await ended.wait(since: seen, atMost: limit)
    }

    // MARK: The work

    private struct Pace {
        var mergedPages = 16
        var length = Duration.milliseconds(8)
        var pause = Duration.milliseconds(50)
        var hasErased = false

        /// Adapts to the duration of the last bite with its commit, because saves wait for both.
        mutating func follow(_ taken: Duration) {
            if taken < .milliseconds(8) {
                mergedPages = min(mergedPages * 2, 256)
                length = min(length * 2, .milliseconds(16))
            }
            if taken > .milliseconds(20) {
                mergedPages = max(mergedPages / 2, 4)
                length = max(length / 2, .milliseconds(1))
            }
        }
    }

    private enum Step {
        case again, wait, finished, gone
    }

    private func run() async {
        var pace = Pace()
        while true {
            let seen = woken.count
            switch await step(&pace) {
            case .again:
                pace.pause = .milliseconds(50)
            case .wait:
                // Somebody reads an older state, or a file cannot be removed: tried again ever more seldom, or when woken.
                await woken.wait(since: seen, atMost: pace.pause)
                pace.pause = woken.count == seen ? min(pace.pause * 2, .seconds(10)) : .milliseconds(50)
            case .finished:
                guard end(unlessWokenSince: seen) else { continue }
                if pace.hasErased { events.post(StoreEvent(kind: .erased)) }
                return
            case .gone:
                if end(unlessWokenSince: seen) { return }
            }
        }
    }

    private func step(_ pace: inout Pace) async -> Step {
        let database = state.withLock { $0.database }
        guard let database, !database.isRetired else { return .gone }
        do {
            try await expire(database)
            let (outcome, start) = try await bite(database, pace)
            state.withLock { $0.hasDoubted = false }
            switch outcome {
            case .worked:
                pace.hasErased = true
                pace.follow(ContinuousClock.now - start)
                // Whoever waits for the lock polls it.
                try await Task.sleep(for: .milliseconds(1))
                return .again
            case .onlyLog:
                guard try await database.truncateLog() else { return .wait }
                pace.hasErased = true
                return .again
            case .blocked: return .wait
            case .nothing: return .finished
            }
        } catch  where error.isCorruption {
            // Reported twice in a row, it is damage: the next use of the history salvages.
            let isSecond = state.withLock { state in
                defer { state.hasDoubted = true }
                return state.hasDoubted
            }
            database.retire(isSecond ? .damaged : .suspect)
            return .gone
        } catch {
            if database.isRetired { return .gone }
            if error.isIndexDamage { await rebuildIndex(of: database) }
            database.configuration.logger.debug("erasing waits: \(error)")
            return .wait
        }
    }

    /// Does a bite. Returns its outcome and its start on the writer.
    private func bite(
        _ database: HistoryDatabase, _ pace: Pace
    ) async throws -> (outcome: ErasingBite.Outcome, start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        guard try await database.read({ try Erasing.isPending($0) }) else { return (.nothing, now) }
        // Alone: a file that it removes does not come back where a deletion in the same transaction is undone.
        return try await database.write(alone: true) { [attachments, files = database.files] db in
            let start = ContinuousClock.now
            let bite = ErasingBite(
                attachments: attachments, files: files, mergedPages: pace.mergedPages, length: pace.length)
            return (try bite.run(db), start)
        }
    }

    /// Makes a damaged search index anew and empty. The next search fills it.
    private func rebuildIndex(of database: HistoryDatabase) async {
        do {
            try await database.write { try SearchIndex.rebuild($0) }
            events.post(StoreEvent(kind: .rebuiltIndex))
        } catch {
            database.configuration.logger.debug("the search index stays damaged: \(error)")
        }
    }

    private func expire(_ database: HistoryDatabase) async throws {
        guard case .days(let days) = retention else { return }
        let isDue = state.withLock { state in
            guard ContinuousClock.now >= state.nextExpiry else { return false }
            state.nextExpiry = ContinuousClock.now + .seconds(3600)
            return true
        }
        if isDue {
            try await Expiry(database: database).deleteOlder(thanDays: days, now: Date(), uptime: ClockWatch.uptime)
        }
    }

    /// Ends the run; returns false where it was woken meanwhile and has to go on.
    private func end(unlessWokenSince seen: Int) -> Bool {
        let hasEnded = state.withLock { state in
            if woken.count != seen { return false }
            state.isRunning = false
            return true
        }
        if hasEnded { ended.signal() }
        return hasEnded
    }
}
