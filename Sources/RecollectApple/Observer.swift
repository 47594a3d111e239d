#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation

    /// Hears notifications until it is told to end.
    ///
    /// `@unchecked Sendable`: the token is set once and only handed back to the centre, which takes calls from any thread.
    final class Observer: @unchecked Sendable {
        private let token: any NSObjectProtocol

        /// - Parameter object: whose notifications; `nil` for anybody's.
        init(_ name: Notification.Name, of object: AnyObject? = nil, _ heard: @escaping @Sendable () -> Void) {
            token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in heard() }
        }

        func end() {
            NotificationCenter.default.removeObserver(token)
        }
    }
#endif
