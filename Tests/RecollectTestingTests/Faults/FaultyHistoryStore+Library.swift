import Foundation
import Recollect

/// Pages, look-ups and the change feed, with their faults.
extension FaultyHistoryStore {
    func conversations(
        _ query: ConversationQuery, page request: PageRequest<ConversationCursor>
    ) async throws -> Page<Conversation, ConversationCursor> {
        var query = query
        if fault == .pagesConversationsByOffset && request.direction == .forward {
            let all = try await base.conversations(query, page: PageRequest(limit: 1000)).elements
            var start = 0
            if case .integer(let offset) = request.cursor?.key { start = Int(offset) }
            let shown = Array(all.dropFirst(start).prefix(request.limit))
            let next = start + shown.count < all.count ? start + shown.count : nil
            return Page(
                elements: shown, next: next.map { ConversationCursor(key: .integer(Int64($0)), sessionId: "") })
        }
        query.userId = kept(query.userId)
        switch fault {
        case .neverTurnsAList: query.isReversed = false
        case .asksForOneTag: query.tags = Array(query.tags.prefix(1))
        case .takesPercentForAnything where query.text == "%": query.text = ""
        default: break
        }
        var page = try await base.conversations(query, page: request)
        page.elements = page.elements.map(shown)
        if fault == .turnsConversationPages { page.elements.reverse() }
        return page
    }

    func conversation(_ conversation: ConversationID) async throws -> Conversation? {
        try await base.conversation(kept(conversation)).map(shown)
    }

    func conversations(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Conversation] {
        guard fault == .foldsCaseOfPrefixes else {
            let found = try await base.conversations(of: kept(userId), sessionIdPrefix: prefix, limit: limit)
            guard fault == .showsDiscardedByPrefix else { return found }
            let discarded = ConversationQuery(userId: userId, isDiscarded: true)
            return try await found + base.conversations(discarded, page: PageRequest(limit: limit)).elements
        }
        let all = try await base.conversations(of: userId, sessionIdPrefix: "", limit: 1000)
        return Array(all.filter { $0.id.sessionId.lowercased().hasPrefix(prefix.lowercased()) }.prefix(limit))
    }

    func messages(
        of conversation: ConversationID, agentId: String?, page request: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        let conversation = kept(conversation)
        let agentId = fault == .showsEveryAgent ? nil : agentId
        if fault == .pagesByOffset { return try await pageByOffset(of: conversation, agentId: agentId, request) }
        var request = request
        if fault == .knowsOnlyItsOwnCursors, let cursor = request.cursor,
            !memory.withLock({ $0.nextCursors.contains(cursor) })
        {
            request.cursor = nil
        }
        var page = try await base.messages(of: conversation, agentId: agentId, page: request)
        memory.withLock { $0.nextCursors.formUnion(page.next.map { [$0] } ?? []) }
        switch fault {
        case .losesOneAfterEachPage where request.direction == .forward && request.cursor != nil:
            page.elements = Array(page.elements.dropFirst())
        case .turnsBackwardPages where request.direction == .backward: page.elements.reverse()
        case .promisesAnotherPage where page.elements.count == request.limit:
            page.next = request.direction == .forward ? page.elements.last?.cursor : page.elements.first?.cursor
        default: break
        }
        return page
    }

    func message(_ id: String, in conversation: ConversationID, agentId: String?) async throws -> StoredMessage? {
        try await base.message(
            fault == .looksUpIgnoringCase ? id.lowercased() : id, in: kept(conversation), agentId: agentId)
    }

    func shown(_ conversation: Conversation) -> Conversation {
        var conversation = conversation
        memory.withLock { $0.lies[conversation.id] }?(&conversation)
        if fault == .forgetsCachedTokens { conversation.usage.cacheRead = 0 }
        if fault == .takesNoMessageForEmpty && conversation.branchOf?.messageId == nil {
            conversation.branchOf?.messageId = ""
        }
        if fault == .sortsAgents { conversation.agents.sort() }
        if fault == .showsLongPreviews && conversation.preview.count > 100 {
            conversation.preview += conversation.preview
        }
        return conversation
    }

    /// Cursors that count messages, as `OFFSET` does.
    private func pageByOffset(
        of conversation: ConversationID, agentId: String?, _ request: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        let all = try await base.messages(of: conversation, agentId: agentId, page: PageRequest(limit: 10_000)).elements
            .enumerated().map { offset, stored in
                StoredMessage(
                    agentId: stored.agentId, cursor: MessageCursor(position: Int64(offset) + 1), message: stored.message
                )
            }
        switch request.direction {
        case .forward:
            let rest = all.dropFirst(Int(request.cursor?.position ?? 0))
            let shown = Array(rest.prefix(request.limit))
            return Page(elements: shown, next: shown.count < rest.count ? shown.last?.cursor : nil)
        case .backward:
            let rest = all.prefix(Int(request.cursor.map { $0.position - 1 } ?? Int64(all.count)))
            let shown = Array(rest.suffix(request.limit))
            return Page(elements: shown, next: shown.count < rest.count ? shown.first?.cursor : nil)
        }
    }

    // MARK: - What has changed

    func latestChange() async throws -> ChangeCursor {
        relative(try await base.latestChange())
    }

    func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        var cursor = fault == .numbersChangesFromOpening ? ChangeCursor(sequence: cursor.sequence + opened) : cursor
        if fault == .startsOneChangeLate && cursor > .beginning { cursor = ChangeCursor(sequence: cursor.sequence + 1) }
        let changes = try await base.changes(after: cursor, limit: limit)
        return changes.compactMap { change in
            if fault == .hidesDeletions && change.kind.rawValue.hasSuffix("Deleted") { return nil }
            var change = change
            change.cursor = relative(change.cursor)
            if fault == .tellsEditsAsNew && change.kind == .messageEdited { change.kind = .messageAdded }
            return change
        }
    }

    func changes(after cursor: ChangeCursor) -> AsyncThrowingStream<HistoryChange, any Error> {
        switch fault {
        case .endsItsStream:
            return stream(
                after: cursor,
                at: AsyncStream {
                    $0.yield(); $0.finish()
                })
        case .streamsItsOwnWritesOnly:
            let (signals, continuation) = AsyncStream<Void>.makeStream()
            memory.withLock { $0.listeners.append(continuation) }
            continuation.yield()
            return stream(after: cursor, at: signals)
        default: return base.changes(after: cursor)
        }
    }

    /// What there is to tell at each signal.
    private func stream(
        after cursor: ChangeCursor, at signals: AsyncStream<Void>
    ) -> AsyncThrowingStream<HistoryChange, any Error> {
        let (stream, continuation) = AsyncThrowingStream<HistoryChange, any Error>.makeStream()
        let task = Task { [base] in
            var cursor = cursor
            for await _ in signals {
                for change in try await base.changes(after: cursor, limit: 1000) {
                    continuation.yield(change)
                    cursor = change.cursor
                }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    private func relative(_ cursor: ChangeCursor) -> ChangeCursor {
        fault == .numbersChangesFromOpening ? ChangeCursor(sequence: cursor.sequence - opened) : cursor
    }
}
