import Crypto
import Foundation
import Logging

/// Posts the events of a store to a log and to all listeners.
///
/// ```swift
/// let task = Task {
///     for await event in history.events.stream() where event.kind == .salvaged {
///         print("The history was damaged; its readable messages were saved to a new one.")
///     }
/// }
/// ```
///
/// Message bodies are never logged. IDs, paths and the names of files set aside are logged as the first 12 digits
/// of their SHA-256: names from `FileChatStorage` contain the agent ID. Events posted without a listener, such as a
/// salvage at the opening, go to the first listener. The latest 64 of them are kept for it.
public final class StoreEvents: Sendable {
    /// The kinds of events in normal operation. They need no action.
    private static let expected: Set<StoreEvent.Kind> = [.droppedSameRole, .resolvedConflict, .externalEdit, .erased]

    private let logger: Logger
    private let listeners = Broadcast<StoreEvent>(bufferingNewest: 1024)
    /// The events without a listener. Its lock also orders new listeners and posted events.
    private let undelivered = Locked<[StoreEvent]>([])

    /// Creates an object without listeners and with a logger.
    public init(logger: Logger = Logger(label: "recollect")) {
        self.logger = logger
    }

    /// Returns a stream of the events from now on, after the unread ones. The stream ends when the iterating task
    /// is canceled.
    ///
    /// Each listener has a buffer of 1,024 events. A full buffer drops its oldest event.
    public func stream() -> AsyncStream<StoreEvent> {
        undelivered.withLock { undelivered in
            defer { undelivered = [] }
            return listeners.stream(beginningWith: undelivered)
        }
    }

    /// Returns the unread events and marks them as read. For programs without a listener.
    package func takeUndelivered() -> [StoreEvent] {
        undelivered.withLock { undelivered in
            defer { undelivered = [] }
            return undelivered
        }
    }

    /// Logs an event and passes it to all listeners. Called by stores. Never blocks.
    public func post(_ event: StoreEvent) {
        logger.log(
            level: event.failure == nil && Self.expected.contains(event.kind) ? .info : .warning,
            "\(event.kind.rawValue)", metadata: metadata(of: event))
        undelivered.withLock { undelivered in
            if !listeners.send(event) { undelivered = undelivered.suffix(63) + [event] }
        }
    }

    private func metadata(of event: StoreEvent) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        if let scope = event.scope {
            metadata["user"] = "\(Self.hashed(scope.userId))"
            metadata["session"] = "\(Self.hashed(scope.sessionId))"
            metadata["agent"] = "\(Self.hashed(scope.agentId))"
        }
        metadata["message"] = event.messageId.map { "\(Self.hashed($0))" }
        metadata["path"] = event.path.map { "\(Self.hashed($0))" }
        metadata["setAside"] = event.setAsideURL.map { "\(Self.hashed($0.lastPathComponent))" }
        metadata["recovered"] = event.recoveredMessages.map { "\($0)" }
        metadata["lost"] = event.lostMessages.map { "\($0)" }
        metadata["error"] = event.failure.map { "\(Logger.name(of: $0))" }
        return metadata
    }

    /// Returns an ID in its form for logs.
    static func hashed(_ id: String) -> String {
        String(SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal.prefix(12))
    }
}
