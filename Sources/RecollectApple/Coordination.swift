#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectCore
    import RecollectWorkspace

    /// Access to files that other processes, iCloud's among them, have agreed to: bounded, and never one within another.
    struct Coordination: Sendable {
        /// How long the others are waited for. What has begun is always finished.
        let limit: DispatchTimeInterval

        /// Does blocking work while nobody writes a file.
        func reading<Value: Sendable>(_ url: URL, _ work: @escaping @Sendable () throws -> Value) throws -> Value {
            try coordinate(.readingIntent(with: url, options: .withoutChanges), "read", url, work)
        }

        /// Does blocking work while nobody else reads or writes a file.
        func writing<Value: Sendable>(
            _ url: URL, _ options: NSFileCoordinator.WritingOptions, _ work: @escaping @Sendable () throws -> Value
        ) throws -> Value {
            try coordinate(.writingIntent(with: url, options: options), "written", url, work)
        }

        private func coordinate<Value: Sendable>(
            _ intent: NSFileAccessIntent, _ what: String, _ url: URL, _ work: @escaping @Sendable () throws -> Value
        ) throws -> Value {
            let turn = BoundedTurn<Value>()
            let coordinator = NSFileCoordinator(filePresenter: nil)
            coordinator.coordinate(with: [intent], queue: Self.queue) { refusal in
                turn.run {
                    if let refusal {
                        throw RecollectError(
                            .inputOutput, "the system does not let \(url.path) be \(what)", cause: refusal)
                    }
                    return try work()
                }
            }
            if let value = try turn.result(within: limit) { return value }
            coordinator.cancel()
            throw RecollectError(
                .timedOut, "\(url.path) is in use by others, iCloud for one; nothing was done, try again later")
        }

        /// Where the work is done: not where its caller waits.
        private static let queue: OperationQueue = {
            let queue = OperationQueue()
            queue.name = "recollect.coordination"
            return queue
        }()
    }
#endif
