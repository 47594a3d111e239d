import Foundation
import Logging
import RecollectCore
import RecollectSQLite
import RecollectTesting

/// A history in scenarios: its folder in a run, generated messages, and the reading after a crash.
package enum HistoryUse {
    /// The users of all scenarios.
    static let users = ["ann", "bob"]
    /// A word in every text message, to compare the search index with the messages.
    private static let commonWord = "lantern"

    static func historyFolder(in folder: URL) -> URL { folder.appendingPathComponent("history", isDirectory: true) }

    /// Opens a history without background work, so that a seed repeats its operations.
    static func open(
        _ folder: URL, durability: Durability = .full, retention: Retention = .everything
    ) -> SQLiteHistoryStore {
        SQLiteHistoryStore(directory: historyFolder(in: folder), configuration: configuration(durability, retention))
    }

    static func configuration(
        _ durability: Durability = .full, _ retention: Retention = .everything
    ) -> HistoryConfiguration {
        HistoryConfiguration(
            durability: durability, retention: retention, indexesInBackground: false, busyTimeout: .seconds(10),
            logger: Logger(label: "faults") { _ in SwiftLogNoOpLogHandler() })
    }

    // MARK: Messages

    static func scope(_ session: String, user: String = "ann", agent: String = "a") -> Scope {
        Scope(userId: user, sessionId: session, agentId: agent)
    }

    static func list(_ scope: Scope) -> String { "\(scope.userId)/\(scope.sessionId)/\(scope.agentId)" }

    /// An input and its reply. Each text has a unique word and some padding.
    static func turn(_ number: Int, of writer: String, padding: Int = 40) -> [ConversationMessage] {
        [("q", Role.user), ("a", .assistant)].map { suffix, role in
            ConversationMessage(
                id: "\(writer)-\(number)-\(suffix)", role: role,
                text: "\(commonWord) \(word(writer, number, suffix)) " + String(repeating: "~", count: padding),
                timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)))
        }
    }

    /// A word in only one message, in a form that the search index does not change.
    static func word(_ writer: String, _ number: Int, _ suffix: String) -> String {
        "word\(writer)x\(number)x\(suffix)qz"
    }

    /// An input with a picture. Its bytes contain a unique word.
    static func picture(_ number: Int, of writer: String, bytes count: Int = 300) -> ConversationMessage {
        let bytes = pictureBytes(number, of: writer, count: count)
        return ConversationMessage(
            id: "\(writer)-\(number)-p", role: .user,
            parts: [
                .text("\(commonWord) look at \(number)"),
                .attachment(Attachment(mediaType: "image/png", content: .inline(bytes))),
            ], timestamp: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)))
    }

    static func pictureBytes(_ number: Int, of writer: String, count: Int = 300) -> Data {
        Data("\(pictureWord(writer, number)) ".utf8) + Data(repeating: UInt8(number & 0xFF), count: count)
    }

    static func pictureWord(_ writer: String, _ number: Int) -> String { "pixels\(writer)x\(number)qz" }

    /// Identifies a message by its ID and a hash of its content.
    static func entry(_ message: ConversationMessage) -> String {
        let parts = message.parts.map { part in
            switch part {
            case .text(let text): "t:" + text
            case .attachment(let attachment):
                switch attachment.content {
                case .inline(let bytes): "p:" + Attachment.sha256(of: bytes)
                case .stored(let hash, _): "p:" + hash
                default: "p"
                }
            default: "\(part)"
            }
        }
        return message.id + " " + Attachment.sha256(of: Data(parts.joined(separator: "\n").utf8)).prefix(8)
    }

    static func entries(_ messages: [ConversationMessage]) -> [String] { messages.map(entry) }

    // MARK: After a crash

    /// Reads a history after a crash.
    struct Reading: Sendable {
        /// Whether an entry is only the ID, for replies that may be interrupted anywhere.
        var readsIDsAlone = false
        /// Whether attachment files that no message uses are allowed, as after an interrupted save.
        var allowsUnusedAttachments = true
        /// The maximum number of damaged databases that were set aside.
        var maxSetAsideCount = 1

        /// Opens the history of an image, reads all of it, and closes it.
        func callAsFunction(_ image: CrashImage) async throws -> CrashedStore {
            let history = HistoryUse.open(image.folder)
            do {
                let store = try await read(history)
                try await update(history)
                try image.storeIsUpToDate()
                await history.close()
                return store
            } catch {
                await history.close()
                throw error
            }
        }

        /// Waits for the store's pending work.
        private func update(_ history: SQLiteHistoryStore) async throws {
            _ = try await history.search(SearchQuery(userId: users[0], text: commonWord, limit: 1))
            try await history.waitUntilErased()
        }

        private func read(_ history: SQLiteHistoryStore) async throws -> CrashedStore {
            try await history.open()
            var store = CrashedStore(lists: [:])
            for user in users {
                let found = try await history.search(SearchQuery(userId: user, text: commonWord, limit: 100_000))
                // A search finds a message once, even if forks have copied it.
                var prose: Set<String> = []
                let sessions = try await history.sessions(
                    SessionQuery(userId: user), page: PageRequest(limit: 100_000)
                ).elements
                for session in sessions {
                    let messages = try await history.messages(
                        of: session.id, agentId: nil, page: PageRequest(limit: 100_000)
                    ).elements
                    if session.messageCount != messages.count {
                        store.problems.append(
                            "a list counts \(session.messageCount) messages where \(messages.count) are")
                    }
                    for stored in messages {
                        let scope = Scope(
                            userId: user, sessionId: session.id.sessionId, agentId: stored.agentId)
                        let text = readsIDsAlone ? stored.message.id : HistoryUse.entry(stored.message)
                        let isWhole = try await hasAttachments(stored.message, of: user, history)
                        store.lists[HistoryUse.list(scope), default: []].append(
                            isWhole ? text : text + " without bytes")
                        if stored.message.text.contains(commonWord) { prose.insert(stored.message.id) }
                    }
                }
                if found.elements.count != prose.count {
                    store.problems.append("search finds \(found.elements.count) of \(prose.count) messages")
                }
            }
            let report = try await history.check()
            // A reported loss is judged by its size.
            store.problems += report.problems
                .filter { $0.kind != "messagesLost" && !(allowsUnusedAttachments && $0.kind == "attachmentUnused") }
                .map { "\($0.kind)" }
            let setAside = report.setAside.filter { $0.hasSuffix(".sqlite") }
            if setAside.count > maxSetAsideCount { store.problems.append("\(setAside.count) databases were set aside") }
            let isReported = history.events.takeUndelivered().contains {
                $0.kind == .salvaged || $0.kind == .missingFile
            }
            store.reportsLoss = isReported || !report.setAside.isEmpty
            return store
        }

        private func hasAttachments(
            _ message: ConversationMessage, of user: String, _ history: SQLiteHistoryStore
        ) async throws -> Bool {
            for case .attachment(let attachment) in message.parts {
                guard case .stored(let hash, _) = attachment.content else { continue }
                do {
                    _ = try await history.attachment(sha256: hash, userId: user)
                } catch let error as RecollectError where error.code == .notFound || error.code == .damaged {
                    return false
                }
            }
            return true
        }
    }
}

extension CrashRun {
    /// Saves messages as one change.
    func save(_ messages: [ConversationMessage], to scope: Scope, in history: SQLiteHistoryStore) async throws {
        try await change(HistoryUse.list(scope), adding: HistoryUse.entries(messages)) {
            _ = try await history.append(messages, to: scope)
        }
    }
}
