import Foundation
import Recollect

/// Details, edits, moves, branches, discards and replies, with their faults.
extension FaultyHistoryStore {
    func update(
        _ session: SessionKey, with details: SessionDetails, createIfMissing: Bool
    ) async throws -> Bool {
        var details = details
        let id = saved(session)
        switch fault {
        case .removesNoMetadata: details.metadata = details.metadata.filter { $0.value != .null }
        case .unpinsWhatIsArchived where details.isArchived == true: details.isPinned = false
        case .foldsTags: details.addedTags = details.addedTags.map { $0.lowercased() }
        case .readsOnceForEver where details.isRead == true: lie(about: id) { $0.isUnread = false }
        case .ignoresEmptyTitles where details.title == "": details.title = nil
        case .showsTheLastAccessSet:
            if let date = details.lastAccessedAt { lie(about: id) { $0.lastAccessedAt = date } }
        case .showsNoDeepMetadata:
            // Like a store with unreadable metadata: the deep member hides all others.
            if let deep = details.metadata.first(where: { $0.key.hasPrefix("deep") }), deep.key != "deep 100" {
                lie(about: id) { $0.metadata = [:] }
            }
        case .replacesTheFirstMessage:
            if let first = details.firstMessage { lie(about: id) { $0.firstMessage = first } }
        default: break
        }
        return try await base.update(
            id, with: details, createIfMissing: createIfMissing || fault == .makesWhatIsOnlyUpdated)
    }

    func edit(_ messages: [ConversationMessage], in session: SessionKey) async throws -> Int {
        let id = saved(session)
        if fault == .keepsTotalsOnEdits, let usage = try await base.session(id)?.usage {
            lie(about: id) { $0.usage = usage }
        }
        let count = try await base.edit(messages, in: id)
        memory.withLock { $0.editedIDs.formUnion(messages.map(\.id)) }
        return fault == .countsUnknownEdits ? messages.count : count
    }

    func edit(_ edits: [MessageEdit], in session: SessionKey) async throws -> [MessageEdit] {
        let id = saved(session)
        if fault == .editsChangedMessages {
            try await base.edit(edits.map(\.new), in: id)
            return edits
        }
        return try await base.edit(edits, in: id)
    }

    // MARK: - Moves

    func moveSession(_ session: SessionKey, to newSessionId: String) async throws -> Bool {
        let (old, new) = (saved(session), SessionKey(userId: session.userId, sessionId: newSessionId))
        let there = try await base.session(new)
        switch fault {
        case .losesDetailsOnMoving where there == nil: lie(about: new) { $0.title = nil }
        case .losesTagsOnMerging where there != nil: lie(about: new) { $0.tags = there?.tags ?? [] }
        case .dropsOldContentOnMerging:
            for stored in try await everything(in: old) {
                guard let known = try await base.message(stored.message.id, in: new), known.message != stored.message
                else { continue }
                try await base.deleteMessages([stored.message.id], in: old)
            }
        case .mergesByAppending where there != nil:
            for stored in try await everything(in: old) {
                try await base.append([stored.message], to: new.scope(agentId: stored.agentId))
            }
            return try await base.deleteSession(old)
        default: break
        }
        let moved = try await base.moveSession(old, to: newSessionId)
        memory.withLock { _ = $0.movedIDs.insert(new) }
        if fault == .losesCompactionsOnMoving { try await removeCompactions(in: new) }
        return moved || fault == .alwaysMoves
    }

    // MARK: - Branches

    func branch(
        _ session: SessionKey, from messageId: String, agentId: String?
    ) async throws -> SessionKey {
        let id = saved(session)
        if fault == .losesCompactionsInBranches { try await removeCompactions(in: id) }
        guard fault == .branchesAfterTheMessage else {
            return try await base.branch(id, from: messageId, agentId: agentId)
        }
        let ids = try await everything(in: id).map(\.message.id)
        let next = ids.firstIndex(of: messageId).map { ids.index(after: $0) }.flatMap { $0 < ids.count ? ids[$0] : nil }
        return try await base.branch(id, from: next ?? messageId)
    }

    func branches(of session: SessionKey) async throws -> [Session] {
        let id = saved(session)
        if fault == .leavesBranchesBehind && memory.withLock({ $0.movedIDs.contains(id) }) { return [] }
        let branches = try await base.branches(of: id).map(shown)
        return fault == .listsNewestBranchesFirst ? branches.reversed() : branches
    }

    func restoreBranch(_ branch: SessionKey, in session: SessionKey) async throws {
        let id = saved(session)
        let before = try await base.branches(of: id).map(\.id)
        do {
            try await base.restoreBranch(branch, in: id)
        } catch {
            if fault != .ignoresWhatItCannotRestore { throw error }
        }
        guard fault == .forgetsWhatWasSaidSince else { return }
        for new in try await base.branches(of: id) where !before.contains(new.id) {
            try await base.deleteSession(new.id)
        }
    }

    // MARK: - Discards

    func discardSession(_ session: SessionKey) async throws -> Bool {
        try await base.discardSession(saved(session))
    }

    func restoreSession(_ session: SessionKey) async throws -> Bool {
        let existed = try await base.restoreSession(saved(session))
        if fault == .unpinsWhatItRestores {
            try await base.update(saved(session), with: SessionDetails(isPinned: false))
        }
        return existed
    }

    // MARK: - Leases

    func lease(of session: SessionKey, for duration: Duration) async throws -> TurnLease? {
        let other = SessionKey(userId: session.userId, sessionId: UUID().uuidString)
        switch fault {
        case .givesNoLeases: return nil
        case .givesLeasesAtOnce: return try await base.lease(of: other, for: duration)
        case .givesNestedLeases where !TurnLease.held.isEmpty: return try await base.lease(of: other, for: duration)
        case .ignoresCanceledTurns:
            return try await Task { try await base.lease(of: saved(session), for: duration) }.value
        default: return try await base.lease(of: saved(session), for: duration)
        }
    }

    // MARK: - Replies

    func beginReply(
        _ message: ConversationMessage, in scope: Scope, maxMessages: Int?
    ) async throws -> StreamingReply {
        let scope = saved(scope.session).scope(agentId: scope.agentId)
        let maxMessages = fault == .trimsNothingAfterReplies ? nil : maxMessages
        var draft: StreamingReply
        do {
            draft = try await base.beginReply(message, in: scope, maxMessages: maxMessages)
            if fault == .joinsProseAroundParts {
                draft = StreamingReply(message, scope: scope, writer: ProseJoiningWriter(base: draft))
            }
        } catch {
            guard fault == .renamesRepliesOfOneId else { throw error }
            let renamed = ConversationMessage(role: message.role, parts: message.parts)
            draft = try await base.beginReply(renamed, in: scope, maxMessages: maxMessages)
        }
        if fault == .showsRepliesInFlight { try await base.append([message], to: scope) }
        memory.withLock { memory in
            memory.begunReplies.append((scope.session, scope.agentId, message))
            if fault == .keepsStreamingReplies { memory.drafts.append(draft) }
        }
        return draft
    }

    func streamingReplies(
        in session: SessionKey
    ) async throws -> [AgentMessage] {
        let id = saved(session)
        let replies = try await base.streamingReplies(in: id)
        switch fault {
        case .sortsReplies: return replies.sorted { $0.message.id < $1.message.id }
        case .neverEndsReplies where replies.isEmpty:
            return memory.withLock { memory in
                memory.begunReplies.filter { $0.session == id }.map {
                    AgentMessage(agentId: $0.agentId, message: $0.message)
                }
            }
        default: return replies
        }
    }

    // MARK: -

    private func lie(about id: SessionKey, _ lie: @escaping @Sendable (inout Session) -> Void) {
        memory.withLock { $0.lies[id] = lie }
    }

    func everything(in id: SessionKey) async throws -> [StoredMessage] {
        try await base.messages(of: id, agentId: nil, page: PageRequest(limit: .max)).elements
    }
}

/// Saves a reply with all text moved to the position of the first text.
private struct ProseJoiningWriter: ReplyWriter {
    let base: StreamingReply

    func save(_ text: String?, behind parts: [ContentPart]?) {}

    func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
        var joined = message
        if let first = joined.parts.firstIndex(where: { $0.text != nil }) {
            joined.parts[first] = .text(joined.parts.compactMap(\.text).joined())
            joined.parts = joined.parts.enumerated().filter { $0 == first || $1.text == nil }.map(\.element)
        }
        try await base.finish(joined)
    }
}
