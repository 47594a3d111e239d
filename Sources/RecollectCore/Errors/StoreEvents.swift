import Crypto
import Foundation
import Logging

/// Something that a store did of its own accord and that an app may want to know: a message dropped, a file set aside.
public struct StoreEvent: Sendable {
    /// What happened; new kinds may come with new versions.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The kind's name, stable across versions.
        public let rawValue: String

        /// Makes a kind from its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A message repeated the last stored role and was not kept.
        public static let droppedSameRole = Kind(rawValue: "droppedSameRole")
        /// A damaged file was set aside and what could be read was kept.
        public static let salvaged = Kind(rawValue: "salvaged")
        /// A history that cannot be written has a damaged log: what was saved behind the damage is not shown until the history is
        /// opened where it can be written.
        public static let hiddenMessages = Kind(rawValue: "hiddenMessages")
        /// Something foreign had the name of one of Recollect's files. It was set aside, or left where it is if the event names no
        /// `setAside`, and is never removed.
        public static let foreignFile = Kind(rawValue: "foreignFile")
        /// Something was missing: a write-ahead log when the store opened, or what tells whose a file of chats is.
        public static let missingFile = Kind(rawValue: "missingFile")
        /// The files of an open store were replaced or removed by another program; the store goes on with those that are there now.
        public static let storeReplaced = Kind(rawValue: "storeReplaced")
        /// The process that wrote a reply ended in the middle; the reply was saved as far as it had come.
        public static let interruptedReply = Kind(rawValue: "interruptedReply")
        /// The messages of a listed session were asked for and could not be read; the session showed none.
        public static let unreadableSession = Kind(rawValue: "unreadableSession")
        /// What was deleted has been erased from the files, too.
        public static let erased = Kind(rawValue: "erased")
        /// The search index was made anew.
        public static let rebuiltIndex = Kind(rawValue: "rebuiltIndex")
        /// Versions of one file that contradicted each other were folded into one.
        public static let foldedConflict = Kind(rawValue: "foldedConflict")
        /// Files whose names some systems take for one were found.
        public static let twins = Kind(rawValue: "twins")
        /// Most or all files of a workspace were gone at once; nothing was concluded from that.
        public static let vanished = Kind(rawValue: "vanished")
        /// A file larger than a synced folder is good for was written.
        public static let largeFile = Kind(rawValue: "largeFile")
        /// A file is written more often than a synced folder is good for.
        public static let frequentWrites = Kind(rawValue: "frequentWrites")
        /// A person's edit of a file that Recollect writes was taken in, or archived where it could not be.
        public static let handEdited = Kind(rawValue: "handEdited")
        /// A summary could not be made or kept; agents are given what it would have covered.
        public static let summaryFailed = Kind(rawValue: "summaryFailed")
    }

    /// What happened.
    public let kind: Kind
    /// The scope it happened in, where there is one.
    public let scope: Scope?
    /// The message that it is about, where there is one.
    public let messageId: String?
    /// The file that it is about, from the root of its workspace on, where there is one.
    public let path: String?
    /// The file that was set aside, under its new path.
    public let setAside: URL?
    /// Messages that could be read and were kept; `nil` where this has no meaning.
    public let recoveredMessages: Int?
    /// Messages known to be lost; `nil` where it cannot be known.
    public let lostMessages: Int?
    /// The sessions of which messages are known to be lost. They are never logged.
    public let lostSessions: [SessionLoss]
    /// What went wrong, where something did; of it only the code or the type is logged.
    public let failure: (any Error)?

    /// Makes an event.
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

/// Where a store tells what it did of its own accord: to a log, and to everyone who listens.
///
/// Message bodies are never logged and ids only as the first 12 digits of their SHA-256. An event that happened before
/// anyone listened (a salvage at opening, say) is given to the first listener: the latest 64 are kept for that.
public final class StoreEvents: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<StoreEvent>.Continuation] = [:]
        var nextListener = 0
        var unheard: [StoreEvent] = []
    }

    /// What stores do all the time, and nobody need do anything about.
    private static let expected: Set<StoreEvent.Kind> = [.droppedSameRole, .foldedConflict, .handEdited, .erased]

    private let logger: Logger
    private let state = Locked(State())

    /// Makes a place for events that logs to `logger`.
    public init(logger: Logger = Logger(label: "recollect")) {
        self.logger = logger
    }

    /// The events from now on, and those that nobody has heard; ends when the task that iterates it is cancelled.
    ///
    /// Each listener has a buffer of 1,024 events; one that does not keep up loses the oldest.
    public func stream() -> AsyncStream<StoreEvent> {
        let (stream, continuation) = AsyncStream<StoreEvent>.makeStream(bufferingPolicy: .bufferingNewest(1024))
        let key = state.withLock { state -> Int in
            state.unheard.forEach { continuation.yield($0) }
            state.unheard = []
            state.nextListener += 1
            state.listeners[state.nextListener] = continuation
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.listeners[key] = nil }
        }
        return stream
    }

    /// The events that nobody has heard, which are then heard: for a program that asks once, at its end.
    package func takeUnheard() -> [StoreEvent] {
        state.withLock { state in
            defer { state.unheard = [] }
            return state.unheard
        }
    }

    /// Logs an event and gives it to all listeners. For stores to call; never blocks.
    public func post(_ event: StoreEvent) {
        logger.log(
            level: event.failure == nil && Self.expected.contains(event.kind) ? .info : .warning,
            "\(event.kind.rawValue)", metadata: metadata(of: event))
        state.withLock { state in
            if state.listeners.isEmpty {
                state.unheard = state.unheard.suffix(63) + [event]
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
        metadata["setAside"] = event.setAside.map { "\($0.lastPathComponent)" }
        metadata["recovered"] = event.recoveredMessages.map { "\($0)" }
        metadata["lost"] = event.lostMessages.map { "\($0)" }
        metadata["error"] = event.failure.map { "\(Logger.name(of: $0))" }
        return metadata
    }

    /// An id as it may stand in a log.
    static func hashed(_ id: String) -> String {
        String(SHA256.hash(data: Data(id.utf8)).lowercaseHexadecimal.prefix(12))
    }
}
