#if os(iOS) || os(macOS) || os(visionOS)
    import Foundation

    /// Observes notifications until `end()`.
    ///
    /// `@unchecked Sendable`: the token is set once, and only passed back to the center, callable from any thread.
    final class Observer: @unchecked Sendable {
        private let token: any NSObjectProtocol

        /// Creates an observer.
        ///
        /// - Parameter object: The sender of the notifications; `nil` for any sender.
        init(_ name: Notification.Name, of object: AnyObject? = nil, _ heard: @escaping @Sendable () -> Void) {
            token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { _ in heard() }
        }

        func end() {
            NotificationCenter.default.removeObserver(token)
        }
    }
#endif
