import Foundation
import Logging
import RecollectFileSystem

/// A session store in `UserDefaults` with a key for each session, for a few short sessions.
///
/// On Apple's systems, the system writes a suite as a whole, at a time of its choice. All promises of
/// `SessionStorageProtocol` hold except durability after a crash. A save costs as much as writing the whole
/// session. Stores in one process may share a suite without loss. Several processes must not write to one suite at
/// the same time, because user defaults have no locks. For more sessions, use `SQLiteSessionStorage`.
///
/// On Linux, the store reads and writes the suite's file itself. Processes may share the file, and a returned save
/// is durable. Reading and saving cost as much as the whole suite. `UserDefaults` gets values saved here with its
/// `synchronize`, and this store gets values set in `UserDefaults` after `synchronize`. An app must not call
/// `synchronize` while a store saves: it writes the file without a lock, and may undo the last saves. With an
/// unreadable file, every call throws.
///
/// Keys are `recollect.session/id`, with the ID escaped so that keys are unique. Listing sessions decodes no
/// messages. Work runs on one queue for the process. A damaged value is kept until its session is deleted, under a
/// key beginning with `recollect.aside`. Its readable content stays under the session's key, and an event has the
/// number of messages. A task canceled before its call is queued changes nothing, and gets `CancellationError`.
/// Calls of one actor run in their order.
public final class UserDefaultsSessionStorage: SessionStorageProtocol, Sendable {
    /// The events of the store, such as values set aside.
    public let events: StoreEvents

    private let defaults: UserDefaultsSuite
    private let now: @Sendable () -> Date

    /// The clock of each suite with a write by this process.
    private static let clocks = Locked<[String: SessionClock]>([:])

    /// Creates a store in a suite of user defaults, without reading anything.
    /// - Parameters:
    ///   - suiteName: The suite, such as an app group. `nil`, or a name refused by the system, means the app's own
    ///     defaults.
    ///   - logger: The log of the store. Message bodies are never logged.
    public convenience init(suiteName: String? = nil, logger: Logger = Logger(label: "recollect")) {
        self.init(suiteName: suiteName, logger: logger, now: { Date() })
    }

    init(suiteName: String?, logger: Logger, now: @escaping @Sendable () -> Date) {
        defaults = UserDefaultsSuite(name: suiteName)
        self.now = now
        events = StoreEvents(logger: logger)
    }

    /// Saves a new session, or records the access to an existing one.
    nonisolated(nonsending) public func saveSession(id: String, firstMessage: String) async throws {
        try await defaults.run(making: true) {
            let date = self.nextDate()
            var value = self.value(of: id) ?? SessionValue(createdAt: date, firstUserMessage: firstMessage)
            if value.firstUserMessage.isEmpty { value.firstUserMessage = firstMessage }
            value.lastAccessedAt = date
            try self.write(value, to: id)
        }
    }

    /// Returns all sessions, the last accessed first. The messages of each are decoded on first use, in their
    /// state at the listing.
    nonisolated(nonsending) public func getAllSessions() async throws -> [StoredSession] {
        try await defaults.run {
            var sessions = self.ids.compactMap { id in
                self.value(of: id).map { value in
                    value.session(id: id) { value.messages()?.entries ?? self.readNow(id) }
                }
            }
            sessions.sortByLastAccess()
            return sessions
        }
    }

    /// Returns a session with its messages in order; `nil` if there is none.
    nonisolated(nonsending) public func getSession(id: String) async throws -> StoredSession? {
        try await defaults.run {
            self.read(id).map { value, messages in
                let entries = messages.entries
                return value.session(id: id) { entries }
            }
        }
    }

    /// Records the access to a session.
    nonisolated(nonsending) public func updateLastAccessed(id: String) async throws {
        try await defaults.run {
            guard var value = self.value(of: id) else { return }
            value.lastAccessedAt = self.nextDate()
            try self.write(value, to: id)
        }
    }

    /// Deletes a session with its messages and its values set aside.
    nonisolated(nonsending) public func deleteSession(id: String) async throws {
        try await defaults.run {
            try self.removeKeys { $0 == Self.key(of: id) || $0.hasPrefix(Self.asidePrefix(of: Self.key(of: id))) }
        }
    }

    /// Deletes all sessions and their values set aside.
    nonisolated(nonsending) public func deleteAllSessions() async throws {
        try await defaults.run {
            try self.removeKeys { $0.hasPrefix(Self.prefix) || $0.hasPrefix(Self.aside + Self.prefix) }
        }
    }

    /// Replaces all messages of a session. With a repeated ID, the last content counts.
    /// - Throws: `tooLarge` for metadata nested deeper than `JSONValue.depthLimit`. Nothing is saved then.
    nonisolated(nonsending) public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        let messages = messages.eachIdOnce()
        try await defaults.run(making: true) {
            let date = self.nextDate()
            var (value, stored) =
                self.read(id)
                ?? (SessionValue(createdAt: date, firstUserMessage: messages.firstUserMessage), [])
            if value.firstUserMessage.isEmpty { value.firstUserMessage = messages.firstUserMessage }
            value.lastAccessedAt = date
            try value.setMessages(messages, insteadOf: stored)
            try self.write(value, to: id)
        }
    }

    /// Changes the ID of a session. An existing session with the new ID is merged with it.
    nonisolated(nonsending) public func updateSessionId(oldId: String, newId: String) async throws {
        guard !oldId.hasSameBytes(as: newId) else { return }
        try await defaults.run {
            guard let (old, oldMessages) = self.read(oldId) else { return }
            var value = old
            if let (newer, newMessages) = self.read(newId) {
                value = newer
                value.take(old)
                try value.setMessages(
                    oldMessages.entries.joined(to: newMessages.entries, from: oldId),
                    insteadOf: oldMessages + newMessages)
            }
            // One save for both keys: otherwise a crash could leave the session under both IDs.
            self.defaults[Self.key(of: newId)] = value.data
            self.moveAside(from: oldId, to: newId)
            try self.removeKeys { $0 == Self.key(of: oldId) }
        }
    }
}

/// The steps on the queue.
extension UserDefaultsSessionStorage {
    private static let prefix = "recollect.session/"
    private static let aside = "recollect.aside/"

    /// Escaped IDs have no slash, so no session's key is a prefix of another one's.
    private static func key(of id: String) -> String {
        prefix + NameEscaping.escaped(id)
    }

    private static func asidePrefix(of key: String) -> String {
        aside + key + "/"
    }

    private var ids: [String] {
        defaults.keys.filter { $0.hasPrefix(Self.prefix) }
            .compactMap { NameEscaping.id(of: String($0.dropFirst(Self.prefix.count))) }
    }

    private func nextDate() -> Date {
        var clock = Self.clocks.withLock { $0[defaults.name] } ?? SessionClock()
        for id in clock.hasBegun ? [] : ids {
            if let value = value(of: id) { clock.advance(past: value.lastAccessedAt) }
        }
        let date = clock.next(now: now())
        Self.clocks.withLock { $0[defaults.name] = clock }
        return date
    }

    /// Returns a session, possibly with damaged messages; `nil` if there is none.
    private func value(of id: String) -> SessionValue? {
        let key = Self.key(of: id)
        guard let stored = defaults[key] else { return nil }
        return (stored as? Data).flatMap { SessionValue($0) } ?? salvage(stored, at: key, of: id)
    }

    /// Returns a session and its messages, salvaged if they were damaged; `nil` if there is none.
    private func read(_ id: String) -> (value: SessionValue, messages: [EncodedMessage])? {
        guard let value = value(of: id) else { return nil }
        if let messages = value.messages() { return (value, messages) }
        let salvaged = salvage(value.data, at: Self.key(of: id), of: id)
        return (salvaged, salvaged.messages() ?? [])
    }

    /// Returns the messages of a listed session with damage.
    private func readNow(_ id: String) -> [ChatMessage] {
        do {
            return try defaults.runBlocking { read(id)?.messages.entries ?? [] }
        } catch {
            let scope = Scope(userId: "", sessionId: id, agentId: "")
            events.post(StoreEvent(kind: .unreadableSession, scope: scope, failure: error))
            return []
        }
    }

    /// Copies the stored value to another key, and replaces it with its readable content.
    private func salvage(_ stored: Any, at key: String, of id: String) -> SessionValue {
        let value = SessionValue(salvaging: stored as? Data ?? Data(), now: now())
        let aside = Self.asidePrefix(of: key) + UUID.random().uuidString
        if defaults.repair(key, with: value.data, keepingOldAs: aside) {
            events.post(
                StoreEvent(
                    kind: .salvaged, scope: Scope(userId: "", sessionId: id, agentId: ""),
                    recoveredMessages: value.messages()?.count))
        }
        return value
    }

    /// Moves the values set aside for a session to its new ID.
    private func moveAside(from oldId: String, to newId: String) {
        let (old, new) = (Self.asidePrefix(of: Self.key(of: oldId)), Self.asidePrefix(of: Self.key(of: newId)))
        for key in defaults.keys where key.hasPrefix(old) {
            defaults[new + key.dropFirst(old.count)] = defaults[key]
            defaults[key] = nil
        }
    }

    private func write(_ value: SessionValue, to id: String) throws {
        defaults[Self.key(of: id)] = value.data
        try defaults.save()
    }

    private func removeKeys(where isGone: (String) -> Bool) throws {
        for key in defaults.keys where isGone(key) { defaults[key] = nil }
        try defaults.save()
    }
}
