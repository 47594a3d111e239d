import Foundation
import RecollectCore

/// The background work of a history after commits, outside of every save: erases deleted content and deletes
/// expired messages.
///
/// The work is recorded in the database, so it does not depend on this object: the next process continues
/// unfinished work. The work ignores the cancellation of callers and fails no call.
final class BackgroundMaintenance: Sendable {
    private struct State {
        weak var database: HistoryDatabase?
        var isRunning = false
        /// Whether the last step failed with corruption.
        var hasDoubted = false
        var nextExpiry = ContinuousClock.now
    }

    private let attachments: any AttachmentSaving
    private let events: StoreEvents
    private let retention: Retention
    private let state = Locked(State())
    /// Signals possible work.
    private let woken = Signal()
    /// Signals the end of a run.
    private let ended = Signal()

    init(attachments: any AttachmentSaving, events: StoreEvents, retention: Retention) {
        self.attachments = attachments
        self.events = events
        self.retention = retention
    }

    /// Sets the open database. A newly opened one may have unfinished erasing work of another process.
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

    /// Records a save. With `retention: .days`, expired messages are deleted after the first save, then once an
    /// hour.
    func noteSave() {
        guard case .days = retention else { return }
        let isDue = state.withLock { ContinuousClock.now >= $0.nextExpiry }
        if isDue { wake() }
    }

    /// Starts the work unless it is running. Never waits.
    func wake() {
        woken.signal()
        let mustStart = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        // With the priority of the caller, as it may wait for the work, but without its cancellation.
        if mustStart { Task { await run() } }
    }

    /// Removes the attachments of a failed save unless they have other uses. Never waits.
    func remove(unsaved hashes: [String]) {
        guard !hashes.isEmpty, let database = state.withLock({ $0.database }) else { return }
        Task {
            do {
                try await database.write { try Eraser.note(orphans: hashes, $0) }
                wake()
            } catch {
                // `doctor` finds unused attachments.
                database.configuration.logger.debug("cannot remove the attachments of a failed save: \(error)")
            }
        }
    }

    /// Starts the work and waits for its end, at most for a duration.
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

        /// Adapts to the duration of the last step with its commit, because saves wait for both.
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
                // Another process reads an older state, or a file cannot be removed: retried at growing intervals,
                // or when woken.
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
            let (outcome, start) = try await runErasureStep(database, pace)
            state.withLock { $0.hasDoubted = false }
            switch outcome {
            case .worked:
                pace.hasErased = true
                pace.follow(ContinuousClock.now - start)
                // Other processes poll for the lock, so it is released for a millisecond.
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
            database.configuration.logger.debug("erasing is postponed: \(error)")
            return .wait
        }
    }

    /// Runs a step. Returns its outcome and its start on the writer.
    private func runErasureStep(
        _ database: HistoryDatabase, _ pace: Pace
    ) async throws -> (outcome: ErasureStep.Outcome, start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        guard try await database.read({ try Eraser.isPending($0) }) else { return (.nothing, now) }
        // Alone: a removed file cannot be restored if a deletion in the same transaction is rolled back.
        return try await database.write(alone: true) { [attachments, files = database.files] db in
            let start = ContinuousClock.now
            let step = ErasureStep(
                attachments: attachments, files: files, mergedPages: pace.mergedPages, length: pace.length)
            return (try step.run(db), start)
        }
    }

    /// Recreates a damaged search index, empty. The next search fills it.
    private func rebuildIndex(of database: HistoryDatabase) async {
        do {
            try await database.write { try SearchIndex.rebuild($0) }
            events.post(StoreEvent(kind: .rebuiltIndex))
        } catch {
            database.configuration.logger.debug("cannot rebuild the search index: \(error)")
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

    /// Ends the run. Returns false if it was woken meanwhile and must continue.
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
