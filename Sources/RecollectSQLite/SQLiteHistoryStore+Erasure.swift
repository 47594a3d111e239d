import Foundation
import RecollectCore

extension SQLiteHistoryStore {
    /// Returns the deleted content not yet erased, by this and by other processes.
    ///
    /// A deletion waits up to 50 ms for its own erasure. In a small history without readers, the erasure is
    /// complete when the deletion returns.
    public func erasure() async throws -> Erasure {
        try await read { try Eraser.left($0) }
    }

    /// Returns the names of damaged files set aside by salvages, in the history's folder, sorted.
    ///
    /// They may contain text deleted since, until they are removed. Throws `permissionDenied` or `inputOutput` for
    /// an unreadable folder.
    public func filesSetAside() async throws -> [String] {
        guard let files = connection.files else { return [] }
        return try await blocking { try files.setAside() }
    }

    /// Waits until all deleted content has been erased, and returns the content left.
    ///
    /// Canceling the task ends the wait, not the erasing. The event `erased` is posted at the end of this process's
    /// erasing.
    /// - Parameter limit: The maximum wait.
    @discardableResult
    public func waitUntilErased(atMost limit: Duration = .seconds(30)) async throws -> Erasure {
        let end = ContinuousClock.now + limit
        while true {
            let left = try await erasure()
            let now = ContinuousClock.now
            if left.isComplete || now >= end || Task.isCancelled { return left }
            await maintenance.work(atMost: min(end - now, .milliseconds(250)))
        }
    }

    /// Erases content left by a deletion, for at most 50 ms. The rest continues in the background. Never fails: the
    /// deletion is committed.
    func eraseSoon() async {
        await maintenance.work(atMost: .milliseconds(50))
    }
}
