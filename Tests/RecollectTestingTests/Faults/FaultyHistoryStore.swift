import Foundation
import Recollect
import RecollectTesting

/// A wrapper of a correct history, with one fault or none.
final class FaultyHistoryStore: HistoryStore {
    struct Memory: Sendable {
        var nextCursors: Set<MessageCursor> = []
        var deletedIDs: Set<String> = []
        var forks: [SessionKey: [SessionKey]] = [:]
        var bytes: [String: Data] = [:]
        var hiddenID: String?
        var shownHits = 0
        var listeners: [AsyncStream<Void>.Continuation] = []
        /// Wrong values in summaries.
        var lies: [SessionKey: @Sendable (inout Session) -> Void] = [:]
        var editedIDs: Set<String> = []
        var movedIDs: Set<SessionKey> = []
        var compactions: [(scope: Scope, compaction: Compaction)] = []
        var begunReplies: [(session: SessionKey, agentId: String, message: ConversationMessage)] = []
        var drafts: [StreamingReply] = []
    }

    let fault: HistoryFault?
    let base: SQLiteHistoryStore
    let memory = Locked(Memory())
    /// The last change before this instance was opened.
    let opened: Int64

    var events: StoreEvents { base.events }

    private init(_ fault: HistoryFault?, _ base: SQLiteHistoryStore, opened: Int64) {
        self.fault = fault
        self.base = base
        self.opened = opened
    }

    /// Returns a fixture of histories with the fault, on disk for faults of reopening; correct ones for `nil`.
    static func fixture(_ fault: HistoryFault?) -> StoreFixture<any HistoryStore> {
        let retention: Retention = fault == .deletesWhatIsTrimmed ? .window : .everything
        let configuration = HistoryConfiguration(durability: .relaxed, retention: retention)
        switch fault {
        case nil, .losesAllOnReopening, .numbersChangesFromOpening, .streamsItsOwnWritesOnly:
            return .inFolders { folder in
                let base =
                    fault == .losesAllOnReopening
                    ? SQLiteHistoryStore.inMemory(configuration)
                    : SQLiteHistoryStore(directory: folder, configuration: configuration)
                return FaultyHistoryStore(fault, base, opened: try await base.latestChangeCursor().sequence)
            }
        default:
            return StoreFixture {
                FaultyHistoryStore(fault, SQLiteHistoryStore.inMemory(configuration), opened: 0)
            }
        }
    }

    // MARK: - Writing

    func append(
        _ messages: [ConversationMessage], to scope: Scope, options: AppendOptions
    ) async throws -> AppendOutcome {
        if fault == .refusesWritesAfterTurns, TurnLease.held.contains(where: \.isOver) {
            throw RecollectError(.leaseLost, "the turn has ended")
        }
        var options = options
        var messages = messages
        let scope = saved(scope.session).scope(agentId: scope.agentId)
        if fault == .startsAfreshAfterDiscarding, try await base.session(scope.session)?.discardedAt != nil {
            try await base.deleteSession(scope.session)
        }
        if fault == .dropsRepeatedRoles { options.sameRole = .drop }
        if fault == .takesAllForNews { options.keepsSessionRead = false }
        if fault == .leavesUnassigned { options.claimsUnassigned = false }
        if fault == .knowsIdsOfOtherAgents {
            for message in messages {
                guard let known = try await base.message(message.id, in: scope.session),
                    known.agentId != scope.agentId, !options.claimsUnassigned
                else { continue }
                messages.removeAll { $0.id == message.id }
            }
        }
        if fault == .refusesDeletedIds {
            let deleted = memory.withLock { $0.deletedIDs }
            messages.removeAll { deleted.contains($0.id) }
        }
        let outcome: AppendOutcome
        if fault == .savesOneByOne {
            var sum = AppendOutcome()
            for message in messages {
                let each = options
                let one = try await Task { try await base.append([message], to: scope, options: each) }.value
                try Task.checkCancellation()
                sum.added += one.added
                sum.alreadyStored += one.alreadyStored
                sum.dropped += one.dropped
            }
            outcome = sum
        } else {
            outcome = try await base.append(messages, to: scope, options: options)
        }
        if fault == .tellsRetries && outcome.added == 0 {
            try await base.update(scope.session, with: SessionDetails())
        }
        let listeners = memory.withLock { memory in
            memory.hiddenID = messages.count == 1 ? messages[0].id : nil
            return memory.listeners
        }
        for listener in listeners { listener.yield() }
        return fault == .countsAllAsAdded ? AppendOutcome(added: messages.count) : outcome
    }

    func fork(
        _ session: SessionKey, at messageId: String, agentId: String?, into newSessionId: String
    ) async throws {
        let session = saved(session)
        var messageId = messageId
        if fault == .forksEverything {
            let page = try await base.messages(of: session, agentId: nil, page: PageRequest(limit: 1, before: nil))
            messageId = page.elements.last?.message.id ?? messageId
        }
        do {
            let agentId = fault == .takesNoAgentOfAnId ? nil : agentId
            try await base.fork(session, at: messageId, agentId: agentId, into: newSessionId)
        } catch {
            if fault != .ignoresWhatItCannotFork { throw error }
        }
        let copy = SessionKey(userId: session.userId, sessionId: newSessionId)
        if fault == .forksNoCompactions { try await removeCompactions(in: copy) }
        memory.withLock { $0.forks[session, default: []].append(copy) }
    }

    func deleteMessages(_ ids: [String], in session: SessionKey) async throws -> Int {
        var ids = fault == .deletesTheFirstOnly ? Array(ids.prefix(1)) : ids
        if fault == .keepsSharedMessages {
            let held = try await everything(in: saved(session)).map(\.message.id)
            ids.removeAll { id in held.count { $0 == id } > 1 }
        }
        return try await base.deleteMessages(ids, in: saved(session))
    }

    func delete(_ messages: [ConversationMessage], in session: SessionKey) async throws -> [ConversationMessage] {
        guard fault == .deletesChangedMessages else { return try await base.delete(messages, in: saved(session)) }
        try await base.deleteMessages(messages.map(\.id), in: saved(session))
        return messages
    }

    func deleteSession(_ session: SessionKey) async throws -> Bool {
        let session = saved(session)
        if fault == .refusesDeletedIds {
            let page = try await base.messages(of: session, agentId: nil, page: PageRequest(limit: 1000))
            memory.withLock { $0.deletedIDs.formUnion(page.elements.map(\.message.id)) }
        }
        if fault == .deletesForksToo {
            for copy in memory.withLock({ $0.forks[session] ?? [] }) { try await base.deleteSession(copy) }
        }
        let existed = try await base.deleteSession(session)
        return existed || fault == .alwaysHadOne
    }

    func deleteUser(_ userId: String) async throws {
        guard fault == .deletesTwoSessionsOfAUser else { return try await base.deleteUser(saved(userId)) }
        let page = try await base.sessions(of: userId, page: PageRequest(limit: 2))
        for session in page.elements { try await base.deleteSession(session.id) }
    }

    // MARK: - Windows

    func window(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        let window = try await base.window(
            of: saved(scope.session).scope(agentId: scope.agentId), maxMessages: maxMessages)
        guard fault == .forgetsInterruptions else { return window }
        return window.map { message in
            var message = message
            message.isInterrupted = false
            return message
        }
    }

    func window(of scope: Scope, tokens: Int, counter: TokenCounter) async throws -> [ConversationMessage] {
        guard fault == .cutsTurnsAtTheBudget else {
            return try await base.window(
                of: saved(scope.session).scope(agentId: scope.agentId), tokens: tokens, counter: counter)
        }
        return try await window(of: scope, maxMessages: nil).newest(tokens, counter)
    }

    func windowOfWholeExchanges(of scope: Scope, maxMessages: Int?) async throws -> [ConversationMessage] {
        if fault == .givesHalves { return try await window(of: scope, maxMessages: maxMessages) }
        return try await base.windowOfWholeExchanges(
            of: saved(scope.session).scope(agentId: scope.agentId), maxMessages: maxMessages)
    }

    func windows(of session: SessionKey) async throws -> [AgentMessages] {
        let windows = try await base.windows(of: saved(session))
        return fault == .givesOneWindow ? Array(windows.prefix(1)) : windows
    }

    func attachment(sha256: String, userId: String) async throws -> Data {
        do {
            let bytes = try await base.attachment(sha256: sha256, userId: userId)
            memory.withLock { $0.bytes[sha256] = bytes }
            return bytes
        } catch {
            if fault == .takesMissingBytesForNone { return Data() }
            if fault == .keepsBytesForEver || fault == .givesBytesToEveryone,
                let bytes = memory.withLock({ $0.bytes[sha256] })
            {
                return bytes
            }
            throw error
        }
    }

    // MARK: - IDs

    /// Returns the user ID for the wrapped history.
    func saved(_ userId: String) -> String {
        fault == .foldsCaseOfUsers ? userId.lowercased() : userId
    }

    /// Returns the session key for the wrapped history.
    func saved(_ session: SessionKey) -> SessionKey {
        let id = session.sessionId
        return SessionKey(
            userId: saved(session.userId),
            sessionId: fault == .trimsSessions ? id.trimmingCharacters(in: .whitespacesAndNewlines) : id)
    }
}
