import Foundation
import Logging

/// Keeps each session under a key of its own in `UserDefaults`: for a few short sessions.
///
/// Apple's systems write user defaults as a whole and when they see fit, so all that `SessionStorageProtocol` promises holds except
/// durability past a crash; every save costs what the whole session costs. Storages of one process may share a suite and lose
/// nothing; processes may not write to one at the same time, because user defaults have no locks. For more, use
/// `SQLiteSessionStorage`.
///
/// On Linux the storage reads and writes the suite's file itself: processes may share it, a save returns when it is on the disk, and
/// both cost what the whole suite costs. `UserDefaults` there has what is saved here, and this what is set there, after its
/// `synchronize`. A file that cannot be read makes every call throw.
///
/// Keys are `recollect.session/id` with the id escaped so that no two meet. Listing sessions decodes no messages. Work runs on a
/// queue of its own. A value that is damaged is kept under a key that begins with `recollect.aside` until its session is deleted,
/// what can be read of it stays, and `events` tells how much. A task that is cancelled before its call is queued has done nothing
/// and gets `CancellationError`.
public final class UserDefaultsSessionStorage: SessionStorageProtocol, Sendable {
    /// Where the storage tells of values that it set aside.
    public let events: StoreEvents

    private let defaults: UserDefaultsSuite
    private let now: @Sendable () -> Date

    /// The clock of each suite that has been written.
    private static let clocks = Locked<[String: SessionClock]>([:])

    /// Makes a storage in a suite of user defaults, without reading anything.
    /// - Parameters:
    ///   - suiteName: An app group, for instance; `nil`, and a name that the system refuses, are the app's own defaults.
    ///   - logger: Where the storage logs; never a message's body.
    public convenience init(suiteName: String? = nil, logger: Logger = Logger(label: "recollect")) {
        self.init(suiteName: suiteName, logger: logger, now: { Date() })
    }

    init(suiteName: String?, logger: Logger, now: @escaping @Sendable () -> Date) {
        defaults = UserDefaultsSuite(name: suiteName)
        self.now = now
        events = StoreEvents(logger: logger)
    }

    /// Saves a new session, or notes that a known one was opened.
    public func saveSession(id: String, firstMessage: String) async throws {
        try await defaults.run(making: true) {
            let moment = self.nextMoment()
            var value = self.value(of: id) ?? SessionValue(createdAt: moment, firstUserMessage: firstMessage)
            if value.firstUserMessage.isEmpty { value.firstUserMessage = firstMessage }
            value.lastAccessedAt = moment
            try self.write(value, to: id)
        }
    }

    /// All sessions, the last accessed first; the messages of each are read when they are asked for, as they were listed.
    public func getAllSessions() async throws -> [StoredSession] {
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

    /// One session with its messages in order; `nil` if there is none.
    public func getSession(id: String) async throws -> StoredSession? {
        try await defaults.run {
            self.read(id).map { value, messages in
                let entries = messages.entries
                return value.session(id: id) { entries }
            }
        }
    }

    /// Notes that a session was opened.
    public func updateLastAccessed(id: String) async throws {
        try await defaults.run {
            guard var value = self.value(of: id) else { return }
            value.lastAccessedAt = self.nextMoment()
            try self.write(value, to: id)
        }
    }

    /// Deletes a session with its messages, and what was set aside of it.
    public func deleteSession(id: String) async throws {
        try await defaults.run {
            try self.removeKeys { $0 == Self.key(of: id) || $0.hasPrefix(Self.asidePrefix(of: Self.key(of: id))) }
        }
    }

    /// Deletes all sessions, and what was set aside of them.
    public func deleteAllSessions() async throws {
        try await defaults.run {
            try self.removeKeys { $0.hasPrefix(Self.prefix) || $0.hasPrefix(Self.aside + Self.prefix) }
        }
    }

    /// Makes the session's transcript these messages, whole; of an id that is given twice, the last content counts.
    /// - Throws: `tooLarge` for metadata nested deeper than `JSONValue.depthLimit`; then nothing is saved.
    public func updateSessionMessages(id: String, messages: [ChatMessage]) async throws {
        let messages = messages.eachIdOnce()
        try await defaults.run(making: true) {
            let moment = self.nextMoment()
            var (value, stored) =
                self.read(id)
                ?? (SessionValue(createdAt: moment, firstUserMessage: messages.firstUserMessage), [])
            if value.firstUserMessage.isEmpty { value.firstUserMessage = messages.firstUserMessage }
            value.lastAccessedAt = moment
            try value.setMessages(messages, insteadOf: stored)
            try self.write(value, to: id)
        }
    }

    /// Gives a session another id; where there is a session of that id, the two become one.
    public func updateSessionId(oldId: String, newId: String) async throws {
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
            // In one save: under both ids it would be two sessions.
            self.defaults[Self.key(of: newId)] = value.data
            self.moveAside(from: oldId, to: newId)
            try self.removeKeys { $0 == Self.key(of: oldId) }
        }
    }
}

/// What runs on the queue.
extension UserDefaultsSessionStorage {
    private static let prefix = "recollect.session/"
    private static let aside = "recollect.aside/"

    /// Escaped ids hold no slash, so a session's key is never the beginning of another's.
    private static func key(of id: String) -> String {
        prefix + EscapedName.escaped(id)
    }

    private static func asidePrefix(of key: String) -> String {
        aside + key + "/"
    }

    private var ids: [String] {
        defaults.keys.filter { $0.hasPrefix(Self.prefix) }
            .compactMap { EscapedName.id(of: String($0.dropFirst(Self.prefix.count))) }
    }

    private func nextMoment() -> Date {
        var clock = Self.clocks.withLock { $0[defaults.name] } ?? SessionClock()
        for id in clock.hasBegun ? [] : ids {
            if let value = value(of: id) { clock.see(value.lastAccessedAt) }
        }
        let moment = clock.next(now: now())
        Self.clocks.withLock { $0[defaults.name] = clock }
        return moment
    }

    /// A session whose messages may be damaged; `nil` if there is none.
    private func value(of id: String) -> SessionValue? {
        let key = Self.key(of: id)
        guard let stored = defaults[key] else { return nil }
        return (stored as? Data).flatMap { SessionValue($0) } ?? salvage(stored, at: key, of: id)
    }

    /// A session and its messages, mended if they were damaged; `nil` if there is none.
    private func read(_ id: String) -> (value: SessionValue, messages: [EncodedMessage])? {
        guard let value = value(of: id) else { return nil }
        if let messages = value.messages() { return (value, messages) }
        let salvaged = salvage(value.data, at: Self.key(of: id), of: id)
        return (salvaged, salvaged.messages() ?? [])
    }

    /// The messages of a session that was listed and is damaged.
    private func readNow(_ id: String) -> [ChatMessage] {
        do {
            return try defaults.runBlocking { read(id)?.messages.entries ?? [] }
        } catch {
            let scope = Scope(userId: "", sessionId: id, agentId: "")
            events.post(StoreEvent(kind: .unreadableSession, scope: scope, failure: error))
            return []
        }
    }

    /// Keeps what is stored under another key, and what can be read of it in its place.
    private func salvage(_ stored: Any, at key: String, of id: String) -> SessionValue {
        defaults[Self.asidePrefix(of: key) + UUID().uuidString] = stored
        let value = SessionValue(salvaging: stored as? Data ?? Data(), now: now())
        // What cannot be written now is mended by the next call: nothing is set aside then, and nothing is lost.
        try? write(value, to: id)
        events.post(
            StoreEvent(
                kind: .salvaged, scope: Scope(userId: "", sessionId: id, agentId: ""),
                recoveredMessages: value.messages()?.count))
        return value
    }

    /// Lets what was set aside of a session follow it to its new id.
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
