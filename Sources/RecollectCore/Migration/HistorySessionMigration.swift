/// The migration of one session from a history to another.
struct HistorySessionMigration {
    private let session: Session
    private let isDiscarded: Bool
    private let source: any HistoryStore
    private let target: any HistoryStore
    private var report = MigrationReport()

    private static let pageSize = 500
    /// The metadata key of sessions during their migration.
    private static let mark = "recollect.migrating"

    init(
        _ session: Session, isDiscarded: Bool, from source: any HistoryStore, to target: any HistoryStore
    ) {
        self.session = session
        self.isDiscarded = isDiscarded
        self.source = source
        self.target = target
    }

    /// Completes the session in the target. `progress` gets the number of messages processed.
    mutating func run(progress: (Int) -> Void) async throws -> MigrationReport {
        let current = try await target.session(session.id)
        let details = details(beside: current)
        if current != nil, let count = try await copiedMessages() {
            if details != SessionDetails() { try await target.update(session.id, with: details) }
            if current?.metadata[Self.mark] != nil { try await finish() }
            report.count(messages: count, added: 0, isMoved: false)
            return report
        }
        let (count, added) = try await append(details, progress: progress)
        try await finish()
        report.count(messages: count, added: added, isMoved: true)
        return report
    }

    // MARK: Writing

    /// Appends all messages in runs of one agent, and reads them back. Each agent's messages keep their order. Those of
    /// different agents are in the order of the target: an order set by a user interface is not copied.
    ///
    /// The details of the session are written first, so that an interruption does not leave messages without them.
    private func append(_ details: SessionDetails, progress: (Int) -> Void) async throws -> (count: Int, added: Int) {
        var (count, added) = (0, 0)
        var finder = MessageFinder(session.id, in: target)
        if details != SessionDetails() { try await target.update(session.id, with: details) }
        try await source.forEachPage(of: session.id, pageSize: Self.pageSize) { page in
            for run in page.runs {
                try Task.checkCancellation()
                let messages = try await source.restoringAttachments(of: run.messages, userId: session.id.userId)
                added += try await target.append(messages, to: session.id.scope(agentId: run.agentId)).added
            }
            try await verify(page, &finder)
            count += page.count
            progress(count)
        }
        return (count, added)
    }

    /// Compares saved messages, with their attachments, with the target. The source may have changed since.
    private func verify(_ saved: [StoredMessage], _ finder: inout MessageFinder) async throws {
        let sessionId = session.id.sessionId
        finder.goOn()
        for stored in saved {
            guard let found = try await finder.find(stored) else {
                throw RecollectError.verificationFailed(
                    session: sessionId, "message \(stored.message.id) is missing after it was saved")
            }
            if let field = MessageDifference.field(stored.message, found.message) {
                throw RecollectError.verificationFailed(session: sessionId, message: stored.message.id, field: field)
            }
            try await verifyAttachments(of: stored.message)
        }
    }

    /// Returns the details missing in the target.
    private func details(beside current: Session?) -> SessionDetails {
        var details = SessionDetails()
        if current?.title == nil { details.title = session.title }
        if current?.workingDirectory == nil { details.workingDirectory = session.workingDirectory }
        if current?.branchName == nil { details.branchName = session.branchName }
        var metadata = session.metadata
        if let point = session.branchPoint {
            metadata["branchPoint"] = [
                "sessionId": .string(point.sessionId), "messageId": point.messageId.map { .string($0) } ?? .null,
            ]
        }
        details.metadata = metadata.filter { current?.metadata[$0.key] == nil }
        let tags = Set((current?.tags ?? []).map { ByteString($0) })
        details.addedTags = session.tags.filter { !tags.contains(ByteString($0)) }
        if current == nil {
            details.isPinned = session.isPinned ? true : nil
            details.isArchived = session.isArchived || session.branchPoint != nil ? true : nil
            details.createdAt = session.createdAt
            details.firstMessage = session.firstMessage
            details.metadata[Self.mark] = true
        }
        if (current?.lastAccessedAt ?? .distantPast) < session.lastAccessedAt {
            details.lastAccessedAt = session.lastAccessedAt
        }
        return details
    }

    /// Sets the read state and discards, after the last message. Removes the mark last, so a repeated migration
    /// completes this.
    private func finish() async throws {
        if !session.isUnread { try await target.update(session.id, with: SessionDetails(isRead: true)) }
        if isDiscarded { try await target.discardSession(session.id) }
        try await target.update(session.id, with: SessionDetails(metadata: [Self.mark: .null]))
    }

    // MARK: Comparing

    /// Compares the target with the source, message by message, and returns the number of messages; `nil` if the
    /// target lacks any.
    /// - Throws: `conflict` for a message with different content.
    private func copiedMessages() async throws -> Int? {
        var (count, isWhole) = (0, true)
        var finder = MessageFinder(session.id, in: target)
        try await source.forEachPage(of: session.id, pageSize: Self.pageSize) { page in
            try Task.checkCancellation()
            for stored in page {
                guard let found = try await finder.find(stored) else {
                    isWhole = false
                    continue
                }
                if let field = MessageDifference.field(stored.message, found.message) {
                    throw RecollectError.conflict(
                        session: session.id.sessionId, message: stored.message.id, field: field)
                }
            }
            count += page.count
        }
        return isWhole ? count : nil
    }

    /// Reads the attachments in the target. Those missing or damaged in the source may be so in the target, too.
    private func verifyAttachments(of message: ConversationMessage) async throws {
        for hash in message.storedAttachments {
            do {
                _ = try await target.attachment(sha256: hash, userId: session.id.userId)
            } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                guard try await !source.hasAttachment(hash, userId: session.id.userId) else {
                    throw RecollectError.verificationFailed(
                        session: session.id.sessionId, "an attachment of message \(message.id) is missing")
                }
            }
        }
    }
}

/// A search for messages of a session by agent and ID, with a single pass if they are requested in order.
private struct MessageFinder {
    private let id: SessionKey
    private let history: any HistoryStore
    private var page: ArraySlice<StoredMessage> = []
    private var request: PageRequest<MessageCursor>? = PageRequest(limit: 500)
    /// The last message read.
    private var last: MessageCursor?

    init(_ id: SessionKey, in history: any HistoryStore) {
        self.id = id
        self.history = history
    }

    /// Continues the pass after the last message read: more messages may have been appended.
    mutating func goOn() {
        request = request ?? PageRequest(limit: 500, after: last)
    }

    mutating func find(_ wanted: StoredMessage) async throws -> StoredMessage? {
        while true {
            let position = page.firstIndex { held in
                held.message.id.hasSameBytes(as: wanted.message.id) && held.agentId.hasSameBytes(as: wanted.agentId)
            }
            if let position {
                defer { page = page[(position + 1)...] }
                return page[position]
            }
            guard let request else { break }
            let next = try await history.messages(of: id, agentId: nil, page: request)
            page = next.elements[...]
            last = page.last?.cursor ?? last
            self.request = next.next.map { PageRequest(limit: 500, after: $0) }
        }
        // Either missing, or before a message requested earlier.
        return try await history.message(wanted.message.id, in: id, agentId: wanted.agentId)
    }
}

extension [StoredMessage] {
    /// The messages in runs of one agent, in order.
    fileprivate var runs: [AgentMessages] {
        reduce(into: []) { runs, stored in
            if let last = runs.indices.last, runs[last].agentId.hasSameBytes(as: stored.agentId) {
                runs[last].messages.append(stored.message)
            } else {
                runs.append(AgentMessages(agentId: stored.agentId, messages: [stored.message]))
            }
        }
    }
}

extension HistoryStore {
    fileprivate func hasAttachment(_ hash: String, userId: String) async throws -> Bool {
        do {
            _ = try await attachment(sha256: hash, userId: userId)
            return true
        } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
            return false
        }
    }
}
