import Crypto
import Foundation
import Logging

/// A notice posted by a store about an action of its own, such as a dropped message or a file set aside.
public struct StoreEvent: Sendable {
    /// The kind of an event. New versions may add kinds.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Creates a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message repeated the last stored role and was not saved.
        public static let droppedSameRole = Kind(rawValue: "droppedSameRole")
        /// A damaged file was set aside, and its readable content was kept.
        public static let salvaged = Kind(rawValue: "salvaged")
        /// The log of a read-only history is damaged. The messages after the damage are hidden until the history
        /// is opened for writing.
        public static let hiddenMessages = Kind(rawValue: "hiddenMessages")
        /// A foreign file had the name of one of Recollect's files. It was set aside, or left untouched if the
        /// event has no `setAside`. It is never removed.
        public static let foreignFile = Kind(rawValue: "foreignFile")
        /// The saved ID of a hashed file or folder name is missing, so the owner of its chats is unknown.
        public static let missingFile = Kind(rawValue: "missingFile")
        /// Another program replaced or removed the files of an open store. The store continues with the current
        /// files.
        public static let storeReplaced = Kind(rawValue: "storeReplaced")
        /// The writer of a streaming reply ended before the reply did. The reply was saved up to that point.
        public static let interruptedReply = Kind(rawValue: "interruptedReply")
        /// The messages of a listed session could not be read. The session showed none.
        public static let unreadableSession = Kind(rawValue: "unreadableSession")
        /// Deleted content has been erased from the files.
        public static let erased = Kind(rawValue: "erased")
        /// The search index was rebuilt.
        public static let rebuiltIndex = Kind(rawValue: "rebuiltIndex")
        /// A conflict of versions of one file was resolved.
        public static let resolvedConflict = Kind(rawValue: "resolvedConflict")
        /// Files with a name collision were found.
        public static let nameCollision = Kind(rawValue: "nameCollision")
        /// Most or all files of a workspace were missing at once. They are not treated as deleted.
        public static let massDeletion = Kind(rawValue: "massDeletion")
        /// A file too large for a synced folder was written.
        public static let largeFile = Kind(rawValue: "largeFile")
        /// A file is written too often for a synced folder.
        public static let frequentWrites = Kind(rawValue: "frequentWrites")
        /// A person's edit of a file written by Recollect was taken in, or archived if it could not be.
        public static let externalEdit = Kind(rawValue: "externalEdit")
        /// A summary could not be made or saved. Agents are given the messages instead.
        public static let summaryFailed = Kind(rawValue: "summaryFailed")
    }

    /// The kind of the event.
    public let kind: Kind
    /// The scope of the event, if it has one.
    public let scope: Scope?
    /// The ID of the message, if the event has one.
    public let messageId: String?
    /// The path of the file, relative to the root of its workspace, if the event has one.
    public let path: String?
    /// The file set aside, at its new path.
    public let setAside: URL?
    /// The number of messages read and kept; `nil` if not applicable.
    public let recoveredMessages: Int?
    /// The number of messages known to be lost; `nil` if unknown.
    public let lostMessages: Int?
    /// The sessions with messages known to be lost. Never logged.
    public let lostSessions: [SessionLoss]
    /// The error behind the event, if there is one. Only its code or its type is logged.
    public let failure: (any Error)?

    /// Creates an event.
    public init(
        kind: Kind, scope: Scope? = nil, messageId: String? = nil, path: String? = nil, setAside: URL? = nil,
        recoveredMessages: Int? = nil, lostMessages: Int? = nil, lostSessions: [SessionLoss] = [],
        failure: (any Error)? = nil
    ) {
        self.kind = kind
        self.scope = scope
        self.messageId = messageId
        self.path = path
        self.setAside = setAside
        self.recoveredMessages = recoveredMessages
        self.lostMessages = lostMessages
        self.lostSessions = lostSessions
        self.failure = failure
    }
}

/// Posts the events of a store to a log and to all listeners.
///
/// Message bodies are never logged. IDs, paths and the names of files set aside are logged as the first 12 digits
/// of their SHA-256: names from `FileChatStorage` contain the agent ID. Events posted without a listener, such as a
/// salvage at the opening, go to the first listener. The latest 64 of them are kept for it.
public final class StoreEvents: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<StoreEvent>.Continuation] = [:]
        var nextListener = 0
        var undelivered: [StoreEvent] = []
    }

    /// The kinds of events in normal operation. They need no action.
    private static let expected: Set<StoreEvent.Kind> = [.droppedSameRole, .resolvedConflict, .externalEdit, .erased]

    private let logger: Logger
    private let state = Locked(State())

    /// Creates an object without listeners and with a logger.
    public init(logger: Logger = Logger(label: "recollect")) {
        self.logger = logger
    }

    /// Returns a stream of the events from now on, after the unread ones. The stream ends when the iterating task
    /// is canceled.
    ///
    /// Each listener has a buffer of 1,024 events. A full buffer drops its oldest event.
    public func stream() -> AsyncStream<StoreEvent> {
        let (stream, continuation) = AsyncStream<StoreEvent>.makeStream(bufferingPolicy: .bufferingNewest(1024))
        let key = state.withLock { state -> Int in
            state.undelivered.forEach { continuation.yield($0) }
            state.undelivered = []
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[key] = nil }
        }
        return stream
    }

    /// Returns the unread events and marks them as read. For programs without a listener.
    package func takeUndelivered() -> [StoreEvent] {
        state.withLock { state in
            defer { state.undelivered = [] }
            return state.undelivered
        }
    }

    /// Logs an event and passes it to all listeners. Called by stores. Never blocks.
    public func post(_ event: StoreEvent) {
        logger.log(
            level: event.failure == nil && Self.expected.contains(event.kind) ? .info : .warning,
            "\(event.kind.rawValue)", metadata: metadata(of: event))
        state.withLock { state in
            if state.listeners.isEmpty {
                state.undelivered = state.undelivered.suffix(63) + [event]
            }
            state.listeners.values.forEach { $0.yield(event) }
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
        metadata["setAside"] = event.setAside.map { "\(Self.hashed($0.lastPathComponent))" }
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
