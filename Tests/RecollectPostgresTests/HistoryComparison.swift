#if Postgres
    import Foundation
    import RecollectTestSupport

    @testable import RecollectCore
    @testable import RecollectSQLite

    /// Histories changed by the same random operations.
    ///
    /// Histories create IDs of branches, of compactions and of copies. Differences between these are no faults, and so is the time of
    /// an operation.
    struct HistoryComparison {
        let histories: [any HistoryStore]
        private var random: SeededGenerator
        private var count = 0
        /// Each branch, with its key in each history.
        private var branches: [[SessionKey]] = []
        /// The end of each change feed after the last operation.
        private var cursors: [ChangeCursor]

        private static let users = ["ana", "u\u{0}"]
        private static let sessions = ["s", "S", "s\u{0}t", "é", "e\u{301}"]
        private static let agents = ["", "planner", "writer"]
        private static let messageIDs = (0..<14).map { "m\($0)" }
        private static let words = ["apple", "berries", "cherry", "Damson", "Äpfel", "夏天的苹果", "running"]

        init(_ histories: [any HistoryStore], seed: UInt64) {
            self.histories = histories
            random = SeededGenerator(seed: seed)
            cursors = histories.map { _ in .beginning }
        }

        // MARK: Random values

        private mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        private mutating func any(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }

        /// A session, with its key in each history.
        private mutating func place() -> [SessionKey] {
            if !branches.isEmpty, one(in: 6) { return branches.randomElement(using: &random) ?? [] }
            let key = SessionKey(userId: any(Self.users), sessionId: any(Self.sessions))
            return histories.map { _ in key }
        }

        private mutating func text() -> String {
            count += 1
            return (0..<Int.random(in: 1...4, using: &random)).map { _ in any(Self.words) }.joined(separator: " ")
                + (one(in: 2) ? " \(count)" : "")
        }

        private mutating func message(_ id: String? = nil) -> ConversationMessage {
            var parts: [ContentPart] = [.text(text())]
            switch Int.random(in: 0..<8, using: &random) {
            case 0: parts.insert(.thinking(text(), signature: nil), at: 0)
            case 1: parts = [.toolCall(id: "c\(count)", name: "find", arguments: ["text": .string(text())])]
            case 2: parts = [.toolResult(id: "c\(count)", content: .string(text()))]
            case 3:
                let bytes = Data([UInt8.random(in: 0..<3, using: &random)])
                parts.append(.attachment(Attachment(mediaType: "a/b", content: .inline(bytes))))
            default: break
            }
            let roles: [Role] = [
                .user, .user, .user, .assistant, .assistant, .assistant, .system, Role(rawValue: "tool"),
            ]
            let milliseconds = 1_700_000_000_000 + Int64.random(in: 0..<40, using: &random) * 1_000
            return ConversationMessage(
                id: id ?? any(Self.messageIDs), role: roles.randomElement(using: &random) ?? .user, parts: parts,
                timestamp: Date(millisecondsSince1970: milliseconds),
                metadata: one(in: 3) ? ["usage": ["input_tokens": .integer(Int64(count))]] : [:])
        }

        private mutating func someIDs() -> [String] { Self.messageIDs.filter { _ in one(in: 4) } }

        // MARK: Steps

        /// Applies one operation to all histories. Returns its description, and the outcomes of each history.
        mutating func step() async -> (operation: String, outcomes: [[String]]) {
            let place = place()
            switch Int.random(in: 0..<34, using: &random) {
            case 0..<10: return await append(to: place)
            case 10: return await update(place)
            case 11, 12:
                let messages = someIDs().map { message($0) }
                return await all("edit \(messages.map(\.id)) in", place) { try await $0.edit(messages, in: $1) }
            case 13: return await editRead(place)
            case 14, 15:
                let ids = someIDs()
                return await all("delete \(ids) in", place) { try await $0.deleteMessages(ids, in: $1) }
            case 16: return await all("delete", place) { try await $0.deleteSession($1) }
            case 17 where one(in: 4):
                return await all("delete the user of", place) { try await $0.deleteUser($1.userId) }
            case 18, 19: return await fork(place)
            case 20, 21, 22: return await branch(place)
            case 23, 24: return await restoreBranch()
            case 25, 26: return await move(place)
            case 27: return await all("discard", place) { try await $0.discardSession($1) }
            case 28: return await all("restore", place) { try await $0.restoreSession($1) }
            case 29, 30: return await compact(place)
            default: return await reply(in: place)
            }
        }

        /// Runs an operation on each history, with its key of the session.
        private func all<Value>(
            _ operation: String, _ place: [SessionKey],
            _ body: (any HistoryStore, SessionKey) async throws -> Value
        ) async -> (operation: String, outcomes: [[String]]) {
            var outcomes: [[String]] = []
            for (history, key) in zip(histories, place) {
                outcomes.append([await outcome { try await body(history, key) }])
            }
            return ("\(operation) \(place[0])", outcomes)
        }

        /// Returns the description of a value or of an error's code.
        private func outcome<Value>(_ body: () async throws -> Value) async -> String {
            do {
                return Self.withoutIDs(String(reflecting: try await body()))
            } catch let error as RecollectError {
                return "\(error.code)"
            } catch {
                return "\(error)"
            }
        }

        private mutating func append(to place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let agent = any(Self.agents)
            let messages = (0..<Int.random(in: 1...3, using: &random)).map { _ in message() }
            let options = AppendOptions(
                sameRole: one(in: 2) ? .drop : .keep,
                maxMessages: one(in: 3) ? Int.random(in: 0...5, using: &random) : nil, claimsUnassigned: one(in: 2),
                keepsSessionRead: one(in: 4))
            return await all("append \(messages) with \(options) as '\(agent)' to", place) {
                try await $0.append(messages, to: $1.scope(agentId: agent), options: options)
            }
        }

        private mutating func update(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            var details = SessionDetails()
            if one(in: 2) { details.title = text() }
            if one(in: 2) { details.metadata = ["a": one(in: 3) ? .null : .string(text())] }
            if one(in: 2) { details.isPinned = one(in: 2) }
            if one(in: 4) { details.isArchived = one(in: 2) }
            if one(in: 2) { details.isRead = one(in: 2) }
            details.addedTags = (0..<2).map { _ in any(Self.words) }
            details.removedTags = [any(Self.words)]
            if one(in: 3) { details.firstMessage = text() }
            let creates = one(in: 3)
            return await all("update with \(details), creating: \(creates),", place) { [details] in
                try await $0.update($1, with: details, createIfMissing: creates)
            }
        }

        /// Edits or deletes messages as they were read, one of them changed meanwhile.
        private mutating func editRead(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let ids = Set(someIDs())
            let deletes = one(in: 2)
            let (stale, new) = (message(), message())
            return await all("edit what was read of \(ids) in", place) { history, key in
                let page = try await history.messages(of: key, agentId: nil, page: PageRequest(limit: 1_000))
                var old = page.elements.map(\.message).filter { ids.contains($0.id) }
                if !old.isEmpty { old[0].parts = stale.parts }
                if deletes { return "\(try await history.delete(old, in: key))" }
                let edits = old.map { old in
                    var edited = old
                    edited.parts = new.parts
                    return MessageEdit(of: old, to: edited)
                }
                return "\(try await history.edit(edits, in: key))"
            }
        }

        private mutating func fork(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let (id, agent, new) = (any(Self.messageIDs), one(in: 2) ? nil : any(Self.agents), any(Self.sessions))
            return await all("fork at \(id) of '\(agent ?? "any")' into \(new)", place) {
                try await $0.fork($1, at: id, agentId: agent, into: new)
            }
        }

        private mutating func branch(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let (id, agent) = (any(Self.messageIDs), one(in: 2) ? nil : any(Self.agents))
            var keys: [SessionKey] = []
            let step = await all("branch from \(id) of '\(agent ?? "any")'", place) {
                keys.append(try await $0.branch($1, from: id, agentId: agent))
            }
            if keys.count == histories.count { branches.append(keys) }
            return step
        }

        private mutating func restoreBranch() async -> (operation: String, outcomes: [[String]]) {
            guard let branch = branches.randomElement(using: &random) else { return ("nothing", []) }
            var keys: [SessionKey] = []
            var number = -1
            let known = branches
            let step = await all("restore the branch", branch) { history, branch in
                number += 1
                guard let id = try await history.session(branch)?.branchPoint?.sessionId else { return "no branch" }
                let session = SessionKey(userId: branch.userId, sessionId: id)
                try await history.restoreBranch(branch, in: session)
                let others = Set(known.map { $0[number] })
                keys += try await history.branches(of: session).map(\.id).filter { !others.contains($0) }
                return "restored"
            }
            if keys.count == histories.count { branches.append(keys) }
            return step
        }

        private mutating func move(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let target = self.place()
            var number = -1
            return await all("move to \(target[0].sessionId)", place) {
                number += 1
                return try await $0.moveSession($1, to: target[number].sessionId)
            }
        }

        /// Compacts the first messages of a scope, or removes its last compaction.
        private mutating func compact(_ place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            let (agent, count, summary) = (any(Self.agents), Int.random(in: 1...4, using: &random), text())
            let removes = one(in: 4)
            return await all("compact \(count) of '\(agent)' in", place) { history, key in
                let scope = key.scope(agentId: agent)
                if removes, let last = try await history.compactions(of: scope).last {
                    return "\(try await history.removeCompaction(last.id, of: scope))"
                }
                let compacted = try await history.compactedMessages(of: scope)
                return Self.text(
                    try await history.compact(
                        Array(compacted.messages.prefix(count)), of: scope, into: summary, by: "test",
                        after: compacted.compaction?.id))
            }
        }

        private mutating func reply(in place: [SessionKey]) async -> (operation: String, outcomes: [[String]]) {
            var first = message()
            first.parts = [.text(text())]
            let (agent, more, ends, moves) = (any(Self.agents), text(), one(in: 2), one(in: 3))
            let (target, budget) = (any(Self.sessions), one(in: 3) ? 4 : nil)
            return await all("reply \(first.id) of '\(agent)', moved: \(moves), in", place) { [first] history, key in
                let reply = try await history.beginReply(first, in: key.scope(agentId: agent), maxMessages: budget)
                reply.append(more)
                if moves { try await history.moveSession(key, to: target) }
                if ends { try await reply.finish() } else { try await reply.interrupt() }
                return "ended"
            }
        }

        // MARK: Comparison

        /// Returns everything that each history shows, as lines.
        mutating func states() async throws -> [[String]] {
            var states: [[String]] = []
            for (number, history) in histories.enumerated() {
                try await (history as? SQLiteHistoryStore)?.indexEverything()
                var lines: [String] = []
                for user in Self.users {
                    lines += try await lists(history, user)
                    lines += try await hits(history, user)
                    for session in Self.sessions {
                        lines += try await content(history, SessionKey(userId: user, sessionId: session))
                    }
                }
                for branch in branches { lines += try await content(history, branch[number]) }
                states.append(lines.map(Self.withoutIDs))
            }
            return states
        }

        /// Returns the changes by the last operation in each feed. Those of one operation have no promised order.
        mutating func changes() async throws -> [[String]] {
            var changes: [[String]] = []
            for number in histories.indices {
                changes.append(try await newChanges(number).map(Self.withoutIDs).sorted())
            }
            return changes
        }

        private mutating func newChanges(_ number: Int) async throws -> [String] {
            var lines: [String] = []
            while true {
                let page = try await histories[number].changes(after: cursors[number], limit: 5)
                guard let last = page.last else { return lines }
                cursors[number] = last.cursor
                lines += page.map {
                    "change \($0.kind.rawValue) \($0.session) \($0.agentId ?? "") \($0.messageId ?? "")"
                }
            }
        }

        private func lists(_ history: any HistoryStore, _ user: String) async throws -> [String] {
            var lines: [String] = []
            for order in SessionQuery.Order.allCases {
                for query in [
                    SessionQuery(userId: user, order: order),
                    SessionQuery(userId: user, order: order, isReversed: true),
                    SessionQuery(userId: user, order: order, text: "apple", isArchived: false),
                    SessionQuery(userId: user, order: order, tags: ["cherry"], isDiscarded: true),
                    SessionQuery(userId: user, order: order, agentId: "planner", isUnread: true),
                ] {
                    var found: [Session] = []
                    var cursor: SessionCursor?
                    repeat {
                        let page = try await history.sessions(query, page: PageRequest(limit: 2, after: cursor))
                        found += page.elements
                        cursor = page.next
                    } while cursor != nil
                    // The order of dates that a history has set itself is a race between operations, and the order of its IDs random.
                    let lists = found.map { Self.text($0) }
                    let date: KeyPath<Session, Date>? =
                        switch order {
                        case .lastActivity: \.lastActivityAt
                        case .lastAccess: \.lastAccessedAt
                        case .creation: \.createdAt
                        case .title, .messageCount: nil
                        }
                    let isOrdered = found.allSatisfy { session in
                        Self.withoutIDs(session.id.sessionId) == session.id.sessionId
                            && date.map { !Self.isNow(session[keyPath: $0]) } ?? true
                    }
                    lines += ["\(query) has"] + (isOrdered ? lists : lists.sorted())
                }
            }
            return lines
        }

        private func hits(_ history: any HistoryStore, _ user: String) async throws -> [String] {
            var lines: [String] = []
            for text in ["apple", "berry cherries", "\"cherry apple\"", "苹果", "run -damson", "aple"] {
                for order in SearchOrder.allCases {
                    let page = try await history.search(
                        SearchQuery(userId: user, text: text, order: order, limit: 100))
                    lines.append("search for \(text) in the order \(order)")
                    lines += page.elements.map {
                        "\($0.session) \($0.agentId) \($0.messageId) \($0.snippet.marked()) \($0.matchedWords) \($0.correctedWords)"
                            + String(format: " %.9f", $0.score)
                    }
                }
            }
            return lines
        }

        private func content(_ history: any HistoryStore, _ key: SessionKey) async throws -> [String] {
            var lines = ["session \(key): " + (try await history.session(key).map { Self.text($0) } ?? "none")]
            for agent in [nil] + Self.agents {
                var (forward, backward) = ([StoredMessage](), [StoredMessage]())
                var cursor: MessageCursor?
                repeat {
                    let page = try await history.messages(
                        of: key, agentId: agent, page: PageRequest(limit: 3, after: cursor))
                    forward += page.elements
                    cursor = page.next
                } while cursor != nil
                repeat {
                    let page = try await history.messages(
                        of: key, agentId: agent, page: PageRequest(limit: 3, before: cursor))
                    backward = page.elements + backward
                    cursor = page.next
                } while cursor != nil
                lines.append("backward as forward: \(forward == backward)")
                lines += forward.map { "message of '\($0.agentId)': " + Self.wholeText($0.message) }
            }
            for agent in Self.agents {
                let scope = key.scope(agentId: agent)
                for limit in [nil, 0, 3] {
                    let window = try await history.window(of: scope, maxMessages: limit)
                    lines.append("window of \(limit ?? -1): \(window.map(\.id))")
                    let whole = try await history.windowOfWholeExchanges(of: scope, maxMessages: limit)
                    lines.append("whole exchanges: \(whole.map(\.id))")
                }
                let tokens = try await history.window(of: scope, tokens: 30, counter: .estimate)
                lines.append("tokens: \(tokens.map(Self.text))")
                let compacted = try await history.compactedMessages(of: scope)
                lines.append("compacted: \((compacted.instructions + compacted.pinned + compacted.messages).map(\.id))")
                lines += try await history.compactions(of: scope).map(Self.text)
            }
            lines += try await history.windows(of: key).map { "window of '\($0.agentId)': \($0.messages.map(\.id))" }
            lines += try await history.streamingReplies(in: key).map { "\($0)" }
            return lines + (try await history.branches(of: key).map { "branch " + Self.text($0) })
        }

        // MARK: Descriptions

        /// Dates of messages are earlier.
        private static func isNow(_ date: Date) -> Bool { date.millisecondsSince1970 > 1_750_000_000_000 }

        private static func text(_ date: Date) -> String { isNow(date) ? "now" : "\(date.millisecondsSince1970)" }

        private static func text(_ session: Session) -> String {
            """
            \(session.id) '\(session.title ?? "")' created \(text(session.createdAt)) active \(text(session.lastActivityAt)) accessed \
            \(text(session.lastAccessedAt)) with \(session.messageCount) of \(session.agentIds) '\(session.preview)' \
            '\(session.firstMessage ?? "")' \(session.metadata.sorted { $0.key < $1.key }) pinned \(session.isPinned) archived \
            \(session.isArchived) unread \(session.isUnread) \(session.tags) \(session.usage) discarded \(session.discardedAt != nil) \
            \(session.branchPoint.map { "\($0)" } ?? "")
            """
        }

        private static func text(_ compaction: Compaction) -> String {
            "compaction \(compaction.summary) \(compaction.lastMessageId) \(compaction.messageCount) \(compaction.previousId != nil)"
        }

        private static func text(_ message: ConversationMessage) -> String {
            "\(message.role) \(message.parts.compactMap(\.text))"
        }

        private static func wholeText(_ message: ConversationMessage) -> String {
            let metadata = message.metadata.sorted { $0.key < $1.key }
            return "\(message.id) \(message.role.rawValue) \(text(message.timestamp)) \(message.parts) \(metadata)"
        }

        /// Replaces IDs that a history has created.
        private static func withoutIDs(_ text: String) -> String {
            text.replacing(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/, with: "#")
        }
    }
#endif
