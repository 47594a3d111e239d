import Crypto
import Foundation
import Logging
import RecollectFileSystem

/// A chat store in `UserDefaults` with a JSON array for each scope, for a few short sessions.
///
/// ```swift
/// let store = UserDefaultsChatStorage(suiteName: "group.com.example.chat")
/// ```
///
/// On Apple's systems, the system writes a suite as a whole, at a time of its choice. All rules of a history hold
/// except durability after a crash. A save costs as much as writing the whole scope. Stores in one process may
/// share a suite. Several processes must not write to one suite at the same time, because user defaults have no
/// locks. For more messages, use `FileChatStorage` or a history.
///
/// On Linux, the store reads and writes the suite's file itself. Processes may share the file, and a returned save
/// is durable. Reading and saving cost as much as the whole suite. `UserDefaults` gets values saved here with its
/// `synchronize`, and this store gets values set in `UserDefaults` after `synchronize`. An app must not call
/// `synchronize` while a store saves: it writes the file without a lock, and may undo the last saves. With an
/// unreadable file, every call throws.
///
/// Keys are `recollect.chat/user/session/agent`, with the IDs escaped so that keys are unique and no session's
/// prefix fits another session. Values of the `UserDefaultsChatStorage` in Agent Squad's guide, under
/// `AgentSquad.user.session.agent`, are read too. The first save to such a scope writes them under the new key.
/// The old value stays. With a dot in an ID, such a key is ambiguous, and it is not read.
///
/// Work runs on one queue for the process. A damaged value is kept under a key beginning with `recollect.aside`,
/// its readable content stays under the scope's key, and an event has the number of messages. A task canceled
/// before its save is queued saves nothing, and gets `CancellationError`.
public final class UserDefaultsChatStorage: ChatStorage {
    /// The events of the store, such as dropped messages and values set aside.
    public let events: StoreEvents

    private let defaults: UserDefaultsSuite
    private let sameRole: SameRolePolicy

    /// Creates a store in a suite of user defaults.
    /// - Parameters:
    ///   - suiteName: The suite, such as an app group. `nil`, or a name refused by the system, means the app's own
    ///     defaults.
    ///   - sameRole: The rule for a message with the last stored role.
    ///   - logger: The log of the store. Message bodies are never logged.
    public init(suiteName: String? = nil, sameRole: SameRolePolicy = .drop, logger: Logger = Logger(label: "recollect"))
    {
        defaults = UserDefaultsSuite(name: suiteName)
        self.sameRole = sameRole
        events = StoreEvents(logger: logger)
    }

    /// Returns the last messages of a scope, in the order of saving.
    /// - Throws: `foreignStore` if the value under the scope's key is not a chat.
    public func fetch(
        userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws -> [ConversationMessage] {
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        return try await defaults.run {
            self.trimToEvenPairs(try self.chat(of: scope).map(\.message), maxMessages: maxMessages)
        }
    }

    /// Saves one message as a batch of one.
    public func save(
        _ message: ConversationMessage, userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try await saveMessages(
            [message], userId: userId, sessionId: sessionId, agentId: agentId, maxMessages: maxMessages)
    }

    /// Saves a batch completely or not at all, and trims the scope to its budget in the same step.
    /// - Throws: `RecollectError`, for example `tooLarge` for a value nested deeper than `JSONValue.depthLimit`,
    ///   or `CancellationError` if the task was canceled before. Nothing is saved then.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let admission = try await defaults.run(making: true) {
            var chat = try self.chat(of: scope)
            let ids = Set(chat.map { ByteString($0.message.id) })
            let admission = BatchFilter(
                of: messages, sameRole: self.sameRole, lastRole: chat.last?.message.role, isKnown: ids.contains)
            let before = chat.count
            chat += admission.accepted.map { EncodedMessage($0) }
            let size = MessageWindow.size(for: maxMessages) ?? chat.count
            if chat.count > before || chat.count > size {
                try self.write(chat.suffix(size), to: Self.key(of: scope))
            }
            return admission
        }
        admission.report(to: events, scope: scope)
    }

    /// Returns all messages of a session, merged over its agents by timestamp. The text of assistants begins with
    /// `[agentId]`.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let session = SessionKey(userId: userId, sessionId: sessionId)
        return try await defaults.run {
            MergedChats.merge(
                try self.scopes(of: session).map {
                    AgentMessages(agentId: $0.agentId, messages: try self.chat(of: $0).map(\.message))
                })
        }
    }
}

extension UserDefaultsChatStorage {
    /// Returns the messages of a scope, each with its stored JSON. Salvages a damaged value.
    private func chat(of scope: Scope) throws -> [EncodedMessage] {
        let key = Self.key(of: scope)
        guard let value = defaults[key] else { return guideChat(of: scope) }
        guard let data = value as? Data else {
            throw RecollectError(
                .foreignStore, "the value of \(key) in the user defaults is not a chat; it was left unchanged")
        }
        let bytes = Array(data)
        if let ranges = MessageArray.layout(of: bytes)?.messages {
            let chat = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
            if chat.count == ranges.count { return chat }
        }
        let damage = Damage(bytes: bytes)
        let chat = damage.ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        let aside = "recollect.aside/\(key)/\(UUID.random().uuidString)"
        if defaults.repair(key, with: Data(damage.salvaged), keepingOldAs: aside) {
            events.post(StoreEvent(kind: .salvaged, scope: scope, recoveredMessages: chat.count))
        }
        return chat
    }

    /// Returns the messages of a scope saved by the store of Agent Squad's guide. Leaves a damaged value
    /// unchanged, and reports it once.
    private func guideChat(of scope: Scope) -> [EncodedMessage] {
        guard let prefix = Self.guidePrefix(of: scope.session), !scope.agentId.utf8.contains(Byte.dot),
            let data = guideValue(of: prefix + scope.agentId)
        else { return [] }
        let bytes = Array(data)
        if let ranges = MessageArray.layout(of: bytes)?.messages {
            let chat = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
            if chat.count == ranges.count { return chat }
        }
        let chat = Damage(bytes: bytes).ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        let hash = SHA256.hash(data: data)
        if defaults.reportedDamage.updateValue(hash, forKey: prefix + scope.agentId) != hash {
            events.post(StoreEvent(kind: .salvaged, scope: scope, recoveredMessages: chat.count))
        }
        return chat
    }

    private func guideValue(of key: String) -> Data? {
        guard let data = defaults[key] as? Data else { return nil }
        // User defaults may treat different Unicode forms of a key as equal.
        let isOneForm = key.utf8.allSatisfy { $0 < 0x80 }
        return isOneForm || defaults.keys.contains(where: key.hasSameBytes) ? data : nil
    }

    /// Returns the key prefix of a session in the store of Agent Squad's guide; `nil` if it is ambiguous.
    private static func guidePrefix(of session: SessionKey) -> String? {
        let ids = [session.userId, session.sessionId]
        return ids.contains { $0.utf8.contains(Byte.dot) } ? nil : "AgentSquad.\(ids[0]).\(ids[1])."
    }

    private func write(_ chat: ArraySlice<EncodedMessage>, to key: String) throws {
        defaults[key] = Data(MessageArray.joined(chat.map { $0.bytes[...] }))
        try defaults.save()
    }

    /// Returns the scopes of a session with a key, of this store or of the guide's.
    private func scopes(of session: SessionKey) -> Set<Scope> {
        let prefix = Self.prefix(of: session)
        let guidePrefix = Self.guidePrefix(of: session)
        var scopes: Set<Scope> = []
        for key in defaults.keys {
            if key.hasPrefix(prefix), let id = NameEscaping.id(of: String(key.dropFirst(prefix.count))) {
                scopes.insert(session.scope(agentId: id))
            } else if let guidePrefix, key.utf8.starts(with: guidePrefix.utf8) {
                let agent = key.utf8.dropFirst(guidePrefix.utf8.count)
                if !agent.contains(Byte.dot) { scopes.insert(session.scope(agentId: String(Substring(agent)))) }
            }
        }
        return scopes
    }

    private static func key(of scope: Scope) -> String {
        prefix(of: scope.session) + NameEscaping.escaped(scope.agentId)
    }

    /// Escaped IDs have no slash, so exactly the keys of the session have this prefix.
    private static func prefix(of session: SessionKey) -> String {
        let (user, session) = (NameEscaping.escaped(session.userId), NameEscaping.escaped(session.sessionId))
        return "recollect.chat/\(user)/\(session)/"
    }
}
