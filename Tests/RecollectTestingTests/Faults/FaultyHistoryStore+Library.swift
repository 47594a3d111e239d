import Foundation
import Recollect

/// Pages, look-ups and the change feed, with their faults.
extension FaultyHistoryStore {
    func sessions(
        _ query: SessionQuery, page request: PageRequest<SessionCursor>
    ) async throws -> Page<Session, SessionCursor> {
        var query = query
        if fault == .pagesSessionsByOffset && request.direction == .forward {
            let all = try await base.sessions(query, page: PageRequest(limit: 1000)).elements
            var start = 0
            if case .integer(let offset) = request.cursor?.key { start = Int(offset) }
            let shown = Array(all.dropFirst(start).prefix(request.limit))
            let next = start + shown.count < all.count ? start + shown.count : nil
            return Page(
                elements: shown, next: next.map { SessionCursor(key: .integer(Int64($0)), sessionId: "") })
        }
        query.userId = saved(query.userId)
        switch fault {
        case .neverTurnsAList: query.isReversed = false
        case .asksForOneTag: query.tags = Array(query.tags.prefix(1))
        case .takesPercentForAnything where query.text == "%": query.text = ""
        default: break
        }
        var page = try await base.sessions(query, page: request)
        page.elements = page.elements.map(shown)
        if fault == .turnsSessionPages { page.elements.reverse() }
        return page
    }

    func session(_ session: SessionKey) async throws -> Session? {
        try await base.session(saved(session)).map(shown)
    }

    func sessions(
        of userId: String, sessionIdPrefix prefix: String, limit: Int
    ) async throws -> [Session] {
        guard fault == .foldsCaseOfPrefixes else {
            let found = try await base.sessions(of: saved(userId), sessionIdPrefix: prefix, limit: limit)
            guard fault == .showsDiscardedByPrefix else { return found }
            let discarded = SessionQuery(userId: userId, isDiscarded: true)
            return try await found + base.sessions(discarded, page: PageRequest(limit: limit)).elements
        }
        let all = try await base.sessions(of: userId, sessionIdPrefix: "", limit: 1000)
        return Array(all.filter { $0.id.sessionId.lowercased().hasPrefix(prefix.lowercased()) }.prefix(limit))
    }

    func messages(
        of session: SessionKey, agentId: String?, page request: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        let session = saved(session)
        let agentId = fault == .showsEveryAgent ? nil : agentId
        if fault == .pagesByOffset { return try await pageByOffset(of: session, agentId: agentId, request) }
        var request = request
        if fault == .knowsOnlyItsOwnCursors, let cursor = request.cursor,
            !memory.withLock({ $0.nextCursors.contains(cursor) })
        {
            request.cursor = nil
        }
        var page = try await base.messages(of: session, agentId: agentId, page: request)
        memory.withLock { $0.nextCursors.formUnion(page.next.map { [$0] } ?? []) }
        switch fault {
        case .losesOneAfterEachPage where request.direction == .forward && request.cursor != nil:
            page.elements = Array(page.elements.dropFirst())
        case .showsAgentsInOrderOfSaving where agentId == nil:
            page.elements.sort { ($0.additionCursor?.sequence ?? 0) < ($1.additionCursor?.sequence ?? 0) }
        case .turnsBackwardPages where request.direction == .backward: page.elements.reverse()
        case .promisesAnotherPage where page.elements.count == request.limit:
            page.next = request.direction == .forward ? page.elements.last?.cursor : page.elements.first?.cursor
        default: break
        }
        return page
    }

    func message(_ id: String, in session: SessionKey, agentId: String?) async throws -> StoredMessage? {
        try await base.message(
            fault == .looksUpIgnoringCase ? id.lowercased() : id, in: saved(session), agentId: agentId)
    }

    func shown(_ session: Session) -> Session {
        var session = session
        memory.withLock { $0.lies[session.id] }?(&session)
        if fault == .forgetsCachedTokens { session.usage.cacheRead = 0 }
        if fault == .takesNoMessageForEmpty && session.branchPoint?.messageId == nil {
            session.branchPoint?.messageId = ""
        }
        if fault == .sortsAgents { session.agentIds.sort() }
        if fault == .showsLongPreviews && session.preview.count > 100 {
            session.preview += session.preview
        }
        return session
    }

    /// Returns a page with cursors counting messages, like `OFFSET`.
    private func pageByOffset(
        of session: SessionKey, agentId: String?, _ request: PageRequest<MessageCursor>
    ) async throws -> Page<StoredMessage, MessageCursor> {
        let all = try await base.messages(of: session, agentId: agentId, page: PageRequest(limit: 10_000)).elements
            .enumerated().map { offset, stored in
                StoredMessage(
                    agentId: stored.agentId, cursor: MessageCursor(position: Int64(offset) + 1),
                    message: stored.message, additionCursor: stored.additionCursor)
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

    // MARK: - Change feed

    func latestChangeCursor() async throws -> ChangeCursor {
        relative(try await base.latestChangeCursor())
    }

    func changes(after cursor: ChangeCursor, limit: Int) async throws -> [HistoryChange] {
        var cursor = fault == .numbersChangesFromOpening ? ChangeCursor(sequence: cursor.sequence + opened) : cursor
        if fault == .startsOneChangeLate && cursor > .beginning { cursor = ChangeCursor(sequence: cursor.sequence + 1) }
        let changes = try await base.changes(after: cursor, limit: limit)
        return changes.compactMap { change in
            if fault == .tellsNoCompactions && change.kind == .sessionCompacted { return nil }
            if fault == .hidesDeletions && change.kind.rawValue.hasSuffix("Deleted") { return nil }
            var change = change
            change.cursor = relative(change.cursor)
            if fault == .tellsDeletionsByID && change.kind == .messageDeleted { change.additionCursor = nil }
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

    /// Returns the changes to yield at each signal.
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
