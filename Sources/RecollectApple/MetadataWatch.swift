#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation

    /// Observes all changes of documents in an app's containers, including those not yet downloaded.
    ///
    /// `@unchecked Sendable`: the query is created, started and stopped only on the main queue.
    final class MetadataWatch: @unchecked Sendable {
        private var query: NSMetadataQuery?
        private var observers: [Observer] = []
        private var isEnded = false

        init(_ heard: @escaping @Sendable () -> Void) {
            DispatchQueue.main.async { self.start(heard) }
        }

        func end() {
            DispatchQueue.main.async {
                self.isEnded = true
                self.query?.stop()
                self.query = nil
                self.observers.forEach { $0.end() }
                self.observers = []
            }
        }

        private func start(_ heard: @escaping @Sendable () -> Void) {
            guard !isEnded else { return }
            let query = NSMetadataQuery()
            query.searchScopes = [NSMetadataQueryUbiquitousDocumentsScope]
            query.predicate = NSPredicate(format: "%K LIKE '*'", NSMetadataItemFSNameKey)
            query.notificationBatchingInterval = 0.5
            observers = [Notification.Name.NSMetadataQueryDidFinishGathering, .NSMetadataQueryDidUpdate].map {
                Observer($0, of: query, heard)
            }
            self.query = query
            query.start()
        }
    }
#endif
