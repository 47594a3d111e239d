import Foundation
import Logging

/// Keeps each scope as a JSON array under a key of its own in `UserDefaults`: for a few short conversations.
///
/// Apple's systems write user defaults as a whole and when they see fit, so every rule of a history holds except durability past
/// a crash; every save costs what the whole scope costs. Stores of one process may share a suite; processes may not write to one at
/// the same time, because user defaults have no locks. For more, use `FileChatStorage` or a history.
///
/// On Linux the store reads and writes the suite's file itself: processes may share it, a save returns when it is on the disk, and
/// both cost what the whole suite costs. `UserDefaults` there has what is saved here, and this what is set there, after its
/// `synchronize`. A file that cannot be read makes every call throw.
///
/// Keys are `recollect.chat/user/session/agent` with ids escaped so that no two scopes meet and no session's keys begin like
/// another's. What the `UserDefaultsChatStorage` of Agent Squad's guide wrote under `AgentSquad.user.session.agent` is read, and
/// with the first save to that scope written under the new key; the old value stays. Such a key says whose it is only where no id
/// holds a dot: others are not looked for. Work runs on a queue of its own. A value that is damaged is kept under a key that begins with
/// `recollect.aside`, what can be read of it stays, and `events` tells how much. A task that is cancelled before its save is
/// queued has saved nothing and gets `CancellationError`.
public final class UserDefaultsChatStorage: ChatStorage {
    /// Where the store tells of messages that it dropped and values that it set aside.
    public let events: StoreEvents

    private let defaults: UserDefaultsSuite
    private let sameRole: SameRole

    /// Makes a store in a suite of user defaults.
    /// - Parameters:
    ///   - suiteName: An app group, for instance; `nil`, and a name that the system refuses, are the app's own defaults.
    ///   - sameRole: What happens to a message that repeats the last stored role.
    ///   - logger: Where the store logs; never a message's body.
    public init(suiteName: String? = nil, sameRole: SameRole = .drop, logger: Logger = Logger(label: "recollect")) {
        defaults = UserDefaultsSuite(name: suiteName)
        self.sameRole = sameRole
        events = StoreEvents(logger: logger)
    }

    /// The last messages of a scope, in the order of saving.
    /// - Throws: `foreignStore` where the scope's key holds something else than a chat.
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

    /// Saves a batch whole or not at all, and trims the scope to the budget in the same step.
    /// - Throws: `RecollectError`, `tooLarge` for a value nested deeper than `JSONValue.depthLimit`, say, or `CancellationError` if
    ///   the task was cancelled before; then nothing is saved.
    public func saveMessages(
        _ messages: [ConversationMessage], userId: String, sessionId: String, agentId: String, maxMessages: Int?
    ) async throws {
        try messages.checkSavable()
        let scope = Scope(userId: userId, sessionId: sessionId, agentId: agentId)
        let admission = try await defaults.run(making: true) {
            var chat = try self.chat(of: scope)
            let ids = Set(chat.map { ByteString($0.message.id) })
            let admission = Admission(
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

    /// All messages of a session, merged over its agents by timestamp, with what assistants said prefixed `[agentId]`.
    public func fetchAllChats(userId: String, sessionId: String) async throws -> [ConversationMessage] {
        let conversation = ConversationID(userId: userId, sessionId: sessionId)
        return try await defaults.run {
            MergedChats.merge(
                try self.scopes(of: conversation).map { ($0.agentId, try self.chat(of: $0).map(\.message)) })
        }
    }
}

extension UserDefaultsChatStorage {
    /// The messages of a scope, each with its JSON as it is stored.
    private func chat(of scope: Scope) throws -> [EncodedMessage] {
        let key = Self.key(of: scope)
        guard let value = defaults[key] else { return guideChat(of: scope) }
        guard let data = value as? Data else {
            throw RecollectError(
                .foreignStore, "the user defaults hold something else than a chat under \(key); it was left untouched")
        }
        let bytes = Array(data)
        if let ranges = MessageArray.layout(of: bytes)?.messages {
            let chat = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
            if chat.count == ranges.count { return chat }
        }
        let damage = Damage(bytes: bytes)
        let chat = damage.ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        defaults["recollect.aside/\(key)/\(UUID().uuidString)"] = data
        try write(chat[...], to: key)
        events.post(StoreEvent(kind: .salvaged, scope: scope, recoveredMessages: chat.count))
        return chat
    }

    /// What the guide's own store has kept of a scope.
    private func guideChat(of scope: Scope) -> [EncodedMessage] {
        guard let prefix = Self.guidePrefix(of: scope.conversation), !scope.agentId.utf8.contains(Byte.dot),
            let data = guideValue(of: prefix + scope.agentId)
        else { return [] }
        let bytes = Array(data)
        if let ranges = MessageArray.layout(of: bytes)?.messages {
            let chat = ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
            if chat.count == ranges.count { return chat }
        }
        let chat = Damage(bytes: bytes).ranges.compactMap { EncodedMessage(stored: bytes[$0]) }
        events.post(StoreEvent(kind: .salvaged, scope: scope, recoveredMessages: chat.count))
        return chat
    }

    private func guideValue(of key: String) -> Data? {
        guard let data = defaults[key] as? Data else { return nil }
        // User defaults may take one form of a letter for another.
        let isOneForm = key.utf8.allSatisfy { $0 < 0x80 }
        return isOneForm || defaults.keys.contains(where: key.hasSameBytes) ? data : nil
    }

    /// What the guide's own store begins a session's keys with; `nil` where it could be another session's.
    private static func guidePrefix(of conversation: ConversationID) -> String? {
        let ids = [conversation.userId, conversation.sessionId]
        return ids.contains { $0.utf8.contains(Byte.dot) } ? nil : "AgentSquad.\(ids[0]).\(ids[1])."
    }

    private func write(_ chat: ArraySlice<EncodedMessage>, to key: String) throws {
        defaults[key] = Data(MessageArray.joined(chat.map { $0.bytes[...] }))
        try defaults.save()
    }

    /// The scopes of a session that have a key, of this store or of the guide's.
    private func scopes(of conversation: ConversationID) -> Set<Scope> {
        let prefix = Self.prefix(of: conversation)
        let guidePrefix = Self.guidePrefix(of: conversation)
        var scopes: Set<Scope> = []
        for key in defaults.keys {
            if key.hasPrefix(prefix), let id = EscapedName.id(of: String(key.dropFirst(prefix.count))) {
                scopes.insert(conversation.scope(agentId: id))
            } else if let guidePrefix, key.utf8.starts(with: guidePrefix.utf8) {
                let agent = key.utf8.dropFirst(guidePrefix.utf8.count)
                if !agent.contains(Byte.dot) { scopes.insert(conversation.scope(agentId: String(Substring(agent)))) }
            }
        }
        return scopes
    }

    private static func key(of scope: Scope) -> String {
        prefix(of: scope.conversation) + EscapedName.escaped(scope.agentId)
    }

    /// Escaped ids hold no slash, so the keys of a session are exactly those that begin like this.
    private static func prefix(of conversation: ConversationID) -> String {
        let (user, session) = (EscapedName.escaped(conversation.userId), EscapedName.escaped(conversation.sessionId))
        return "recollect.chat/\(user)/\(session)/"
    }
}
