#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation
    import RecollectCore
    import RecollectWorkspace

    /// Coordinated file access, with other processes and iCloud: limited in time, and never nested.
    struct Coordination: Sendable {
        /// The maximum wait for other processes. Work already begun is always finished.
        let limit: Duration

        /// Performs blocking work while no process writes the file.
        func reading<Value: Sendable>(_ url: URL, _ work: @escaping @Sendable () throws -> Value) throws -> Value {
            try coordinate(.readingIntent(with: url, options: .withoutChanges), "read", url, work)
        }

        /// Performs blocking work while no other process reads or writes the file.
        func writing<Value: Sendable>(
            _ url: URL, _ options: NSFileCoordinator.WritingOptions, _ work: @escaping @Sendable () throws -> Value
        ) throws -> Value {
            try coordinate(.writingIntent(with: url, options: options), "written", url, work)
        }

        private func coordinate<Value: Sendable>(
            _ intent: NSFileAccessIntent, _ what: String, _ url: URL, _ work: @escaping @Sendable () throws -> Value
        ) throws -> Value {
            let turn = CancellableWork<Value>()
            let coordinator = NSFileCoordinator(filePresenter: nil)
            coordinator.coordinate(with: [intent], queue: Self.queue) { refusal in
                turn.run {
                    if let refusal {
                        throw RecollectError(
                            .inputOutput, "\(url.path) cannot be \(what): the system refused access", cause: refusal)
                    }
                    return try work()
                }
            }
            if let value = try turn.result(within: limit) { return value }
            coordinator.cancel()
            throw RecollectError(
                .timedOut,
                "\(url.path) is in use by another process, such as iCloud; nothing was done: try again later")
        }

        /// The queue for the work, separate from the waiting caller.
        private static let queue: OperationQueue = {
            let queue = OperationQueue()
            queue.name = "recollect.coordination"
            return queue
        }()
    }
#endif
